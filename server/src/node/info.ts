/** What machine a node is and how busy it is, out of its last heartbeat (contract: info.ts). */
import { sql } from 'kysely';
import { fail } from '#contract/errors.ts';
import { type NodeInfoKey, nodeInfoKeys } from '#contract/node/info-keys.ts';
import { nodeInfo } from '#contract/node/info.ts';
import type { Context } from '../kit/context.ts';
import { implement } from '../kit/implement.ts';
import { row } from '../store/db.ts';
import { stateOf } from './nodes.ts';
import { type NodeRow, nodeTable } from './tables.ts';

type Machine = Record<string, unknown>;
interface Told {
  machine: Machine | null;
  clockMs: number | null;
  at: Date | null;
}

/** What it said last; `seconds`: not longer ago. */
const toldBy = async (ctx: Context, nodeID: number) =>
  (await row<Told>(
    ctx.db,
    sql`select beat->'machine' as machine, (beat->>'clockMs')::float8 as "clockMs", "lastBeat" as at from node where id = ${nodeID}`,
  ))!;

const number = (value: unknown) => (typeof value === 'number' && Number.isFinite(value) ? value : null);
const words = (value: unknown, most: number) => (typeof value === 'string' ? value.slice(0, most) : null);
const whole = (value: unknown) => {
  const found = number(value);
  return found === null ? null : Math.max(0, Math.round(found));
};

/** A figure or a word that stays on its line. */
const plain = (value: unknown) =>
  typeof value === 'number' ? String(value) : typeof value === 'string' ? value.replaceAll(/\p{Cc}/gu, ' ') : undefined;

function linesOf(node: NodeRow, { machine, at }: Told): string {
  const said: unknown = machine?.['load'];
  const load: unknown[] = Array.isArray(said) ? said : [];
  const given: Partial<Record<NodeInfoKey, unknown>> = {
    ...machine,
    status: stateOf(node),
    load1: load[0],
    load5: load[1],
    load15: load[2],
    at: at === null ? undefined : new Date(at).toISOString(),
  };
  return nodeInfoKeys
    .flatMap(key => {
      const value = plain(given[key]);
      return value === undefined ? [] : [`${key}=${value}\n`];
    })
    .join('');
}

export const nodeInfoCalls = implement(
  nodeInfo,
  {
    'GET /node/{id}/system': async ({ ctx, params }) => {
      const node = await ctx.store(nodeTable).get(params.id);
      const { machine, clockMs } = await toldBy(ctx, params.id);
      return {
        cores: whole(machine?.['cores']),
        cpu: words(machine?.['cpu'], 100),
        kernel: words(machine?.['kernel'], 100),
        nginx: words(machine?.['nginx'], 40),
        node: words(machine?.['node'], 40),
        memoryBytes: whole(machine?.['memoryBytes']),
        diskBytes: whole(machine?.['diskBytes']),
        uptimeSeconds: whole(machine?.['uptimeSeconds']),
        version: node.version,
        addresses: node.addresses,
        lastBeat: node.lastBeat,
        startedAt: node.startedAt,
        clockMs: number(clockMs),
      };
    },
    'GET /node/{id}/node-info': async ({ ctx, params }) => {
      const node = await ctx.store(nodeTable).get(params.id);
      const told = await toldBy(ctx, params.id);
      // figures of a node that says nothing would be taken for what it does now
      const isSilent = ['offline', 'reconnect', 'natsError'].includes(node.status) || node.silentSince !== null;
      if (!told.machine || isSilent) throw fail('nodeCommunication');
      return linesOf(node, told);
    },
  },
  { params: { id: nodeTable } },
);
