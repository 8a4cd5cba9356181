export default {
  'menu.systemSetting': '系統設定',
  'menu.announcementSetting': '公告',
  'group.installation': '安裝',
  'tab.license': '授權',
} as const;
