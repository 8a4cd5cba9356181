export default {
  'menu.systemSetting': '系統設定',
  'menu.notifySetting': '通知設定',
  'menu.announcementSetting': '公告',
  'menu.customizeLogo': '品牌設定',
  'group.installation': '整個系統',
  'tab.license': '授權',
  'bell.title': '通知',
  'bell.unread': '{count} 則未讀通知',
} as const;
