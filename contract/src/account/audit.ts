/** The audit (§3, decisions.md "both names of a proxied act"): who did or tried what, newest first, with what it changed in which row. */
import * as z from 'zod/mini';
import { areas } from '../kit/areas.ts';
import { calls } from '../kit/call.ts';
import { arr, id, int, nullable, obj, one, opt, page, paged, str, text, time } from '../kit/schema.ts';
import * as rules from '../rules.ts';
import { auditChangeKinds, auditMethods } from '../states-audit.ts';

export const AuditChange = obj({
  table: text(100),
  /** null: of several rows that are not named each */
  id: nullable(id()),
  kind: one(auditChangeKinds),
  /** how many rows it stands for */
  count: int(),
  /** false: there was no room for the contents */
  isWhole: z.boolean(),
  /** where a secret was stands `hidden` (kit/hidden.ts) */
  fields: arr(obj({ name: text(100), before: z.unknown(), after: z.unknown() }), 500),
});
export const AuditLine = obj({
  id: id(),
  reqID: text(64),
  createdAt: time(),
  /** null: somebody tried an e-mail that nobody has */
  accountID: nullable(id()),
  accountName: nullable(text(254)),
  area: nullable(one(areas)),
  /** Who really acted: of the reader's own house their e-mail, of one above it the name they go by. */
  proxyName: nullable(text(254)),
  proxyArea: nullable(one(areas)),
  /** the API token it was done by */
  tokenName: nullable(text(64)),
  method: text(10),
  url: text(2000),
  permission: nullable(text(64)),
  /** empty where somebody of a house above the reader's acted */
  ip: text(64),
  /** of the answer; null in lines of before it was kept */
  status: nullable(int()),
  durationMs: nullable(int()),
  /** why it was refused, or how somebody signed in */
  reason: nullable(text(1000)),
  /** of lines that stand for many of one kind: how many, and when the last was */
  times: nullable(int()),
  lastAt: nullable(time()),
  /** what was sent, without its secrets, and what that changed: told where one request is asked for */
  body: opt(z.unknown()),
  changes: opt(arr(AuditChange, 5000)),
});

const filters = () =>
  obj({
    accountName: opt(str(254)),
    /** without it, and with a word of `accountName`, `url` or `proxyName`: 31 days before `endTime` */
    startTime: opt(time()),
    endTime: opt(time()),
    method: opt(one(auditMethods)),
    proxyName: opt(str(254)),
    /** exactly this one, with all that it did */
    reqID: opt(str(64)),
    url: opt(str(500)),
  }).check(rules.zodRule(rules.auditRange));

export const audit = calls(
  { base: '/{area}', areas, resource: 'audit' },
  {
    'POST /auditLogs': {
      permission: 'audit.view',
      audit: false,
      query: paged({}),
      body: filters(),
      answer: page(AuditLine),
    },
    /**
     * All that the list finds, in its order, however many they are: UTF-8 with a byte order mark, times in UTC, a column of what each line
     * changed, field by field (of a line whose changes are larger than `auditFileChangesMax` how much that is). Headings, areas and kinds
     * are in the caller's language (`Accept-Language`, else the account's); tables, fields and reasons by their names. Who took it is told.
     */
    'POST /auditLogs/export': {
      permission: 'audit.view',
      as: 'csv',
      inPieces: true,
      query: obj({ orderBy: opt(one(['asc', 'desc'])) }),
      body: filters(),
    },
  },
);
