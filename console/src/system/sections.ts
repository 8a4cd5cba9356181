/** Every section of the system's settings: one line for each folder. */
import { sections as licence } from '../licence/sections.ts';
import { withTexts } from '../kit/screens.ts';
import type { SettingSection } from '../kit/sections.tsx';
import { tabContent } from '../kit/tabs.tsx';

const system: readonly SettingSection[] = [
  {
    name: 'email',
    order: 10,
    group: 'people',
    call: 'GET /client/setting/email',
    finds: ['mailHost', 'fromAddress', 'fromName'],
    Content: tabContent(withTexts('system', async () => (await import('./email-setting.tsx')).EmailSetting)),
  },
  {
    name: 'outgoingURL',
    order: 20,
    group: 'people',
    call: 'GET /client/setting/system/outgoingURL',
    Content: tabContent(withTexts('system', async () => (await import('./system-cards.tsx')).OutgoingURL)),
  },
  {
    name: 'restrictGroupCIDRs',
    order: 30,
    group: 'people',
    call: 'GET /client/setting/system/restrictGroupCIDRs',
    Content: tabContent(withTexts('system', async () => (await import('./system-cards.tsx')).RestrictCIDRs)),
  },
  {
    name: 'accountVerify',
    order: 40,
    group: 'people',
    call: 'GET /client/setting/system/accountVerify',
    finds: ['accountVerify'],
    Content: tabContent(withTexts('system', async () => (await import('./account-verify.tsx')).AccountVerify)),
  },
  {
    name: 'oidc',
    order: 45,
    group: 'people',
    call: 'GET /client/setting/system/oidc',
    finds: ['oidcIssuer', 'oidcClient', 'byEmail'],
    Content: tabContent(withTexts('system', async () => (await import('./oidc.tsx')).OIDC)),
  },
  {
    name: 'telegram',
    order: 50,
    group: 'people',
    call: 'GET /{area}/setting/tg',
    finds: ['token', 'chatID'],
    Content: tabContent(withTexts('system', async () => (await import('./telegram.tsx')).Telegram)),
  },
  {
    name: 'webhook',
    order: 55,
    group: 'people',
    call: 'GET /{area}/setting/webhook',
    finds: ['webhookURL', 'secret', 'kinds'],
    Content: tabContent(withTexts('system', async () => (await import('./webhook.tsx')).Webhook)),
  },
  {
    name: 'nodeLog',
    order: 58,
    group: 'installation',
    call: 'GET /client/setting/system/log',
    finds: ['nodeLogLevel', 'sampling'],
    Content: tabContent(withTexts('system', async () => (await import('./node-log.tsx')).NodeLog)),
  },
  {
    name: 'databaseBackup',
    order: 60,
    group: 'installation',
    call: 'GET /client/setting/system/DBBackup',
    finds: ['backupFolder', 's3Endpoint', 'backupPassphrase', 'backupKeep'],
    Content: tabContent(withTexts('system', async () => (await import('./database-backup.tsx')).DatabaseBackup)),
  },
  {
    name: 'retention',
    order: 65,
    group: 'installation',
    call: 'GET /client/setting/system/retention',
    finds: ['keepAudit', 'keepDeleted', 'keepPurges', 'keepTasks', 'keepEnded', 'keepTombstones'],
    Content: tabContent(withTexts('system', async () => (await import('./retention.tsx')).Retention)),
  },
];

export const sections: readonly SettingSection[] = [...licence, ...system].sort((a, b) => a.order - b.order);
