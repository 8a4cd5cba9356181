/** Domains of a site and their origins (§3 Domain, upstream fields; §5). */
import { calls } from '../kit/call.ts';
import {
  arr,
  bool,
  id,
  ids,
  int,
  list,
  map,
  nullable,
  obj,
  one,
  oneOf,
  opt,
  page,
  record,
  some,
  str,
  tags,
  text,
  time,
} from '../kit/schema.ts';
import { certificateStates, cnameStates } from '../states.ts';
import { acmeProviders, balances, caps, hstsLimits, servedSchemes, tlsOptions, unseenReasons } from '../limits.ts';
import * as rules from '../rules.ts';
import { portMap, Upstream as Origin, upstreamCalls, upstreamList } from './upstreams.ts';

export const Upstream = obj({ ...Origin.shape, domainID: id() });

/** 1 or 0 on the wire (decisions.md, Wire). */
const status = () => oneOf([0, 1]);
const hsts = () =>
  obj({
    enabled: bool(),
    /** seconds; 0 makes browsers forget it */
    maxAge: int(0, hstsLimits.maxAgeMax),
    includeSubDomains: bool(),
    preload: bool(),
  });
/** Of TLS what a domain takes; `any`: whatever its nodes speak. */
export const tlsChoices = ['any', ...tlsOptions] as const;
const headers = () => arr(obj({ name: text(64), value: text(500) }), 20);
export const Domain = obj({
  ...record,
  siteID: id(),
  domainName: text(253),
  status: status(),
  tags: tags(),
  balance: one(balances),
  originHost: text(253),
  /** what its name is to lead to (CNAME); '': the operator has no zone for that yet */
  cname: text(253),
  /** whether its name leads here */
  cnameStatus: one(cnameStates),
  /** since when it has been seen to; null: nobody has looked, or it was before that was written down */
  cnameSince: nullable(time()),
  /** through which names it leads, or else to which addresses, as it was seen last */
  cnameSeen: arr(text(253), 20),
  /** who serves the zone that it lies in, as far as anybody said; none: nobody has looked */
  zoneServers: arr(text(253), 8),
  /** when that was seen; null: never. Who could not be checked since keeps it */
  cnameCheckedAt: nullable(time()),
  /** why it could not be checked when that was tried last; null: it could, or nobody has tried */
  cnameUnseen: nullable(one(unseenReasons)),
  certStatus: one(certificateStates),
  /** the certificate it shows; null: none, so it is not served over https */
  certificateID: nullable(id()),
  /** it has a certificate made for it, and renewed */
  autoSSL: bool(),
  /** visitors over http are sent to https, while it has a certificate */
  forceSSL: bool(),
  hsts: hsts(),
  /** by which visitors are served */
  scheme: one(servedSchemes),
  portMap: portMap(),
  /** older versions are refused */
  tlsOption: one(tlsChoices),
  upstreamCount: int(),
  /** the module of each type that holds for it; a type that is missing has none */
  moduleIDs: map(id()),
  /** its own, beside those of its module; as they were stored, whatever may be written today */
  customHeaders: obj({ request: headers(), response: headers() }),
});
const domainName = () => str(253).check(rules.zodRule(rules.domainName));
const originHost = () => text(253).check(rules.zodRule(rules.optionalHost));
const states = {
  cnameStatuses: opt(arr(one(cnameStates), cnameStates.length)),
  certStatus: opt(one(certificateStates)),
  forceSSL: opt(bool()),
};
const times = { createdStart: opt(time()), createdEnd: opt(time()), updatedStart: opt(time()), updatedEnd: opt(time()) };

export const domains = calls(
  { base: '/{area}/site/{siteID}', areas: ['user', 'client'], resource: 'domains', limited: 'domains' },
  {
    'GET /domains': {
      query: list({ keywords: opt(str()), tags: opt(tags()), ...states, ...times }).check(rules.zodRule(rules.dateRanges)),
      answer: page(Domain),
    },
    'GET /simpleDomains': { query: list({ keywords: opt(str()) }), answer: page(obj({ id: id(), domainName: text(253) })) },
    'GET /metaDomains': { query: obj({ keyword: opt(str()) }), answer: arr(obj({ id: id(), name: text(253) }), 100_000) },
    'GET /domain/{domainID}': { answer: Domain },
    'POST /domains': {
      limited: false,
      body: obj({
        domains: some(
          obj({
            domainName: domainName(),
            upstreams: upstreamList(),
            balance: opt(one(balances)),
            originHost: opt(originHost()),
            tags: opt(tags()),
          }),
          1000,
        ),
      }),
      answer: obj({ ids: arr(id()) }),
      errors: ['duplicateDomains', 'domainsExceeded', 'multiple'],
    },
    /** a question in the form of a POST */
    'POST /domains/export': { as: 'csv', body: obj({ ids: ids() }), permission: 'domains.view', audit: false },
    'DELETE /domains': { body: obj({ ids: ids() }), errors: ['multiple'] },
    'DELETE /domainsByNames': { body: obj({ names: some(str(253), caps.namesTogetherMax) }), errors: ['multiple'] },
    'PUT /domain/setting/tags': {
      /** `versions`: of these domains in their order, as they were seen; one that was given other tags since is told as stale, and keeps them */
      body: obj({ domainIDs: ids(), tags: tags(), versions: opt(arr(int(1, 999_999_999), 1000)) }),
      errors: ['multiple'],
    },
    'PATCH /domain/setting/status': {
      limited: false,
      body: obj({ domainIDs: ids(), status: status() }),
      errors: ['duplicateDomains', 'noUpstreamEnabled', 'multiple'],
    },
    'PATCH /domain/setting/balance': { body: obj({ domainIDs: ids(), balance: one(balances) }), errors: ['multiple'] },
    /** From now on certificates for these are made and renewed by themselves, or no longer; `provider` left out: the usual one. */
    'PATCH /domain/setting/autoSSL': {
      body: obj({ domainIDs: ids(), enabled: bool(), provider: opt(one(acmeProviders)) }),
      errors: ['autoSSLExceeded', 'multiple'],
    },
    'PATCH /domain/setting/forceSSL': { body: obj({ domainIDs: ids(), forceSSL: bool() }), errors: ['multiple'] },
    'PATCH /domain/setting/hsts': {
      body: obj({ domainIDs: ids(), hsts: hsts().check(rules.zodRule(rules.hsts)) }),
      errors: ['multiple'],
    },
    'PATCH /domain/setting/originHost': { body: obj({ domainIDs: ids(), originHost: originHost() }), errors: ['multiple'] },
    /** `tlsOption`: kept where it is left out */
    'PUT /domain/{domainID}/scheme': {
      body: obj({ scheme: one(servedSchemes), portMap: portMap(), tlsOption: opt(one(tlsChoices)) }),
    },
    'GET /domain/{domainID}/upstreams': { query: list({}), answer: page(Upstream) },
    // the origins of a domain belong to it: each of these calls heeds the version of the domain, and raises it
    'POST /domain/{domainID}/upstreams': { partOf: 'domain', ...upstreamCalls.add },
    'PUT /domain/{domainID}/upstreams': { partOf: 'domain', ...upstreamCalls.change },
    'DELETE /domain/{domainID}/upstreams': { partOf: 'domain', ...upstreamCalls.remove },
  },
);
