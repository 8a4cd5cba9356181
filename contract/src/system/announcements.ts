/**
 * What an operator tells its customers (§3 Announcement, §7): Markdown without HTML, from `start` to `end`, in the order of `orderNum`.
 * Customers see those of now; nobody below another operator sees any of it.
 */
import { calls } from '../kit/call.ts';
import { id, ids, int, list, nullable, obj, opt, page, partial, record, str, text, time } from '../kit/schema.ts';
import { display } from '../limits-start.ts';
import * as rules from '../rules.ts';

/** characters of one, and how many an operator has at most */
export const announcementBounds = { titleMax: 100, contentMax: 10_000, countMax: display.announcementsMax } as const;
export const announcementFields = {
  title: str(announcementBounds.titleMax).check(rules.zodRule(rules.freeName)),
  /** Markdown; HTML in it is shown as it stands */
  content: text(announcementBounds.contentMax),
  /** null: from its making on */
  start: nullable(time()),
  /** null: until it is removed */
  end: nullable(time()),
  /** its place among the others, the smallest first */
  orderNum: int(0, 100_000),
};
/** One, whole. */
export const announcementBody = obj({
  ...announcementFields,
  content: opt(announcementFields.content),
  start: opt(announcementFields.start),
  end: opt(announcementFields.end),
  orderNum: opt(announcementFields.orderNum),
}).check(rules.zodRule(rules.announcementSpan));
const Announcement = obj({ ...record, ...announcementFields });

export const announcements = calls(
  { base: '/client/setting', areas: ['client'], resource: 'announcements' },
  {
    'GET /announcements': { query: list({ keyword: opt(str(64)) }), answer: page(Announcement) },
    'POST /announcement': { body: announcementBody, answer: obj({ ids: ids(1) }) },
    'PUT /announcement': { body: obj({ id: id(), ...partial(announcementFields) }) },
    'DELETE /announcements': { body: obj({ ids: ids(announcementBounds.countMax) }), errors: ['multiple'] },
  },
);
/** Those of now, of one's own operator: whoever is signed in sees them. */
export const currentAnnouncements = calls(
  { base: '/user', areas: ['user'], resource: 'announcements' },
  { 'GET /announcements': { permission: null, query: list({}), answer: page(Announcement) } },
);
