/** The account tree and its roles (§6; decisions.md, Who may do what). */
import { sql } from 'kysely';
import { Fail, fail } from '#contract/errors.ts';
import { accounts, roles } from '#contract/account/accounts.ts';
import type { Context } from '../kit/context.ts';
import { hashPassword } from '../kit/crypto.ts';
import { implement } from '../kit/implement.ts';
import type { Actor } from '../kit/actor.ts';
import { accountTable, type AccountRow, roleTable } from './tables.ts';

/** What tree a new account joins: customers hang on the operator, sub-accounts on the root of whoever makes them. */
function placeOf(actor: Actor, auth: 'user' | 'client') {
  const own = { createdBy: actor.email, emailConfirmed: false };
  if (actor.area === 'admin' && auth === 'client') return { ...own, auth, isRoot: true, grade: 0 };
  if (actor.area === 'client' && auth === 'client')
    return { ...own, auth, isRoot: false, grade: actor.grade + 1, rootID: actor.rootID };
  if (actor.area === 'client' && auth === 'user') return { ...own, auth, isRoot: true, grade: 0, parentClient: actor.rootID };
  if (actor.area === 'user' && auth === 'user')
    return {
      ...own,
      auth,
      isRoot: false,
      grade: actor.grade + 1,
      rootID: actor.rootID,
      parentUser: actor.accountID,
      parentClient: actor.clientID,
    };
  throw fail('permissionDenied');
}

/** An account below the actor: never itself, never the root it hangs on. */
async function below(ctx: Context, id: number, path = 'id'): Promise<AccountRow> {
  const account = await ctx.store(accountTable).get(id, path);
  if (account.id === ctx.actor.accountID || account.id === ctx.actor.rootID) throw fail('permissionDenied');
  return account;
}

export const accountCalls = implement(
  accounts,
  {
    'GET /accounts': ({ ctx, query }) => ctx.store(accountTable).page(query, [sql`t.id <> ${ctx.actor.rootID}`]),
    'GET /account/{id}/subs': ({ ctx, params, query }) =>
      ctx
        .store(accountTable)
        .page(query, [sql`(t."rootID" = ${params.id} or t."parentClient" = ${params.id}) and t.id <> ${params.id}`]),
    'POST /account': async ({ ctx, body }) => {
      const place = placeOf(ctx.actor, body.auth);
      if (body.roleID) await ctx.store(roleTable).get(body.roleID, 'roleID');
      const ids = await ctx
        .store(accountTable)
        .add(
          [{ email: body.email, name: body.name, language: body.language ?? ctx.actor.language, roleID: body.roleID ?? null }],
          {
            ...place,
            timezone: ctx.actor.timezone,
          },
        );
      await sql`update account set "rootID" = id where id = any(${ids}) and "rootID" is null`.execute(ctx.db);
      return { ids };
    },
    'PUT /account': async ({ ctx, body }) => {
      await below(ctx, body.id);
      await ctx.store(accountTable).set(body.id, body);
      if (body.status && body.status !== 'normal') await ctx.services.sessions.endAll(ctx.db, body.id);
      await ctx.services.sessions.changed(ctx.db);
      return {};
    },
    'PUT /account/password': async ({ ctx, body }) => {
      await below(ctx, body.id);
      await sql`update account set password = ${await hashPassword(body.password)}, "emailConfirmed" = true, "updatedAt" = now() where id = ${body.id}`.execute(
        ctx.db,
      );
      await ctx.services.sessions.endAll(ctx.db, body.id);
      return {};
    },
    'DELETE /account': async ({ ctx, body }) => {
      await ctx.store(accountTable).need(body.ids);
      await ctx.each(body.ids, String, async id => {
        await below(ctx, id, 'ids');
        const used = await sql`select 1 from site where "userID" = ${id} and "deletedAt" is null limit 1`.execute(ctx.db);
        if (used.rows.length) throw fail('siteInUse');
        await ctx.store(accountTable).remove([id]);
        await ctx.services.sessions.endAll(ctx.db, id);
      });
      return {};
    },
    'PUT /account/role': async ({ ctx, body }) => {
      await below(ctx, body.accountID, 'accountID');
      if (body.roleID) await ctx.store(roleTable).get(body.roleID, 'roleID');
      await ctx.store(accountTable).set(body.accountID, { roleID: body.roleID });
      await ctx.services.sessions.changed(ctx.db);
      return {};
    },
    'POST /proxy': async ({ ctx, body }) => {
      const target = await below(ctx, body.id);
      if (target.status !== 'normal') throw fail('accountNotEnabled');
      if (ctx.actor.area !== 'admin' && !ctx.actor.isRoot) throw fail('permissionDenied');
      return ctx.services.sessions.open(ctx.db, target.id, ctx.actor.accountID);
    },
  },
  { params: { id: accountTable } },
);

/** A role never holds more than whoever makes it. */
function checkKeys(ctx: Context, keys: readonly string[]) {
  const foreign = keys.filter(key => !ctx.actor.permissions.has(key));
  if (foreign.length)
    throw new Fail('parameter', {
      errorData: foreign.map(key => ({ path: 'permissionKeys', rule: 'unknown', bounds: { value: key } })),
    });
}

export const roleCalls = implement(
  roles,
  {
    'GET /roles': ({ ctx, query }) => ctx.store(roleTable).page(query),
    'GET /metaRoles': async ({ ctx }) => (await ctx.store(roleTable).list()).map(({ id, name }) => ({ id, name })),
    'POST /role': async ({ ctx, body }) => {
      checkKeys(ctx, body.permissionKeys);
      return { ids: await ctx.store(roleTable).add([body], { rootID: ctx.actor.rootID }) };
    },
    'PUT /role/{id}': async ({ ctx, params, body }) => {
      checkKeys(ctx, body.permissionKeys);
      await ctx.store(roleTable).set(params.id, body);
      await ctx.services.sessions.changed(ctx.db);
      return {};
    },
    'DELETE /role/{id}': async ({ ctx, params }) => {
      await ctx.store(roleTable).remove([params.id], 'id');
      await ctx.services.sessions.changed(ctx.db);
      return {};
    },
  },
  { params: { id: roleTable } },
);
