/** Nodes of an operator, and what a node itself calls. */
import { sql } from 'kysely';
import { Fail, fail } from '#contract/errors.ts';
import { type nodeActions, nodeCan, type NodeState, type Reason, reasonError, type UpgradeState } from '#contract/states.ts';
import { isRelease, releasesApart, releasesMost } from '#contract/node/bundle.ts';
import { asideHours, nodes, nodeSelf } from '#contract/node/nodes.ts';
import { setAsideOf } from '../analytics/aside.ts';
import type { Context } from '../kit/context.ts';
import { newToken, sha256 } from '../kit/crypto.ts';
import { implement } from '../kit/implement.ts';
import type { JoinBody, NodeGate, Services } from '../kit/services.ts';
import { eachOf, removeEach } from '../kit/removal.ts';
import { contains } from '../kit/table.ts';
import { AnalyticsError } from '../store/analytics/client.ts';
import { row } from '../store/db.ts';
import { version } from '../kit/own-version.ts';
import { Door } from './door.ts';
import { checkFree } from './line-members.ts';
import { type NodeRow, nodeTable, zoneTable } from './tables.ts';

const joinTokenHours = 24;
/**
 * What an operator pastes on a machine; '' where no machine elsewhere reaches us. With an authority of our own the key that must answer is
 * pinned: curl then believes nobody else, whatever `-k` says of certificates.
 */
function lineOf(told: Services['told'], token: string): string {
  if (!told) return '';
  return `curl -fsS${told.pin ? `k --pinnedpubkey '${told.pin}'` : ''} ${told.url}/join/${token} | sh`;
}
const joined = sql`t."zoneID" is not null`;
const waiting = sql`t."zoneID" is null`;

export const nameOf = (node: NodeRow) => node.name;
/** A node without a zone is uninitialized, whatever its heartbeat says. */
export const stateOf = (node: Pick<NodeRow, 'zoneID' | 'status'>): NodeState =>
  node.zoneID === null ? 'uninitialized' : node.status;
/** As the operator sees it: what it runs counts for more than what came of the last try. `offered`: undefined where nothing is. */
export const standing = (node: Pick<NodeRow, 'upgrade' | 'version'>, offered: string | undefined): UpgradeState =>
  node.upgrade === 'updating' || offered === undefined
    ? node.upgrade
    : node.version === offered
      ? 'updateComplete'
      : node.upgrade === 'updateComplete'
        ? 'notUpdated'
        : node.upgrade;
/** Refuses what the node's state does not allow. */
export function allow(action: keyof typeof nodeActions, node: NodeRow) {
  const why = nodeCan(action, stateOf(node), node.silentSince !== null);
  if (why !== true) refuse(why);
}
export function refuse(why: Reason): never {
  throw new Fail(reasonError(why), { errorData: [{ path: '', rule: 'refused', bounds: { why } }] });
}
/** What is so far apart does not understand the other. @throws nodeVersionMismatch, with what to do */
export function checkApart(version: string, offered: string): void {
  if (releasesApart(version, offered) <= releasesMost) return;
  throw fail('nodeVersionMismatch', {
    errorData: [{ path: '', rule: 'nodeApart', bounds: { version, offered, most: releasesMost } }],
  });
}
/** A node's zone is part of its credentials: it fetches them again once this is committed. */
export const tell = (ctx: Context, id: number) => ctx.after.push(() => void ctx.services.nodes?.notify(id).catch(() => {}));

/** As they are shown: their state with the zone they have or not, what came of the last upgrade by what runs now, and what was set aside of their logs. */
const shown = async <T extends { data: NodeRow[] }>(ctx: Context, page: T): Promise<T> => {
  const offered = ctx.services.offer?.bundle()?.version;
  const data = page.data.map(node => ({ ...node, status: stateOf(node), upgrade: standing(node, offered) }));
  return withAside(ctx, { ...page, data });
};

/** Nodes with what was set aside of their logs; without it where the store cannot tell. */
async function withAside<T extends { data: NodeRow[] }>(ctx: Context, page: T): Promise<T> {
  const { analytics } = ctx.services;
  if (!analytics) return page;
  const since = new Date(Date.now() - asideHours * 3_600_000);
  const ids = page.data.map(node => node.id);
  const found = await setAsideOf(analytics, ids, since).catch((error: unknown) => {
    if (error instanceof AnalyticsError) return undefined; // null says that it is not known
    throw error;
  });
  if (!found) return page;
  const of = (id: number) =>
    found.filter(one => one.nodeID === id).map(({ reason, lines, lastAt }) => ({ reason, lines, lastAt }));
  return { ...page, data: page.data.map(node => ({ ...node, aside: of(node.id) })) };
}

