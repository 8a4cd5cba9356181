/**
 * Every validation rule of §5, by name. The contract puts them on fields (`zodRule`), forms run them as they are, and
 * `ruleText` says in three languages what is wrong. contract/test/rules.test.ts goes through §5 line by line.
 */
export { formatIP, isIP, keyOf, parseAddressSet, parseCIDR, parseIP, parseRange } from './rules/address.ts';
export type { Address, AddressSet } from './rules/address.ts';
export { announcementSpan } from './rules/announcements.ts';
export { trafficPlanSpan } from './rules/traffic.ts';
export { backupFolder, backupPassphrase, backupTarget } from './rules/backups.ts';
export { balancerLimits, balancers } from './rules/balancers.ts';
export { brandHost, consoleAddress, oidcIssuer, oneLine } from './rules/branding.ts';
export { cnameTarget, cnameZone, dnsName, ipAddress, nameServer, nameServerOf, nameServers } from './rules/cname-zone.ts';
export { dnsAccount, dnsCredentials, dnsKeyID, dnsServer, dnsSetting, tsigKeyName, tsigSecret } from './rules/dns-account.ts';
export { errorPage } from './rules/error-pages.ts';
export { hsts } from './rules/hsts.ts';
export * from './rules/lists.ts';
export * from './rules/nodes.ts';
export {
  cacheRule,
  canonicalHost,
  corsOrigin,
  domainName,
  followNeedsPortMap,
  isLayer4Excluded,
  layer4Port,
  optionalHost,
  originAddress,
  originAdjustable,
  redirects,
  remindURL,
  schemePorts,
  uniqueIPPorts,
  uniqueIPs,
  upstreams,
} from './rules/origins.ts';
export { geoHeader, geoHeaderName } from './rules/geo-source.ts';
export { hasScheme, isPattern, regex, scriptOf, urlRegex, userAgentRegex } from './rules/regex.ts';
export { askedAt, portMapDefault, portMapFits } from './rules/schemes.ts';
export type { Asked, PortMap, Scheme } from './rules/schemes.ts';
export { linesOf, ruleText, ruleTexts } from './rules/rule.ts';
export type { Bounds, Problem, Rule, RuleName } from './rules/rule.ts';
export * from './rules/times.ts';
export * from './rules/values.ts';
export { webhookSecret, webhookURL } from './rules/webhooks.ts';
export { problemsOf, zodRule } from './rules/zod.ts';
