/** What the control plane looks at: its engines, the way of changes to the nodes, the nodes, the disk. */
import { statfs } from 'node:fs/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import { streams } from '#contract/edge/subjects.ts';
import { releasesApart, releasesMost } from '#contract/node/bundle.ts';
import { type Finding, fails, healthTimes, keyOf, nodeCheckIDs, readChecks, warns, well } from '#contract/system/health.ts';
import { diskFinding, diskFrom } from '#contract/system/room.ts';
import { setAsideOf } from '../analytics/aside.ts';
import { reachesUs } from '../bus/join.ts';
import type { Queryable } from '../compile/load.ts';
import { type Passed, passedBy } from '../node/relay-passed.ts';
import type { Health } from '../kit/health.ts';
import { queueOf } from '../kit/metrics.ts';
import type { Analytics } from '../store/analytics/client.ts';
import { deafFor, type Db } from '../store/db.ts';
import { version } from './overview.ts';
import { readSetting } from './settings.ts';

/** It answers a question; and, less often, it takes a change: on a full disk the one works without the other. */
export function addDatabaseChecks(health: Health, db: Queryable): void {
  let writes: Finding = well('database');
  let wroteAt = -Infinity;
  health.add(
    'database',
    async () => {
      await db.query('select 1');
      if (performance.now() - wroteAt > 9000) {
        wroteAt = performance.now();
        writes = await db.query('update "healthProbe" set at = clock_timestamp()').then(
          () => well('database'),
          (error: Error) => fails('database.noWrites', { detail: error.message.slice(0, 300) }),
        );
        if (writes.state === 'fail') wroteAt = -Infinity;
      }
      const deaf = deafFor(healthTimes.deafMs);
      return deaf.length ? [writes, warns('database.deaf', { detail: deaf.join(', ') }, { key: 'notices' })] : writes;
    },
    { away: 'database.away', slow: 'database.slow' },
  );
}

interface StreamInfo {
  config: { name: string; max_bytes?: number };
  state: { bytes: number; messages: number };
}

/** JetStream answers a question about every stream it holds: an open port says nothing. */
export async function askStreams(nats: NatsConnection, timeout = healthTimes.answerMs - 200): Promise<StreamInfo[]> {
  const reply = await nats.request('$JS.API.STREAM.LIST', '', { timeout });
  const answer = reply.json<{ error?: { description?: string }; streams?: StreamInfo[] | null }>();
  if (answer.error) throw new Error(answer.error.description ?? 'JetStream refused the question');
  return answer.streams ?? [];
}

const wantedStreamBytes = 64 * 2 ** 20;
/** @param refused why a stream could not be made, as its maker knows */
export function addBusChecks(
  health: Health,
  nats: NatsConnection,
  wanted: readonly string[],
  refused: (stream: string) => string | undefined = () => undefined,
): void {
  health.add(
    'bus',
    async () => {
      const found = await askStreams(nats).catch((error: Error) => {
        // figures speak every language
        if (/timeout/i.test(error.message)) throw new Error(`> ${healthTimes.answerMs / 1000} s`);
        throw error;
      });
      return [well('bus'), ...wanted.map(name => streamFinding(name, found, refused(name)))];
    },
    { away: 'bus.away' },
  );
}

function streamFinding(name: string, found: readonly StreamInfo[], refused: string | undefined): Finding {
  const info = found.find(one => one.config.name === name);
  if (!info) return fails('streams.missing', { stream: name, detail: refused ?? 'it is about to be made' }, { key: name });
  const most = info.config.max_bytes ?? -1;
  const value = info.state.bytes;
  const percent = most > 0 ? Math.round((100 * value) / most) : 0;
  if (percent >= 90) return warns('streams.nearlyFull', { stream: name, percent }, { key: name, value });
  if (name === streams.logs && most > 0 && most < wantedStreamBytes)
    return warns('streams.small', { stream: name, mb: Math.round(most / 1e6) }, { key: name, value });
  return well('streams', value, name);
}

