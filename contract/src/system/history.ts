/**
 * What became of a row: who changed which field of it, when, and from what to what. Read from the audit; a row is named by the list that
 * shows it, whose key is asked for, and whose fields are told.
 */
import * as z from 'zod/mini';
import { calls } from '../kit/call.ts';
import { arr, bool, id, int, map, nullable, obj, one, opt, page, str, text, time } from '../kit/schema.ts';

export const historyPageSize = 20;

export const HistoryEntry = obj({
  /** the request that did it */
  reqID: text(64),
  at: time(),
  /** null where the reader does not learn who it was, or nobody knows any more */
  by: nullable(text()),
  /** it was done in this account's name by somebody above it; `proxy` is who, where the reader may know */
  isProxy: bool(),
  proxy: nullable(text()),
  kind: one(['added', 'changed', 'removed']),
  /** false: what changed was more than a line of the audit holds */
  isWhole: bool(),
  /** as the list names them; where a secret was stands `hidden` (kit/hidden.ts) */
  fields: arr(obj({ name: text(64), before: z.unknown(), after: z.unknown() }), 200),
});

export const RemovedRow = obj({
  id: id(),
  at: time(),
  by: nullable(text()),
  /** fields of the list's rows, as far as they are stored */
  values: map(z.unknown()),
});

const paged = { page: opt(int(1, 1_000_000)), pageSize: opt(int(1, 100)) };
/** Path of the list that shows the row, below its area: `/site/{siteID}/blacklists`; of a setting the path it is read at. */
const resource = str(200);

export const history = calls(
  { base: '/{area}', resource: 'history' },
  {
    // the key of the list that is named is asked for
    'GET /history': {
      /** `id`: of the row, or of a setting's owner; a setting of the whole operator has none */
      query: obj({ resource, id: opt(id()), ...paged }),
      answer: page(HistoryEntry),
      permission: null,
    },
    'GET /history/removed': {
      /** `parentID`: the row that the list's rows hang on, where its path names one */
      query: obj({ resource, parentID: opt(id()), ...paged }),
      answer: page(RemovedRow),
      permission: null,
    },
  },
);
