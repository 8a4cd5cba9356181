/** The implementations of this folder; a further one is one line. */
export { announcementCalls, currentAnnouncementCalls } from './announcements.ts';
export { accountVerifyCalls } from './account-verify.ts';
export { databaseBackupCalls } from './database-backup.ts';
export { emailSettingCalls } from './email-setting.ts';
export { fleetHealthCalls } from './fleet-health.ts';
export { installationCalls } from './overview.ts';
export { logoCalls, logosCalls } from './logos.ts';
export { nodeLogCalls } from './node-log.ts';
export { noticeCalls } from './notices.ts';
export { originAllowCalls } from './origins.ts';
export { outgoingURLCalls } from './outgoing-url.ts';
export { restrictGroupCIDRsCalls } from './restrict-cidrs.ts';
export { retentionCalls } from './retention.ts';
export { statusCalls } from './status.ts';
export { taskCalls } from './tasks.ts';
export { telegramCalls } from './telegram.ts';
export { webhookCalls } from './webhook.ts';
export { zeroSSLCalls } from './zero-ssl.ts';