export const nodeCalls = implement(
  nodes,
  {
    'GET /nodes': async ({ ctx, query }) => shown(ctx, await ctx.store(nodeTable).page(query, [joined])),
    'GET /nodes/initialized': async ({ ctx, query }) => shown(ctx, await ctx.store(nodeTable).page(query, [joined])),
    'GET /nodes/uninitialized': async ({ ctx, query }) => shown(ctx, await ctx.store(nodeTable).page(query, [waiting])),
    'GET /zone/{id}/nodes': async ({ ctx, params, query }) =>
      shown(ctx, await ctx.store(nodeTable, { zoneID: params.id }).page(query)),
    'GET /metaNodes': async ({ ctx, query }) => {
      const conditions = contains(query.keyword, 'name');
      if (query.zoneID) conditions.push(sql`t."zoneID" = ${query.zoneID}`);
      return ctx.store(nodeTable).pick(['id', 'name'], conditions, sql`t.name`);
    },
    'POST /nodes/initialize': async ({ ctx, body }) => {
      await ctx.store(zoneTable).get(body.zoneID, 'zoneID');
      return eachOf(ctx, ctx.store(nodeTable), body.ids, nameOf, async node => {
        // into the zone where it is already: nothing to do
        if (node.zoneID === body.zoneID) return;
        allow('initialize', node);
        await ctx.store(nodeTable).set(node.id, { zoneID: body.zoneID });
        tell(ctx, node.id);
      });
    },
    'POST /nodes/deinitialize': async ({ ctx, body }) => {
      return eachOf(ctx, ctx.store(nodeTable), body.ids, nameOf, async node => {
        allow('deinitialize', node);
        await checkFree(ctx, node.id);
        await ctx.store(nodeTable).set(node.id, { zoneID: null });
        tell(ctx, node.id);
      });
    },
    'PATCH /node': async ({ ctx, body }) => {
      const store = ctx.store(nodeTable);
      const before = await store.get(body.id);
      const isOther = body.type !== undefined && body.type !== before.type;
      // a relay answers no visitors
      if (isOther && body.type === 'relay') await checkFree(ctx, body.id);
      await store.set(body.id, body);
      if (isOther) tell(ctx, body.id);
      return {};
    },
    'PATCH /node/status': async ({ ctx, body }) => {
      // paused: a backup of its lines (answering.ts); it goes on serving whoever comes. Heartbeats tell the state otherwise.
      return eachOf(ctx, ctx.store(nodeTable), body.ids, nameOf, async node => {
        if ((body.status === 'paused') === (node.status === 'paused') && node.zoneID !== null) return;
        allow(body.status === 'paused' ? 'pause' : 'resume', node);
        if (body.status !== 'paused') await ctx.services.licences.notOver(ctx.db, ctx.actor.rootID, 'nodes');
        await ctx.store(nodeTable).set(node.id, { status: body.status === 'paused' ? 'paused' : 'unknown' });
      });
    },
    'DELETE /node': ({ ctx, body }) =>
      removeEach(
        ctx,
        ctx.store(nodeTable),
        body.ids,
        node => node.name,
        async ({ id }) => {
          await checkFree(ctx, id);
          tell(ctx, id);
        },
      ),
    'POST /nodes/joinToken': async ({ ctx, body }) => {
      if (body.zoneID) await ctx.store(zoneTable).get(body.zoneID, 'zoneID');
      await ctx.services.licences.need(ctx.db, ctx.actor.rootID, 'nodes');
      const token = newToken(24);
      const expiredAt = new Date(Date.now() + joinTokenHours * 3_600_000).toISOString();
      const made = await row<{ id: number }>(
        ctx.db,
        sql`insert into "joinToken" (hash, "clientID", "makerID", name, "zoneID", type, "expiredAt")
        values (${sha256(token)}, ${ctx.actor.rootID}, ${ctx.actor.accountID}, ${body.name ?? null}, ${body.zoneID ?? null}, ${body.type ?? 'edge'}, ${expiredAt}) returning id`,
      );
      ctx.note({
        table: 'joinToken',
        id: made!.id,
        after: { name: body.name ?? null, zoneID: body.zoneID ?? null, type: body.type ?? 'edge', expiredAt },
      });
      return { token, expiredAt, command: lineOf(ctx.services.told, token) };
    },
  },
  {
    params: { id: zoneTable },
    rows: {
      'GET /nodes': nodeTable,
      'GET /nodes/initialized': nodeTable,
      'GET /nodes/uninitialized': nodeTable,
      'GET /zone/{id}/nodes': nodeTable,
    },
  },
);

export const nodeSelfCalls = implement(nodeSelf, {
  'POST /join': async ({ ctx, body }) => {
    // before its token is used; of what is no version of ours nothing is known, and it is seen once it has joined (`nodes.apart`)
    if (isRelease(body.version)) checkApart(body.version, version);
    const { gate, door } = gateOf(ctx);
    const token = `token ${sha256(body.token).toString('base64url')}`;
    return gate.join(body, act =>
      door.enter(
        ctx.ip,
        token,
        () => gate.isExpected(body),
        () => withRoom(ctx, body, act),
      ),
    );
  },
  'POST /credentials': async ({ ctx, body }) => {
    const { gate, door } = gateOf(ctx);
    return gate.renew(body, act => door.enter(ctx.ip, `node ${body.nodeID}`, () => gate.isOurs(body, ctx.ip), act));
  },
});

/** Joins while there is room for one more: two machines that join at once are one after the other. @throws nodesExceeded */
async function withRoom<T>(ctx: Context, { token, publicKey }: JoinBody, join: () => Promise<T>): Promise<T> {
  const { database, licences } = ctx.services;
  const open = await row<{ clientID: number }>(
    ctx.db,
    sql`select "clientID" from "joinToken" where hash = ${sha256(token)} and "usedAt" is null and "expiredAt" > now()
      and not exists (select from node where "publicKey" = ${publicKey} and "deletedAt" is null)`,
  );
  // one that is used may be asked for an answer that was lost, and who is a node takes no other's room; of any other token nothing is made
  if (!open) return join();
  return database.writes.transaction().execute(async db => {
    await licences.need(db, open.clientID, 'nodes');
    return join();
  });
}

const doors = new WeakMap<NodeGate, Door>();
function gateOf(ctx: Context): { gate: NodeGate; door: Door } {
  const gate = ctx.services.nodes;
  if (!gate) throw fail('nodeCommunication');
  let door = doors.get(gate);
  if (!door) doors.set(gate, (door = new Door()));
  return { gate, door };
}