/** The number by which the relay's lock is known (bus/relay.ts). */
const relayLock = 72_011;
/** Changes on their way to the bus: how long the oldest waits, and whether anybody carries them. */
export function addRelayCheck(health: Health, db: Queryable): void {
  const outbox = { waiting: 0, oldestSeconds: 0 };
  queueOf('outbox', outbox, one => ({ ...one }));
  health.add(
    'relay',
    async () => {
      const { rows } = await db.query({
        name: 'relay-progress',
        text: `select count(*)::int as count, coalesce(extract(epoch from clock_timestamp() - min("committedAt")), 0)::float8 as seconds,
          exists (select from pg_locks where locktype = 'advisory' and classid = 0 and objid = ${relayLock} and objsubid = 1 and granted
            and database = (select oid from pg_database where datname = current_database())) as held
          from outbox`,
        values: [],
      });
      const { count, seconds, held } = rows[0] as { count: number; seconds: number; held: boolean };
      const age = Math.round(seconds);
      outbox.waiting = count;
      outbox.oldestSeconds = seconds;
      if (count > 0 && age >= healthTimes.relayLateSeconds) {
        return held
          ? fails('relay.late', { count, seconds: age }, { value: age })
          : fails('relay.idle', { detail: `no process holds the relay; ${count} changes wait for ${age} s` }, { value: age });
      }
      return well('relay', age);
    },
    { away: 'database.away' },
  );
}

export function addStoreCheck(health: Health, store: Analytics): void {
  health.add(
    'store',
    async () => {
      await store.query('SELECT count() AS n FROM (SELECT 1 FROM access LIMIT 1)', {}, { max_execution_time: 5 });
      return well('store');
    },
    { away: 'store.away', slow: 'store.slow' },
  );
}

export function addDiskCheck(health: Health, folder: string, key?: string): void {
  health.add(
    'disk',
    async () => {
      try {
        return diskFinding(folder, diskFrom(await statfs(folder)), key);
      } catch (error) {
        return fails('disk.unknown', { folder, detail: (error as Error).message }, key === undefined ? {} : { key });
      }
    },
    { away: 'disk.unknown' },
  );
}

interface NodeRow extends Passed {
  id: string;
  name: string;
  status: string;
  /** as it says; '': it has said nothing */
  version: string;
  silent: number | null;
  /** it is paused, and says nothing */
  isMute: boolean;
  /** it asks a server for credentials */
  reaches: boolean;
  problem: string | null;
  checks: unknown;
  /** its clock is ahead of ours by so much */
  clockMs: number | null;
  refused: number;
  unserved: number;
  seconds: number;
  /** nodes of all zones that are heard of */
  online: number;
}
/** How many nodes are told of by name; the worst come first. */
const nodesMax = 200;

