/** Which checks a process makes, from what it is given: its services and the engines it knows. */
import type { NatsConnection } from '@nats-io/transport-node';
import { streams } from '#contract/edge/subjects.ts';
import { type Finding, Counted, fails, healthTimes, warns, well } from '#contract/system/health.ts';
import { foreignWrites } from '../bus/foreign.ts';
import type { IngestStats } from '../ingest/ingest.ts';
import { type Health, addPeer, addProcessCheck } from '../kit/health.ts';
import type { Services } from '../kit/services.ts';
import type { Settings } from '../settings.ts';
import {
  addBusChecks,
  addDatabaseChecks,
  addDiskCheck,
  addNodesCheck,
  addRelayCheck,
  addSetAsideCheck,
  addStoreCheck,
  addTasksCheck,
  addUpkeepCheck,
} from './checks.ts';
import { addCertificatesCheck } from './ending.ts';
import { addFailingSourceCheck } from './failing-source.ts';
import { addSignedZonesCheck } from './signed-zones.ts';
import { addDocumentsCheck, addOriginsCheck } from './refusals.ts';
import { addStoredRulesCheck, type StoredRules } from './stored-rules.ts';

/** What every process of ours looks at. */
export function watchProcess(health: Health, settings: Pick<Settings, 'dataFolder' | 'peers'>): void {
  addProcessCheck(health);
  if (settings.dataFolder) addDiskCheck(health, settings.dataFolder);
  for (const [name, url] of settings.peers) addPeer(health, name, url);
}

export function watchServices(
  health: Health,
  { database, analytics }: Pick<Services, 'database' | 'analytics'>,
  stored: StoredRules,
): void {
  addStoredRulesCheck(health, stored);
  addDatabaseChecks(health, database.pool);
  if (analytics) {
    addStoreCheck(health, analytics);
    addSetAsideCheck(health, analytics, database.pool);
  }
  addUpkeepCheck(health, database.db);
  addTasksCheck(health, database.pool);
  addCertificatesCheck(health, database.db);
  addSignedZonesCheck(health, database.db);
  addFailingSourceCheck(health, database.db);
}

/** The way of changes: the bus, its streams, who carries changes there, and the nodes at its end. */
export function watchBus(health: Health, nats: NatsConnection, { database }: Pick<Services, 'database'>): void {
  addBusChecks(health, nats, [streams.config, streams.up]);
  addRelayCheck(health, database.pool);
  addNodesCheck(health, database.pool);
  addOriginsCheck(health, database.pool);
  addDocumentsCheck(health, database.pool);
  const foreign = new Counted('foreignWrites.counted');
  health.add('foreignWrites', () => foreign.look(foreignWrites().count), { away: 'foreignWrites.counted' });
}

/** How long a trouble of ingest may last before it is called one: the bus and the store may be on their way back. */
const troubleSeconds = 5;

export function watchIngest(health: Health, nats: NatsConnection, stats: () => IngestStats): void {
  addBusChecks(health, nats, [streams.logs], () => stats().problem ?? undefined);
  health.add('ingest', ingestLook(stats), { away: 'ingest.away' });
  const unrepeated = new Counted('unrepeated.counted');
  health.add('unrepeated', () => unrepeated.look(stats().unrepeated), { away: 'unrepeated.counted' });
}

/** From the figures of ingest: a trouble that lasts, and lines that wait while no insert is finished. */
export function ingestLook(stats: () => IngestStats, now: () => number = () => performance.now()): () => Finding[] {
  let inserts = -1;
  let heldSince: number | undefined;
  let troubledSince: number | undefined;
  return () => {
    const seen = stats();
    const at = now();
    if (seen.held === 0 || seen.inserts !== inserts) heldSince = undefined;
    else heldSince ??= at;
    inserts = seen.inserts;
    troubledSince = seen.problem === null ? undefined : (troubledSince ?? at);
    const found: Finding[] = [];
    const late = Math.round((at - (heldSince ?? at)) / 1000);
    if (seen.problem !== null && at - troubledSince! >= troubleSeconds * 1000) {
      const detail = seen.problem;
      // the ledger and the rows are written to the store; everything else is the bus
      found.push(
        /^(manifest|insert|repeat)/.test(detail)
          ? fails('store.noWrites', { detail }, { key: 'ingest' })
          : well('store', undefined, 'ingest'),
        fails('ingest.stuck', { detail }, { value: late }),
      );
    } else if (seen.unsure !== null) found.push(warns('ingest.stuck', { detail: seen.unsure }, { value: late }));
    else if (late >= healthTimes.ingestLateSeconds) found.push(warns('ingest.late', { seconds: late }, { value: late }));
    else found.push(well('ingest', late));
    return found;
  };
}
