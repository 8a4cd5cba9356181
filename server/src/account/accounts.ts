/** The account tree and its roles (§6; decisions.md, Who may do what). */
import { sql } from 'kysely';
import { Fail, fail } from '#contract/errors.ts';
import { accounts, roles } from '#contract/account/accounts.ts';
import type { Context } from '../kit/context.ts';
import { hashPassword } from '../kit/crypto.ts';
import { implement } from '../kit/implement.ts';
import type { Actor } from '../kit/actor.ts';
import { unknownID } from '../kit/store.ts';
import { accountTable, type AccountRow, type RoleRow, roleTable } from './tables.ts';

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

/**
 * An account below the actor: never itself, never the root it hangs on. Inside its own tree a sub-account reaches only
 * accounts that are deeper and hold no key it lacks: else a password it sets would be a way to more than it may.
 */
async function below(ctx: Context, id: number, path = 'id'): Promise<AccountRow> {
  const { actor } = ctx;
  const account = await ctx.store(accountTable).get(id, path);
  if (account.id === actor.accountID || account.id === actor.rootID) throw fail('permissionDenied');
  if (!actor.isRoot && account.rootID === actor.rootID) {
    if (account.grade <= actor.grade) throw fail('permissionDenied');
    const role = account.roleID === null ? undefined : await ctx.store(roleTable).find(account.roleID);
    if (role && !holds(actor, role)) throw fail('permissionDenied');
  }
  return account;
}

const holds = (actor: Actor, role: Pick<RoleRow, 'permissionKeys'>) =>
  role.permissionKeys.every(key => actor.permissions.has(key));

/** A role of the actor's tree that gives no more than the actor has; `rootID`: the tree of whoever is to get it. */
async function assignable(ctx: Context, roleID: number | null | undefined, rootID: number | null | undefined) {
  if (!roleID) return;
  const role = await ctx.store(roleTable).get(roleID, 'roleID');
  // roles are made for one tree: in another they mean nothing
  if (rootID !== ctx.actor.rootID) throw unknownID('roleID');
  if (!holds(ctx.actor, role)) throw fail('permissionDenied');
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
      await assignable(ctx, body.roleID, 'rootID' in place ? place.rootID : null);
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
      // a paused account keeps its sessions: it is told 101008, and can sign out
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
        // with a root goes all that hangs on it: sub-accounts, and the customers of an operator with theirs
        const tree = await ctx
          .store(accountTable)
          .pick(['id'], [sql`(t.id = ${id} or t."rootID" = ${id} or t."parentClient" = ${id})`]);
        const ids = tree.map(account => account.id);
        const used =
          await sql`select 1 from site where ("userID" = any(${ids}) or "clientID" = any(${ids})) and "deletedAt" is null limit 1`.execute(
            ctx.db,
          );
        if (used.rows.length) throw fail('siteInUse');
        await ctx.store(accountTable).remove(ids);
        for (const gone of ids) await ctx.services.sessions.endAll(ctx.db, gone);
      });
      return {};
    },
    'PUT /account/role': async ({ ctx, body }) => {
      const account = await below(ctx, body.accountID, 'accountID');
      await assignable(ctx, body.roleID, account.rootID);
      await ctx.store(accountTable).set(body.accountID, { roleID: body.roleID });
      await ctx.services.sessions.changed(ctx.db);
      return {};
    },
    'POST /proxy': async ({ ctx, body }) => {
      const target = await below(ctx, body.id);
      if (target.status !== 'normal') throw fail('accountNotEnabled');
      if (ctx.actor.area !== 'admin' && !ctx.actor.isRoot) throw fail('permissionDenied');
      // also through several doors it is the first one who acts
      return ctx.services.sessions.open(ctx.db, target.id, ctx.actor.proxyID ?? ctx.actor.accountID);
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

/** A role that gives more than the actor has is not its to change. */
async function mayTouch(ctx: Context, id: number) {
  if (!holds(ctx.actor, await ctx.store(roleTable).get(id))) throw fail('permissionDenied');
}

export const roleCalls = implement(
  roles,
  {
    'GET /roles': ({ ctx, query }) => ctx.store(roleTable).page(query),
    // the roles one may assign
    'GET /metaRoles': async ({ ctx }) =>
      (await ctx.store(roleTable).pick(['id', 'name', 'permissionKeys']))
        .filter(role => holds(ctx.actor, role))
        .map(({ id, name }) => ({ id, name })),
    'POST /role': async ({ ctx, body }) => {
      checkKeys(ctx, body.permissionKeys);
      return { ids: await ctx.store(roleTable).add([body], { rootID: ctx.actor.rootID }) };
    },
    'PUT /role/{id}': async ({ ctx, params, body }) => {
      checkKeys(ctx, body.permissionKeys);
      await mayTouch(ctx, params.id);
      await ctx.store(roleTable).set(params.id, body);
      await ctx.services.sessions.changed(ctx.db);
      return {};
    },
    'DELETE /role/{id}': async ({ ctx, params }) => {
      await mayTouch(ctx, params.id);
      await ctx.store(roleTable).remove([params.id], 'id');
      await ctx.services.sessions.changed(ctx.db);
      return {};
    },
  },
  { params: { id: roleTable } },
);
