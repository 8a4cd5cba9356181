/** Ingest inside the control plane, or alone as `--services=ingest`. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startIngest } from '../ingest/ingest.ts';
import { Lease } from '../ingest/lease.ts';
import { databaseMembers } from '../ingest/member-source.ts';
import { connectServer } from '../bus/bus.ts';
import { closeBus } from '../bus/close.ts';
import type { Health } from '../kit/health.ts';
import { nodeLines, queueOf } from '../kit/metrics.ts';
import { loopback } from '../kit/networks.ts';
import { logger } from '../log.ts';
import type { Settings } from '../settings.ts';
import { analytics, ingestLoopMs } from '../store/analytics/client.ts';
import { migrate } from '../store/migrate.ts';
import { StartError } from '../store/start-error.ts';
import { migrateAnalytics } from '../store/analytics/migrate.ts';
import { startLogRoom } from '../system/log-room.ts';
import { watchIngest } from '../system/watch.ts';

/** Less than a start may take (bin/launch). */
const schemaWaitMs = 45_000;

export async function startIngestService(settings: Settings, health: Health): Promise<{ stop(): Promise<void> }> {
  const { natsUrl, natsCreds, busTls, clickhouse } = settings;
  if (!natsUrl || !natsCreds || !clickhouse) throw new Error('the ingest service needs NATS_URL, NATS_CREDS and CLICKHOUSE_URL');
  const db = analytics(clickhouse);
  // A store that takes longer is waited for by ingest's own loop, where it is seen; whoever starts us would call us dead.
  await Promise.race([migrateAnalytics(db), delay(schemaWaitMs, undefined, { ref: false })]);
  // Whoever starts first brings the schema up to date. Without the database ingest goes on with what it knows.
  await migrate(settings.databaseUrl).catch(error => {
    if (error instanceof StartError) throw error;
    logger.warn({ error: (error as Error).message }, 'ingest: the database is away; zones and sites are those known before');
  });
  const members = databaseMembers(settings.databaseUrl);
  const nc = await connectServer(natsUrl, natsCreds, busTls);
  const turn = health.loop('ingest', ingestLoopMs);
  const lease = new Lease(settings.databaseUrl, turn);
  const room = await startLogRoom(nc, diskOfBus(settings));
  const ingest = startIngest({
    nc,
    db,
    members,
    turn,
    leading: isOver => lease.wait(isOver),
    stored: nodeLines,
    busMaxBytes: room.bytes,
    log: (event, facts) => logger.info({ ...facts }, `ingest: ${event}`),
  });
  watchIngest(health, nc, ingest.stats);
  queueOf('ingestLines', ingest, one => ({ waiting: one.stats().held }));
  return {
    async stop() {
      room.stop();
      await closeBus(nc, () => ingest.stop());
      await lease.stop();
      await members.close();
    },
  };
}

/** The folder whose disk the bus fills, if it is the embedded one. */
function diskOfBus({ natsUrl, dataFolder }: Settings): string | undefined {
  if (!natsUrl || natsUrl.includes(',') || !dataFolder || !existsSync(join(dataFolder, 'nats'))) return undefined;
  return loopback.has(new URL(natsUrl).hostname.replace(/^\[|\]$/g, '')) ? dataFolder : undefined;
}