/** Each node of a zone: is it heard of, does it serve what was accepted, what does it say itself. `key` names it (`keyOf`). */
export function addNodesCheck(health: Health, db: Queryable): void {
  health.add(
    'nodes',
    async () => {
      const { rows } = await db.query({
        name: 'node-health',
        text: `select n.id, n.name, n.status, n.version, n."silentSince" is not null as "isMute", ${reachesUs('n')} as reaches, extract(epoch from clock_timestamp() - coalesce(n."lastBeat", n."createdAt"))::float8 as silent,
            coalesce(case when n."cutUntil" > clock_timestamp() then n."busProblem" end, n.beat->>'problem') as problem, n.beat->'checks' as checks, jsonb_array_length(n.refused) as refused,
            (n.beat->>'clockMs')::float8 as "clockMs",
            o.edges, o.passing, o.why, o."isPassed", coalesce(late.count, 0)::int as unserved, coalesce(late.seconds, 0)::float8 as seconds,
            (select count(*) from node o where o."deletedAt" is null and o."zoneID" is not null and o.status in ('normal', 'error'))::int as online
          from node n left join lateral (
            select count(*) as count, extract(epoch from clock_timestamp() - min(p."committedAt")) as seconds
            from publication p where p."zoneID" = n."zoneID" and p.seq > n."appliedSeq"
              -- one that has just come to its zone reads it first
              and greatest(p."committedAt", n."updatedAt") < clock_timestamp() - $1 * interval '1 second'
          ) late on n.status in ('normal', 'error')
          left join ${passedBy('n')} o on true
          where n."deletedAt" is null and n."zoneID" is not null and (n.status <> 'paused' or n."silentSince" is not null)
            and (n.status <> 'normal' or n.beat->>'problem' is not null or n.refused <> '[]' or late.count > 0 or o."isPassed"
              or coalesce(jsonb_array_length(n.beat->'checks'), 0) > 0 or n.version <> all($2)
              or abs((n.beat->>'clockMs')::float8) > ${healthTimes.clockSeconds * 1000})
          order by late.count desc nulls last, n.id limit ${nodesMax}`,
        values: [healthTimes.unservedSeconds, ['', version]],
      });
      const nodes = rows as NodeRow[];
      // One node that serves nothing new, or says so, is that node's trouble. When half of them do, it is ours.
      const isOurs = 2 * nodes.filter(row => row.unserved > 0).length >= (nodes[0]?.online ?? 0);
      const found = nodes.flatMap(row => nodeFindings(row, isOurs));
      return found.length ? found : [well('nodes')];
    },
    { away: 'database.away' },
  );
}

/** How a node says that it meets subjects it does not know: one of the first release takes them for another zone's. */
const isOlder = ({ id, params }: Finding) =>
  id === 'configuration' && /documents of another zone|older than the control plane/.test(String(params?.['detail']));

const ownKey = ({ key }: Finding) => (key !== undefined && /^[\w-]{1,40}$/.test(key) ? key : undefined);

function nodeFindings(row: NodeRow, isOurs: boolean): Finding[] {
  const node = row.name;
  const key = keyOf('node', row.id);
  // it has just joined or was just resumed: its first word is on the way, or it is offline soon
  if (row.status === 'unknown') return [];
  if (row.isMute) {
    const seconds = Math.round(row.silent ?? 0);
    return [warns('nodes.pausedSilent', { node, seconds }, { key, value: seconds })];
  }
  if (row.status === 'offline' || row.status === 'reconnect') {
    const seconds = Math.round(row.silent ?? 0);
    return [
      warns(
        row.status === 'reconnect' || row.reaches ? 'nodes.notOnBus' : 'nodes.offline',
        { node, seconds },
        { key, value: seconds },
      ),
    ];
  }
  if (readChecks(row.checks, 20).some(isOlder)) return [warns('nodes.older', { node }, { key })];
  const found: Finding[] = readChecks(row.checks, 20)
    // its word is no more than that of one node, of itself
    .filter(check => check.state !== 'ok' && nodeCheckIDs.includes(check.id))
    // what fails on one node is that node's: the installation goes on without it; of one check it may say several things
    .map(check => ({ ...check, state: 'warn', key: keyOf('node', row.id, ownKey(check)), params: { ...check.params, node } }));
  if (row.version !== '' && releasesApart(row.version, version) > releasesMost)
    found.push(warns('nodes.apart', { node, version: row.version, own: version, most: releasesMost }, { key }));
  if (row.clockMs !== null && Math.abs(row.clockMs) > healthTimes.clockSeconds * 1000)
    found.push(
      warns('nodes.clock', { node, seconds: Math.round(row.clockMs / 1000) }, { key, value: Math.round(row.clockMs / 1000) }),
    );
  if (row.problem !== null && !found.length) found.push(warns('nodes.problem', { node, detail: row.problem }, { key }));
  if (row.isPassed)
    found.push(
      warns(
        'nodes.relayPassed',
        { node, count: row.passing!, edges: row.edges!, detail: row.why! },
        // several things may be wrong with one relay
        { key: keyOf('node', row.id, 'relay'), value: row.passing! },
      ),
    );
  if (row.refused > 0) found.push(warns('nodes.refused', { node, count: row.refused }, { key }));
  if (row.unserved > 0)
    found.push(
      (isOurs ? fails : warns)(
        'nodes.unserved',
        { node, count: row.unserved, seconds: Math.round(row.seconds) },
        { key, value: row.unserved },
      ),
    );
  return found;
}

