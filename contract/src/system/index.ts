/** The groups of calls of this folder; a further one is one line. */
export { announcements, currentAnnouncements } from './announcements.ts';
export { accountVerify } from './account-verify.ts';
export { databaseBackup } from './database-backup.ts';
export { emailSetting } from './email-setting.ts';
export { fleetHealth } from './fleet-health.ts';
export { history } from './history.ts';
export { installation } from './installation.ts';
export { logo, logos } from './logos.ts';
export { notices } from './notices.ts';
export { originAllow } from './origins.ts';
export { outgoingURL } from './outgoing-url.ts';
export { restrictGroupCIDRs } from './restrict-cidrs.ts';
export { retention } from './retention.ts';
export { status } from './status.ts';
export { tasks } from './tasks.ts';
export { telegram } from './telegram.ts';
export { webhook } from './webhook.ts';
export { zeroSSL } from './zero-ssl.ts';
