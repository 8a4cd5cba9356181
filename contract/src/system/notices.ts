/**
 * What a person of an operator or a customer is told of what happened (§3 notification; issue 11): an inbox in the console, and mails. Each
 * person chooses by kind; kinds whose key the person lacks are neither told nor offered. Of a new device the mail is the account's
 * `newDeviceMail`, sent at once; whoever acts in another's name is not offered it.
 */
import { calls } from '../kit/call.ts';
import { arr, bool, id, int, nullable, obj, one, opt, text, time } from '../kit/schema.ts';
import { noticeKinds, noticeLimits } from '../limits.ts';

const Notice = obj({
  id: id(),
  kind: one(noticeKinds),
  /** how many of the kind came within a short time */
  count: int(1),
  /** in the language of who asks */
  sentence: text(1000),
  /** what was said about it: an authority's words, a problem */
  detail: text(500),
  readAt: nullable(time()),
  latestAt: time(),
});
const choice = { kind: one(noticeKinds), inbox: bool(), mail: bool() };

export const notices = calls(
  { base: '/{area}', areas: ['user', 'client'], resource: 'notices', auth: 'session', licence: false },
  {
    /** The newest first; `before`: those that came earlier than this one. */
    'GET /notices': {
      permission: null,
      query: obj({ before: opt(int(1)) }),
      answer: obj({ notices: arr(Notice, noticeLimits.shownMax), unread: int() }),
    },
    /** What the bell asks for every now and then. */
    'GET /notices/unread': { permission: null, answer: obj({ unread: int() }) },
    /** All up to this one, and nothing that came since. Not for whoever acts in another's name: who was told has to see it. */
    'POST /notices/read': {
      permission: null,
      audit: 'refused',
      body: obj({ upTo: int(1) }),
      answer: obj({ unread: int() }),
      errors: ['permissionDenied'],
    },
    'GET /notices/choices': { permission: null, answer: obj({ choices: arr(obj(choice), noticeKinds.length) }) },
    /** One's own: whoever acts in another's name silences no alarm of theirs. */
    'POST /notices/choices': {
      permission: null,
      body: obj({ choices: arr(obj(choice), noticeKinds.length) }),
      errors: ['permissionDenied'],
    },
  },
);
