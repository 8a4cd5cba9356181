/** Error pages of a site, and of the operator for all its sites. */
import { sql } from 'kysely';
import { failFields } from '#contract/errors.ts';
import {
  errorPageBody,
  errorPageFields,
  errorPages,
  systemErrorPages,
  systemErrorPagesBytesMax,
} from '#contract/protect/error-pages.ts';
import { errorPageStatuses } from '#contract/limits.ts';
import { kinds } from '#contract/edge/kinds/index.ts';
import type { Context } from '../kit/context.ts';
import { type AnyHandler, implementMade } from '../kit/implement.ts';
import { judged } from '../kit/judged.ts';
import { listOf } from '../kit/listed.ts';
import { removeAll } from '../kit/removal.ts';
import { col, type Table, table } from '../kit/table.ts';
import { checkWhole } from '../kit/whole.ts';
import { row } from '../store/db.ts';
import { touchZones } from '../system/origins.ts';
import { siteTable } from '../site/tables.ts';

type Row = Record<string, unknown>;
// They come in the order of their codes.
const sort = ['createdAt', 'updatedAt'];
const errorPageTable = table<Row>()({
  table: 'errorPage',
  scope: { parent: siteTable, column: 'siteID' },
  sort,
  order: sql`t.code, t.id`,
  edge: { kind: 'errorPages', column: 'siteID' },
  most: errorPageStatuses.length,
  bytesMax: kinds.errorPages.rowsBytesMax,
  forgets: true,
  unique: { errorPage_code: 'duplicated' },
});
const systemErrorPageTable = table<Row>()({
  table: 'systemErrorPage',
  scope: {
    tenant: [['clientID']],
    owner: (actor, a) => (actor.area === 'client' ? sql`${col('clientID', a)} = ${actor.rootID}` : sql`false`),
  },
  sort,
  order: sql`t.code, t.id`,
  unique: { systemErrorPage_code: 'duplicated' },
});

for (const pages of [errorPageTable, systemErrorPageTable]) judged(pages, errorPageBody, Object.keys(errorPageFields));

/** One page at a time, unlike the lists of rules. `after` follows each write. */
const handlersOf = <const R extends string>(
  target: Table<Row>,
  remove: R,
  fixed: (ctx: Context) => Row,
  after: (ctx: Context) => Promise<void>,
) =>
  ({
    'GET /errorPages': listOf(target, ({ ctx, params, query }) => ctx.store(target, params).page(query)),
    'POST /errorPage': async ({ ctx, params, body }) => {
      const made = await ctx.store(target, params).add([body], fixed(ctx), 'content');
      await after(ctx);
      return { ids: made };
    },
    'PUT /errorPage': async ({ ctx, params, body }) => {
      const store = ctx.store(target, params);
      checkWhole(errorPageBody, await store.get(body.id), body);
      await store.set(body.id, body);
      await after(ctx);
      return {};
    },
    [remove]: ({ ctx, params, body }) => removeAll(ctx.store(target, params), body.ids, () => after(ctx)),
  }) as Record<string, AnyHandler>;

const nothing = async () => {};
export const errorPageCalls = implementMade(
  errorPages,
  handlersOf(errorPageTable, 'DELETE /errorPages', () => ({}), nothing),
);

/** They fit into the documents of the operator's zones, and every one of these is told anew. */
async function toldToZones(ctx: Context): Promise<void> {
  const weight = await row<{ bytes: number }>(
    ctx.db,
    sql`select coalesce(sum(octet_length(to_jsonb(content)::text)), 0)::int as bytes
        from "systemErrorPage" where "clientID" = ${ctx.actor.rootID} and "deletedAt" is null`,
  );
  if (weight!.bytes > systemErrorPagesBytesMax)
    throw failFields([{ path: 'content', rule: 'tooLong', bounds: { max: systemErrorPagesBytesMax } }]);
  await touchZones(ctx);
}
export const systemErrorPageCalls = implementMade(
  systemErrorPages,
  handlersOf(systemErrorPageTable, 'DELETE /errorPage', ctx => ({ clientID: ctx.actor.rootID }), toldToZones),
);
