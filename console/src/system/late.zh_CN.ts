import type { SameAs } from '../kit/text.ts';
import type texts from './late.zh_TW.ts';

export default {
  'system.note': '只影响自己的运营商。',
  'page.announcements': '公告',
  'noun.announcements': '公告',
  'empty.announcements': '还没有公告。客户登录后会在每一页上方看到公告。',
  'field.title': '标题',
  'field.start': '开始',
  'field.end': '结束',
  'field.orderNum': '顺序',
  'help.announcementContent': '可使用 Markdown：**粗体**、- 列表、[链接](https://…)。HTML 会照字面显示。',
  'help.announcementStart': '留空代表立即开始。',
  'help.announcementEnd': '留空代表一直显示。',
  'help.announcementOrder': '数字小的先显示。',
  'announcement.title': '公告',
  'announcement.read': '阅读',
  'announcement.less': '收起',
  'announcement.previous': '上一条公告',
  'announcement.next': '下一条公告',
  'announcement.dismiss': '不再显示这条公告',
  'announcement.preview': '预览',
  'announcementState.shown': '显示中',
  'announcementState.planned': '尚未开始',
  'announcementState.over': '已结束',
} satisfies SameAs<typeof texts>;
