/** Pages about the installation and the operator's own system, by area. */
import { type Screen, withTexts } from '../kit/screens.ts';

export const user: readonly Screen[] = [
  {
    path: 'systemManagement/notifySetting',
    title: 'notifySetting',
    order: 10,
    call: { anyOf: ['GET /{area}/setting/tg', 'GET /{area}/setting/webhook'] },
    load: withTexts('system', () => import('./telegram.tsx')),
  },
];
export const client: readonly Screen[] = [
  {
    path: 'systemManagement/systemSetting',
    title: 'systemSetting',
    order: 10,
    call: {
      anyOf: [
        'GET /client/setting/email',
        'GET /client/setting/system/accountVerify',
        'GET /client/setting/system/oidc',
        'GET /client/license',
        'GET /{area}/setting/tg',
        'GET /{area}/setting/webhook',
        'GET /client/setting/system/outgoingURL',
        'GET /client/setting/system/restrictGroupCIDRs',
        'GET /client/setting/system/log',
        'GET /client/setting/system/DBBackup',
        'GET /client/setting/system/retention',
      ],
    },
    load: withTexts('system', () => import('./system-setting.tsx')),
  },
  {
    path: 'userManagement/customizeLogo',
    title: 'customizeLogo',
    order: 70,
    call: 'GET /client/setting/logos',
    load: withTexts('system', () => import('./logos.tsx')),
  },
  {
    path: 'userManagement/announcementSetting',
    title: 'announcementSetting',
    order: 80,
    call: 'GET /client/setting/announcements',
    load: withTexts('system', () => import('./announcements.tsx')),
  },
];
