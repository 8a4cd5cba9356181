/** The account tree and its roles (§6; decisions.md, Who may do what). */
import { sql } from 'kysely';
import { Fail, fail, failFields } from '#contract/errors.ts';
import { accounts, roles } from '#contract/account/accounts.ts';
import type { Area } from '#contract/kit/call.ts';
import { accountActionFor, accountActions, can, reasonError } from '#contract/states.ts';
import { dropBrands } from '../kit/brands.ts';
import type { Context } from '../kit/context.ts';
import { hashPassword } from '../kit/crypto.ts';
import { tooManyPasswords } from '../kit/hashing.ts';
import { appointOwner } from '../kit/owner.ts';
import { partyOf } from '../kit/turns.ts';
import { implement } from '../kit/implement.ts';
import { unwritten } from '../kit/quiet.ts';
import { removeEach } from '../kit/removal.ts';
import type { Incoming } from '../kit/request.ts';
import type { Actor } from '../kit/actor.ts';
import { unknownID } from '../kit/store.ts';
import type { Claim } from '../kit/tries.ts';
import { like } from '../kit/table.ts';
import { row, rows, type Sql } from '../store/db.ts';
import { type ActedAs, actAs, actAsDenied } from './act-as.ts';
import { dropAuthenticator, mailTaken } from './factors.ts';
import { dropIdentities } from './oidc.ts';
import { dropPasskeys } from './passkeys.ts';
import { askingEmail, linksOf, linksTo, roomForOne, takeOrWait, unused } from './making.ts';
import { mailLink, mailLinkAgain } from './password-link.ts';
import { mailPassword } from './password-mail.ts';
import { setPassword } from './session.ts';
import { accountTable, type AccountRow, type RoleRow, roleTable, selfTable } from './tables.ts';

