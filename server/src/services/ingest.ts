/** Ingest inside the control plane, or alone as `--services=ingest`. */
import { startIngest } from '../ingest/ingest.ts';
import { connectServer } from '../bus/bus.ts';
import type { Health } from '../kit/health.ts';
import { logger } from '../log.ts';
import type { Settings } from '../settings.ts';
import { analytics } from '../store/analytics/client.ts';
import { migrateAnalytics } from '../store/analytics/migrate.ts';
import { watchIngest } from '../system/watch.ts';

export async function startIngestService(settings: Settings, health: Health): Promise<{ stop(): Promise<void> }> {
  const { natsUrl, natsCreds, busTls, clickhouse } = settings;
  if (!natsUrl || !natsCreds || !clickhouse) throw new Error('the ingest service needs NATS_URL, NATS_CREDS and CLICKHOUSE_URL');
  const db = analytics(clickhouse);
  await migrateAnalytics(db);
  const nc = await connectServer(natsUrl, natsCreds, busTls);
  const turn = health.loop('ingest', 120_000);
  const ingest = startIngest({ nc, db, turn, log: (event, facts) => logger.info({ ...facts }, `ingest: ${event}`) });
  watchIngest(health, nc, ingest.stats);
  return {
    async stop() {
      await ingest.stop();
      await nc.drain();
    },
  };
}
