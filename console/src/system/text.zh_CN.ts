import type { SameAs } from '../kit/text.ts';
import type texts from './text.zh_TW.ts';

export default {
  'menu.systemSetting': '系统设置',
  'menu.notifySetting': '通知设置',
  'menu.announcementSetting': '公告',
  'menu.customizeLogo': '品牌设置',
  'group.installation': '整个系统',
  'tab.license': '授权',
  'bell.title': '通知',
  'bell.unread': '{count} 条未读通知',
} satisfies SameAs<typeof texts>;
