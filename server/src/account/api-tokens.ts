/** API tokens: made and ended by people; what they do is judged in kit/api-tokens.ts. */
import { sql } from 'kysely';
import type * as z from 'zod/mini';
import { apiDoc, type ApiToken, apiTokens } from '#contract/account/api-tokens.ts';
import { Fail, fail, failFields } from '#contract/errors.ts';
import { groups } from '#contract/index.ts';
import { type Area, siteKeys } from '#contract/kit/call.ts';
import { apiTokens as limits } from '#contract/limits.ts';
import type { Context } from '../kit/context.ts';
import { implement } from '../kit/implement.ts';
import { openApi } from '../kit/openapi.ts';
import { removeAll } from '../kit/removal.ts';
import { col, like, table } from '../kit/table.ts';
import { siteTable } from '../site/tables.ts';
import { row } from '../store/db.ts';
import { checkKeys } from './accounts.ts';

export type ApiTokenRow = z.output<typeof ApiToken> & { rootID: number };

/** One's own; a root sees, and may end, those of all people of its tree. */
export const apiTokenTable = table<ApiTokenRow>()({
  table: 'apiToken',
  scope: {
    tenant: [['rootID']],
    owner: (actor, a) =>
      actor.isRoot ? sql`${col('rootID', a)} = ${actor.rootID}` : sql`${col('accountID', a)} = ${actor.accountID}`,
  },
  sort: ['name', 'expiredAt', 'lastUsedAt', 'createdAt', 'updatedAt'],
  filters: { name: like('name') },
  extra: { accountName: sql`select email from account a where a.id = t."accountID"` },
  secret: ['hash', 'refreshHash', 'previousHash', 'previousRefreshHash', 'previousUntil', 'successor'],
});

async function checkRoom({ db, actor }: Context) {
  const { n } = (await row<{ n: number }>(
    db,
    sql`select count(*) as n from "apiToken" where "accountID" = ${actor.accountID} and "deletedAt" is null`,
  ))!;
  if (n >= limits.perAccountMax) throw failFields([{ path: '', rule: 'tooManyApiTokens', bounds: { n: limits.perAccountMax } }]);
}

/** A token for some sites alone holds nothing that reaches beyond them. */
function checkSiteKeys(area: Area, keys: readonly string[]) {
  const about = siteKeys(groups, area);
  const wider = keys.filter(key => !about.includes(key));
  if (wider.length)
    throw new Fail('parameter', {
      errorData: wider.map(value => ({ path: 'permissionKeys', rule: 'beyondSites', bounds: { value } })),
    });
}

export const apiTokenCalls = implement(
  apiTokens,
  {
    'GET /apiTokens': ({ ctx, query }) => ctx.store(apiTokenTable).page(query),
    'POST /apiToken': async ({ ctx, body }) => {
      const { actor, db, services } = ctx;
      // it would outlive the session that was opened for another
      if (actor.proxyID !== null) throw fail('permissionDenied');
      const permissionKeys = [...new Set(body.permissionKeys)].sort();
      checkKeys(actor.permissions, permissionKeys);
      const siteIDs = body.siteIDs ? [...new Set(body.siteIDs)] : null;
      if (siteIDs) {
        checkSiteKeys(actor.area, permissionKeys);
        await ctx.store(siteTable).need(siteIDs, 'siteIDs');
      }
      const expiredAt = body.expiredAt ?? null;
      if (expiredAt !== null && Date.parse(expiredAt) <= Date.now()) throw failFields([{ path: 'expiredAt', rule: 'isOver' }]);
      await checkRoom(ctx);
      const [id = 0] = await ctx
        .store(apiTokenTable)
        .add([{ name: body.name, permissionKeys, siteIDs, networks: body.networks ?? [], expiredAt }], {
          accountID: actor.accountID,
          rootID: actor.rootID,
        });
      const { token, refreshToken, columns } = services.sessions.apiTokens.make(id);
      const { hash, refreshHash, ending } = columns;
      await sql`update "apiToken" set hash = ${hash}, "refreshHash" = ${refreshHash}, ending = ${ending} where id = ${id}`.execute(
        db,
      );
      return { id, token, refreshToken };
    },
    'DELETE /apiTokens': ({ ctx, body }) =>
      removeAll(ctx.store(apiTokenTable), body.ids, () => ctx.services.sessions.changed(ctx.db)),
  },
  { rows: { 'GET /apiTokens': apiTokenTable } },
);

const documents = new Map<Area, string>();
/** Of one area, and of what everybody may call. */
function documentOf(area: Area): string {
  let text = documents.get(area);
  if (!text) documents.set(area, (text = JSON.stringify(openApi(groups, area))));
  return text;
}
export const apiDocCalls = implement(apiDoc, {
  'GET /apiDoc': async ({ ctx }) => documentOf(ctx.actor.area),
});
