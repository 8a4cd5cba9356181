import type { SameAs } from '../kit/text.ts';
import type texts from './late.zh_TW.ts';

export default {
  'system.note': 'It concerns your own operator alone.',
  'page.announcements': 'Announcements',
  'noun.announcements': 'Announcement',
  'empty.announcements': 'No announcements yet. Customers see them above every page once they have signed in.',
  'field.title': 'Title',
  'field.start': 'Start',
  'field.end': 'End',
  'field.orderNum': 'Order',
  'help.announcementContent': 'Markdown: **bold**, - lists, [links](https://…). HTML is shown as it is typed.',
  'help.announcementStart': 'Left empty: from now on.',
  'help.announcementEnd': 'Left empty: until it is removed.',
  'help.announcementOrder': 'The smallest number comes first.',
  'announcement.title': 'Announcement',
  'announcement.read': 'Read',
  'announcement.less': 'Close',
  'announcement.previous': 'Previous announcement',
  'announcement.next': 'Next announcement',
  'announcement.dismiss': 'Do not show this announcement again',
  'announcement.preview': 'Preview',
  'announcementState.shown': 'Shown',
  'announcementState.planned': 'Not yet begun',
  'announcementState.over': 'Over',
} satisfies SameAs<typeof texts>;
