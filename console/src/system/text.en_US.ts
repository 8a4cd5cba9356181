import type { SameAs } from '../kit/text.ts';
import type texts from './text.zh_TW.ts';

export default {
  'menu.systemSetting': 'System settings',
  'menu.notifySetting': 'Notices',
  'menu.announcementSetting': 'Announcements',
  'menu.customizeLogo': 'Branding',
  'group.installation': 'Installation',
  'tab.license': 'License',
  'bell.title': 'Notices',
  'bell.unread': '{count} {count, one: unread notice, other: unread notices}',
} satisfies SameAs<typeof texts>;