/** What tree a new account joins: customers hang on the operator, sub-accounts on the root of whoever makes them, the vendor's too. */
function placeOf(actor: Actor, auth: Area) {
  const own = { createdBy: actor.email, parentID: actor.accountID, emailConfirmed: false };
  if (actor.area === 'admin' && auth === 'client') return { ...own, auth, isRoot: true, grade: 0 };
  if (auth !== 'user' && actor.area === auth)
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

const holds = (actor: Actor, role: Pick<RoleRow, 'permissionKeys'>) =>
  role.permissionKeys.every(key => actor.permissions.has(key));

/**
 * A role of the actor's tree that gives no more than the actor has, for an account of the tree `rootID`. Nobody gets a
 * role that comes from itself: in such a circle nobody would hold anything. A root breaks it by vouching for the role.
 */
async function assignable(ctx: Context, roleID: number, rootID: number | null, accountID?: number, path = 'roleID') {
  const { actor, db } = ctx;
  const role = await ctx.store(roleTable).get(roleID, path);
  // roles are made for one tree: in another they mean nothing
  if (rootID !== actor.rootID) throw unknownID(path);
  if (!holds(actor, role)) throw fail('permissionDenied');
  if (role.makerID === null || accountID === undefined) return;
  const maker = (await ctx.services.sessions.held(db, [role.makerID])).get(role.makerID);
  if (!maker?.holders.includes(accountID)) return;
  if (!actor.isRoot) throw fail('permissionDenied');
  await vouchFor(ctx, sql`id = ${roleID}`, maker.keys);
}

/** The root takes over roles as they are now: with what their maker held. */
async function vouchFor(ctx: Context, which: Sql, keys: ReadonlySet<string>) {
  await sql`update role set "permissionKeys" = array(select unnest("permissionKeys") intersect select unnest(${[...keys]}::text[]) order by 1),
      "makerID" = null, "updatedAt" = now(), "rowVersion" = "rowVersion" + 1 where ${which} and "deletedAt" is null`.execute(
    ctx.db,
  );
}

/** Each with the reason why one may not act as it, so that a screen can say it beforehand. */
async function listed(ctx: Context, { data, total }: { data: AccountRow[]; total: number }) {
  const denied = await actAsDenied(
    ctx,
    data.map(account => account.id),
  );
  // an operator's sub-accounts hang on it by their tree; of customers and theirs it stands in the row
  const parentClient = ({ auth, isRoot, parentClient: found, rootID }: AccountRow) =>
    auth === 'client' && !isRoot ? rootID : found;
  return {
    data: data.map(account => ({
      ...account,
      parentClient: parentClient(account),
      hasPassword: account.password !== null,
      actAsDenied: denied.get(account.id) ?? null,
    })),
    total,
  };
}

/** The state tables say what may follow what; a lock is lifted by whoever set it, or by somebody above. */
async function checkStatus(ctx: Context, account: AccountRow, to: 'normal' | 'pause' | 'lock') {
  const action = accountActionFor(account.status, to);
  const why = can(accountActions, action, account.status);
  if (why !== true) throw new Fail(reasonError(why), { errorData: [{ path: 'status', rule: 'invalidChoice' }] });
  const { lockedBy } = account;
  if (action !== 'unlock' || lockedBy === null || lockedBy === ctx.actor.accountID) return;
  const locker = await ctx.store(accountTable).find(lockedBy);
  const isGone = !locker && (await row(ctx.db, sql`select 1 from account where id = ${lockedBy} and "deletedAt" is not null`));
  if (isGone) return;
  if (!locker || (await actAsDenied(ctx, [lockedBy])).get(lockedBy) !== null) throw fail('permissionDenied');
}

/** Its time has come, or is set to one that has. */
const isOver = (expired: string | null | undefined) => typeof expired === 'string' && Date.parse(expired) <= Date.now();

/** Exports cost the operator: a customer may share out what it has itself, not more. */
async function checkExports(ctx: Context, wanted: number | undefined) {
  if (wanted === undefined || ctx.actor.area !== 'user') return;
  const { maxLogExportTimes: max } = await ctx.store(selfTable).get(ctx.actor.accountID);
  if (wanted > max) throw failFields([{ path: 'maxLogExportTimes', rule: 'tooBig', bounds: { max } }]);
}

/** New passwords that one may set without a pause: for one account, for all. Each costs us much. */
const free = { account: 10, all: 1000 } as const;

/** The account just made, whose first password one sets if one may act as it; else nothing is made. */
async function ownMaking(ctx: Context, id: number): Promise<ActedAs> {
  if ((await actAsDenied(ctx, [id])).get(id) !== null) throw failFields([{ path: 'password', rule: 'passwordNotYours' }]);
  return actAs(ctx, id);
}

/** A new password, hashed once it is the actor's turn. */
async function newHash(
  ctx: Context,
  request: Pick<Incoming, 'line'>,
  password: string,
  more: readonly Claim[],
  check: () => Promise<unknown> = async () => {},
): Promise<string> {
  const { sessions } = ctx.services;
  const claims: Claim[] = [...more, { kind: 'account', key: `set ${ctx.actor.accountID}`, free: free.all }];
  const held = (wait: ReturnType<typeof sessions.tries.take>) => {
    if (!wait) return;
    const failure = tooManyPasswords('password', wait.seconds);
    throw wait.isFirst ? failure : unwritten(failure);
  };
  held(sessions.tries.waits(claims));
  // what is not there is counted nowhere: whoever makes up numbers fills no memory
  await check();
  held(sessions.tries.take(claims));
  return sessions.hashing.set({ party: partyOf(ctx.actor), claims, line: request.line }, () => hashPassword(password));
}

export const accountCalls = implement(
  accounts,
  {
    'GET /accounts': async ({ ctx, query }) =>
      listed(ctx, await ctx.store(accountTable).page(query, [sql`t.id <> ${ctx.actor.rootID}`])),
    'GET /account/{id}/subs': async ({ ctx, params, query }) =>
      listed(
        ctx,
        await ctx
          .store(accountTable)
          .page(query, [sql`${params.id} in (t."parentID", t."rootID", t."parentClient") and t.id <> ${params.id}`]),
      ),
    'POST /account': async ({ ctx, body, prepared }) => {
      const place = placeOf(ctx.actor, body.auth);
      // a root has everything, a sub-account what its role gives: one must be chosen (§5)
      if (!place.isRoot && !body.role) throw failFields([{ path: 'role', rule: 'roleRequired' }]);
      if (body.role) await assignable(ctx, body.role, 'rootID' in place ? place.rootID : null, undefined, 'role');
      if ('rootID' in place) await roomForOne(ctx, place.rootID);
      // a program lets nobody in who stays when its token is gone: a person has the link mailed
      const isLinked = prepared === undefined && (place.isRoot || !ctx.actor.token);
      const { email, name, language = ctx.actor.language, role: roleID = null, expired = null } = body;
      const status = isOver(expired) ? 'expired' : 'normal';
      const made = { email, name, language, roleID, expired };
      const ids = await askingEmail(ctx, () =>
        ctx.store(accountTable).add([made], { ...place, status, timezone: ctx.actor.timezone }),
      );
      await sql`update account set "rootID" = id where id = any(${ids}) and "rootID" is null`.execute(ctx.db);
      if (place.isRoot && place.auth === 'client') await appointOwner(ctx.db);
      // else whoever makes an account that holds more than itself would sign in as it
      if (prepared !== undefined) await setPassword(ctx, await ownMaking(ctx, ids[0]!), prepared as string);
      // nothing is made whose link would have to wait
      const giveBack = isLinked && takeOrWait(ctx, 'email', [linksOf(ctx), linksTo(ctx, email)]);
      // whoever reads that mail sets the first password, not whoever made the account
      const isMailed = giveBack !== false && (await mailLink(ctx, { id: ids[0]! }));
      if (giveBack && !isMailed) giveBack();
      return { ids, isMailed };
    },
    'PUT /account': async ({ ctx, body }) => {
      const account = await actAs(ctx, body.id);
      const { status, ...rest } = body;
      if (body.twoFactor !== undefined) {
        await dropAuthenticator(ctx.db, body.id);
        let isTaken = account.twoFactor !== body.twoFactor;
        // they are there without a second factor as well: a whole row sent back, which says that there is none, takes none away
        if (account.twoFactor !== body.twoFactor || Object.keys(body).length === 2) {
          const [hadPasskeys, hadIdentities] = [await dropPasskeys(ctx, body.id), await dropIdentities(ctx, body.id)];
          isTaken ||= hadPasskeys || hadIdentities;
        }
        if (isTaken) await mailTaken(ctx, body.id);
      }
      await checkExports(ctx, body.maxLogExportTimes);
      const over = isOver(body.expired === undefined ? account.expired : body.expired);
      // more time brings back what had none left
      const standing = { ...account, status: account.status === 'expired' && !over ? 'normal' : account.status } as const;
      const isOther = status !== undefined && status !== standing.status;
      // a whole row sent back changes what differs; a state alone is an action
      if (isOther || (status && Object.keys(rest).length === 1)) await checkStatus(ctx, standing, status);
      const wanted = isOther ? status : standing.status;
      const next = wanted === 'normal' && over ? 'expired' : wanted;
      await ctx.store(accountTable).set(body.id, {
        ...rest,
        ...(next === account.status ? {} : { status: next }),
        ...(isOther ? { lockedBy: status === 'lock' ? ctx.actor.accountID : null } : {}),
      });
      // a stopped account keeps its sessions: it is told 101008, and can sign out; what it opened for others ends
      if (next !== account.status && next !== 'normal') await ctx.services.sessions.endOpened(ctx.db, body.id);
      await ctx.services.sessions.changed(ctx.db);
      return {};
    },
    'PUT /account/password': async ({ ctx, body, prepared }) => {
      // what `prepare` of this call hashed
      await setPassword(ctx, await actAs(ctx, body.id), prepared as string);
      await mailPassword(ctx, body.id);
      return {};
    },
    'POST /account/resendEmail': async ({ ctx, body }) => {
      await mailLinkAgain(ctx, await actAs(ctx, body.id));
      return {};
    },
    'DELETE /account': ({ ctx, body }) =>
      removeEach(
        ctx,
        ctx.store(accountTable),
        body.ids,
        account => account.email,
        async ({ id }) => {
          const account = await actAs(ctx, id, 'ids');
          // what is the owner's alone (backups, retention, the mail server of everybody) would be nobody's
          if (account.isOwner) throw failFields([{ path: 'ids', rule: 'ownerStays' }]);
          // with a root goes all that hangs on it: sub-accounts, and the customers of an operator with theirs
          const tree = await ctx
            .store(accountTable)
            .pick(['id'], [sql`(t.id = ${id} or t."rootID" = ${id} or t."parentClient" = ${id})`]);
          const ids = tree.map(one => one.id);
          const used = await row(
            ctx.db,
            sql`select 1 from site where ("userID" = any(${ids}) or "clientID" = any(${ids})) and "deletedAt" is null limit 1`,
          );
          if (used) throw fail('siteInUse');
          if (!account.isRoot) await leave(ctx, account);
          if (account.isRoot && account.auth === 'client') await dropBrands(ctx, [id]);
          for (const gone of ids) await ctx.services.sessions.endAll(ctx.db, gone);
          return ids;
        },
      ),
    'PUT /account/role': async ({ ctx, body }) => {
      const account = await actAs(ctx, body.accountID, 'accountID');
      await assignable(ctx, body.roleID, account.rootID, account.id);
      await ctx.store(accountTable).set(body.accountID, { roleID: body.roleID });
      await ctx.services.sessions.changed(ctx.db);
      return {};
    },
    'POST /proxy': async ({ ctx, body }) => {
      if (!ctx.actor.isRoot) throw fail('permissionDenied');
      const target = await actAs(ctx, body.id);
      const why = can(accountActions, 'switchTo', target.status);
      if (why !== true) throw new Fail(reasonError(why));
      // also through several doors it is the first one who acts
      return ctx.services.sessions.open(ctx.db, target.id, {
        accountID: ctx.actor.proxyID ?? ctx.actor.accountID,
        openerID: ctx.actor.sessionID,
      });
    },
  },
  {
    params: { id: accountTable },
    rows: { 'GET /accounts': accountTable, 'GET /account/{id}/subs': accountTable },
    prepare: {
      'POST /account': async ({ ctx, body, request }) => {
        if (body.password === undefined) return undefined;
        if (ctx.actor.token) throw failFields([{ path: 'password', rule: 'passwordNeedsPerson' }]);
        const { auth } = placeOf(ctx.actor, body.auth);
        // nobody makes us hash for an account that is not made; asked again by the index
        return newHash(ctx, request, body.password, [], () => askingEmail(ctx, () => unused(ctx, auth, body.email)));
      },
      'PUT /account/password': async ({ ctx, body, request }) => {
        const one: Claim = { kind: 'account', key: `set ${ctx.actor.accountID} ${body.id}`, free: free.account };
        // nobody makes us hash for nothing; asked again in the transaction
        return newHash(ctx, request, body.password, [one], () => actAs(ctx, body.id));
      },
    },
  },
);

/** Who goes leaves its sub-accounts to whoever it was under, and its roles, as they are, to the root. */
async function leave(ctx: Context, account: AccountRow) {
  const held = (await ctx.services.sessions.held(ctx.db, [account.id])).get(account.id)!;
  await vouchFor(ctx, sql`"makerID" = ${account.id}`, held.keys);
  await sql`update account set "parentID" = (select "parentID" from account where id = ${account.id}), "updatedAt" = now(),
      "rowVersion" = "rowVersion" + 1 where "parentID" = ${account.id}`.execute(ctx.db);
}

/** A role or a token never holds more than whoever makes it. */
export function checkKeys(held: ReadonlySet<string>, keys: readonly string[]) {
  const foreign = keys.filter(key => !held.has(key));
  if (foreign.length)
    throw new Fail('parameter', {
      errorData: foreign.map(key => ({ path: 'permissionKeys', rule: 'unknown', bounds: { value: key } })),
    });
}

/**
 * Whoever changes a role acts on all who hold it: a root may, of its tree. Anybody else made the role or stands above
 * whoever did, may act as each of its holders, and holds all that it gives.
 */
async function mayTouch(ctx: Context, id: number): Promise<RoleRow> {
  const { actor, db } = ctx;
  const [role] = (await ctx.store(roleTable).need([id], 'id')) as [RoleRow];
  if (actor.isRoot) return role;
  if (!holds(actor, role) || role.makerID === null) throw fail('permissionDenied');
  const own = (await ctx.services.sessions.held(db, [actor.accountID])).get(actor.accountID);
  if (own?.roles.includes(id)) throw fail('permissionDenied');
  const held = await rows<{ id: number }>(db, sql`select id from account where "roleID" = ${id} and "deletedAt" is null`);
  const holders = held.map(one => one.id);
  const denied = await actAsDenied(ctx, [...holders, role.makerID]);
  if (holders.some(holder => denied.get(holder) !== null)) throw fail('permissionDenied');
  if (role.makerID !== actor.accountID && denied.get(role.makerID) === 'notBelow') throw fail('permissionDenied');
  return role;
}

/** Who vouches for a role: whoever made it. A root needs no name. */
const makerOf = ({ actor }: Context) => (actor.isRoot ? null : actor.accountID);

export const roleCalls = implement(
  roles,
  {
    'GET /roles': ({ ctx, query }) => ctx.store(roleTable).page(query),
    // the roles one may assign
    'GET /metaRoles': async ({ ctx, query }) =>
      (await ctx.store(roleTable).pick(['id', 'name', 'permissionKeys'], query.keyword ? [like('name')(query.keyword, 't')] : []))
        .filter(role => holds(ctx.actor, role))
        .map(({ id, name }) => ({ id, name })),
    'POST /role': async ({ ctx, body }) => {
      checkKeys(ctx.actor.permissions, body.permissionKeys);
      return { ids: await ctx.store(roleTable).add([body], { rootID: ctx.actor.rootID, makerID: makerOf(ctx) }) };
    },
    'PUT /role/{id}': async ({ ctx, params, body }) => {
      checkKeys(ctx.actor.permissions, body.permissionKeys);
      const role = await mayTouch(ctx, params.id);
      // its maker stays who it was: what that one does not hold would be given to nobody
      const maker = role.makerID && (await ctx.services.sessions.held(ctx.db, [role.makerID])).get(role.makerID);
      const added = body.permissionKeys.filter(key => !role.permissionKeys.includes(key));
      if (maker) checkKeys(maker.keys, added);
      await ctx.store(roleTable).set(params.id, body);
      await ctx.services.sessions.changed(ctx.db);
      return {};
    },
    'DELETE /role/{id}': async ({ ctx, params }) => {
      await mayTouch(ctx, params.id);
      // whoever gives it to somebody at this moment is waited for
      await ctx.store(roleTable).remove([params.id], 'id');
      const left = await rows<{ id: number }>(
        ctx.db,
        sql`update account set "roleID" = null, "updatedAt" = now(), "rowVersion" = "rowVersion" + 1
            where "roleID" = ${params.id} and "deletedAt" is null returning id`,
      );
      for (const { id } of left) ctx.note({ table: 'account', id, before: { roleID: params.id }, after: { roleID: null } });
      await ctx.services.sessions.changed(ctx.db);
      return {};
    },
  },
  { params: { id: roleTable }, rows: { 'GET /roles': roleTable } },
);
