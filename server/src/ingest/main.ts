/**
 * Ingest as a process of its own:  node server/src/ingest/main.ts
 *
 * Environment: NATS_URL, NATS_CREDS (path of a credentials file; none: no authentication), DATABASE_URL (which node may speak for which
 * site), CLICKHOUSE_URL and its companions (store/analytics/client.ts). Prints `ready`, then one JSON line per event on stderr. SIGTERM inserts what is held and ends.
 */
import fs from 'node:fs';
import { connect, credsAuthenticator } from '@nats-io/transport-node';
import { analyticsFromEnvironment } from '../store/analytics/client.ts';
import { startIngest } from './ingest.ts';
import { databaseMembers } from './member-source.ts';

const db = analyticsFromEnvironment();
const databaseUrl = process.env.DATABASE_URL;
if (!databaseUrl) throw new Error('DATABASE_URL is not set: it tells which node may speak for which site');
const members = databaseMembers(databaseUrl);
const creds = process.env.NATS_CREDS;
const nc = await connect({
  servers: process.env.NATS_URL ?? 'nats://127.0.0.1:4222',
  name: 'ingest',
  maxReconnectAttempts: -1,
  reconnectTimeWait: 200,
  waitOnFirstConnect: true,
  ...(creds ? { authenticator: credsAuthenticator(fs.readFileSync(creds)) } : {}),
});
const number = (text: string | undefined) => (text ? Number(text) : undefined);
const ingest = startIngest({
  nc,
  db,
  members,
  flushLines: number(process.env.INGEST_FLUSH_LINES),
  flushMs: number(process.env.INGEST_FLUSH_MS),
  log: (event, facts) => console.error(JSON.stringify({ at: new Date().toISOString(), event, ...facts })),
});
console.log('ready');

let stopping = false;
async function stop() {
  if (stopping) return;
  stopping = true;
  await ingest.stop();
  await members.close();
  await nc.close();
  db.close();
  process.exit(0);
}
process.on('SIGTERM', stop);
process.on('SIGINT', stop);
void nc.closed().then(error => {
  if (stopping) return;
  console.error(JSON.stringify({ event: 'the bus closed the connection', error: error ? error.message : null }));
  process.exit(1);
});
