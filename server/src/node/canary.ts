/** How far a zone's change is that one node has before the others (bus/canary.ts), and what its operator does when it was stopped. */
import { sql } from 'kysely';
import type * as z from 'zod/mini';
import { type Canary, zoneCanary } from '#contract/node/canary.ts';
import type { Context } from '../kit/context.ts';
import { implement } from '../kit/implement.ts';
import { row } from '../store/db.ts';
import { zonePortTable, zoneTable } from './tables.ts';

type Facts = NonNullable<z.output<typeof Canary>['accepted']>;
interface Held {
  id: number;
  state: 'trying' | 'stopped';
  nodeID: number | null;
  nodeName: string | null;
  why: 'refused' | 'ill' | 'offline' | 'silent' | null;
  detail: string | null;
  beganAt: string;
  endedAt: string | null;
  accepted: Facts;
  wanted: Facts;
}
/** Of what takes a reload, those that are settings; ports are rows. */
const settings = ['http2', 'http3', 'proxyProtocol', 'resource'] as const;
const none = {
  state: 'none' as const,
  ...{ nodeID: null, nodeName: null, why: null, detail: '', beganAt: null, endedAt: null, accepted: null, wanted: null },
};

const heldBack = (ctx: Context, zoneID: number, lock = false) =>
  row<Held>(
    ctx.db,
    sql`select c.id, c.state, c."nodeID", n.name as "nodeName", c.why, c.detail, c."beganAt", c."endedAt", c.accepted, c.wanted
        from "zoneCanary" c left join node n on n.id = c."nodeID" where c."zoneID" = ${zoneID} and c.state <> 'passed' ${lock ? sql`for update of c` : sql``}`,
  );

/** A setting of the zone becomes what it was, as its own call would write it. */
async function setBack(ctx: Context, zoneID: number, name: (typeof settings)[number], value: object): Promise<void> {
  const text = JSON.stringify(value);
  const old = await row<{ value: object | null }>(
    ctx.db,
    sql`select value from "scopedSetting" where name = ${name} and "zoneID" = ${zoneID} for update`,
  );
  const changed = await row(
    ctx.db,
    sql`insert into "scopedSetting" as x (name, "zoneID", value) values (${name}, ${zoneID}, ${text}::jsonb)
        on conflict ("zoneID", name) where "zoneID" is not null do update
          set value = excluded.value, version = x.version + 1, "updatedAt" = now() where x.value <> excluded.value
        returning 1 as done`,
  );
  if (changed) ctx.note({ table: `${name}.zone`, id: zoneID, before: { ...old?.value }, after: { ...value } });
}

export const zoneCanaryCalls = implement(
  zoneCanary,
  {
    'GET /canary': async ({ ctx, params }) => {
      const held = await heldBack(ctx, params.id);
      if (!held) return none;
      const { id: _, ...told } = held;
      return { ...told, detail: told.detail ?? '' };
    },
    'POST /canary/retry': async ({ ctx, params }) => {
      const held = await heldBack(ctx, params.id, true);
      if (held?.state !== 'stopped') return {};
      await sql`update "zoneCanary" set state = 'trying', "nodeID" = null, tries = 0 where "zoneID" = ${params.id}`.execute(
        ctx.db,
      );
      ctx.note({
        table: 'zoneCanary',
        id: held.id,
        before: { state: 'stopped', nodeID: held.nodeID },
        after: { state: 'trying', nodeID: null },
      });
      ctx.touch('zone', params.id);
      return {};
    },
    'POST /canary/takeBack': async ({ ctx, params }) => {
      const held = await heldBack(ctx, params.id, true);
      if (!held) return {};
      const { accepted, wanted } = held;
      for (const name of settings)
        if (JSON.stringify(accepted[name]) !== JSON.stringify(wanted[name])) await setBack(ctx, params.id, name, accepted[name]);
      const ports = ctx.store(zonePortTable, { zoneID: params.id });
      const found = await ports.pick(['id', 'port', 'scheme']);
      const has = (all: readonly { port: number; scheme: string }[], one: { port: number; scheme: string }) =>
        all.some(({ port, scheme }) => port === one.port && scheme === one.scheme);
      // of layer 4 nothing is held back
      const surplus = found.filter(one => has(wanted.ports, one) && !has(accepted.ports, one));
      if (surplus.length) await ports.remove(surplus.map(one => one.id));
      const lacking = accepted.ports.filter(one => !has(found, one));
      for (const one of lacking) await ports.add([{ ...one, memo: '' }], {}, 'ports');
      ctx.touch('zone', params.id);
      return {};
    },
  },
  { params: { id: zoneTable } },
);