/** Is what nobody needs any more cleared away? An installation that has just begun has nothing to show yet. */
export function addUpkeepCheck(health: Health, db: Db): void {
  const begun = Date.now();
  health.add(
    'upkeep',
    async () => {
      const run = await readSetting(db, null, 'retentionRun');
      if (run?.problem) return warns('upkeep.failing', { detail: run.problem });
      const seconds = Math.round((Date.now() - Math.max(begun, Date.parse(run?.at ?? '') || 0)) / 1000);
      const hours = Math.floor(seconds / 3600);
      return seconds > healthTimes.upkeepLateSeconds
        ? warns('upkeep.late', { hours }, { value: seconds })
        : well('upkeep', seconds);
    },
    { away: 'database.away' },
  );
}

/** Tasks whose turn it is and that nobody works on, and those of whose worker nothing was heard. One that waits for others of its owner is not late. */
export function addTasksCheck(health: Health, db: Queryable): void {
  health.add(
    'tasks',
    async () => {
      const { rows } = await db.query({
        name: 'tasks-late',
        text: `select count(*)::int as count, coalesce(max(abs(extract(epoch from clock_timestamp() - coalesce(t."beatAt", greatest(t."runAt", t."updatedAt"))))), 0)::float8 as seconds
          from task t where t."endedAt" is null
            and (coalesce(t."beatAt", greatest(t."runAt", t."updatedAt")) < clock_timestamp() - $1 * interval '1 second'
              -- heard of before the clock was set back
              or t."beatAt" > clock_timestamp() + $1 * interval '1 second')
            and not exists (select from task o where t."beatAt" is null and o."rootID" = t."rootID" and o.kind = t.kind and o.id <> t.id and o."endedAt" is null
              and greatest(o."beatAt", o."updatedAt") > clock_timestamp() - $1 * interval '1 second')`,
        values: [healthTimes.tasksLateSeconds],
      });
      const { count, seconds } = rows[0] as { count: number; seconds: number };
      const age = Math.round(seconds);
      return count > 0 ? warns('tasks.late', { count, seconds: age }, { value: age }) : well('tasks');
    },
    { away: 'database.away', everyMs: 15_000 },
  );
}

/** Lines of nodes that counted for nobody in the last while: each node's are that node's, and its operator's to know. */
export function addSetAsideCheck(health: Health, store: Analytics, db: Queryable): void {
  health.add(
    'setAside',
    async () => {
      const found = await setAsideOf(store, undefined, new Date(Date.now() - healthTimes.countedMinutes * 60_000));
      const counts = new Map<number, number>();
      for (const { nodeID, lines } of found) counts.set(nodeID, (counts.get(nodeID) ?? 0) + Number(lines));
      if (counts.size === 0) return well('setAside');
      const { rows } = await db.query({
        text: 'select id, name from node where id = any($1::bigint[])',
        values: [[...counts.keys()]],
      });
      const names = new Map((rows as { id: string; name: string }[]).map(row => [Number(row.id), row.name]));
      return [...counts]
        .slice(0, nodesMax)
        .map(([id, count]) =>
          warns('setAside.counted', { node: names.get(id) ?? id, count }, { key: keyOf('node', id), value: count }),
        );
    },
    { away: 'store.away', everyMs: 15_000 },
  );
}
