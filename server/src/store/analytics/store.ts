/**
 * The embedded analytics store: chDB in a process of its own, behind loopback HTTP in ClickHouse's form.
 *
 *   node server/src/store/analytics/store.ts --data DIR --port PORT
 *
 * Environment: CLICKHOUSE_PASSWORD or CLICKHOUSE_PASSWORD_FILE (asked from every caller when set). Prints `ready http://127.0.0.1:PORT` and serves until SIGTERM or
 * SIGINT, which finish the running statements first. A second process on the same directory is refused by chDB's own lock.
 */
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { settingOf } from '#host/secrets.ts';
// Queries occupy threads of this pool, one each, for as long as they run. Set before its first use.
process.env.UV_THREADPOOL_SIZE ??= '16';
const { Session, drainPending } = await import('chdb');
const { createShim } = await import('./shim.ts');

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    port: { type: 'string', default: '8123' },
    host: { type: 'string', default: '127.0.0.1' },
  },
});
if (!values.data) {
  console.error('analytics store: say where its data lives, with --data DIR');
  process.exit(2);
}
const data = path.resolve(values.data);
fs.mkdirSync(data, { recursive: true, mode: 0o700 });

function open() {
  try {
    return new Session(data);
  } catch (error) {
    console.error(`analytics store: cannot open ${data}: ${(error as Error).message.split('\n')[0]}`);
    process.exit(1);
  }
}
const sessions = new Map([['default', open()]]);

function session(database: string) {
  let found = sessions.get(database);
  if (!found) {
    if (!/^\w{1,100}$/.test(database))
      throw new Error(`Code: 81. DB::Exception: not a database name: ${database.slice(0, 100)}. (UNKNOWN_DATABASE)`);
    found = new Session(data);
    try {
      found.query(`USE ${database}`);
    } catch (error) {
      found.close();
      throw error;
    }
    sessions.set(database, found);
  }
  return found;
}

const server = createShim({ session, data, password: settingOf('CLICKHOUSE_PASSWORD', process.env) ?? '' });
server.on('error', (error: NodeJS.ErrnoException) => {
  console.error(
    error.code === 'EADDRINUSE'
      ? `analytics store: port ${values.port} is taken; choose another with --port`
      : `analytics store: ${error.message}`,
  );
  process.exit(1);
});
server.listen(Number(values.port), values.host, () => {
  const address = server.address();
  console.log(`ready http://${values.host}:${typeof address === 'object' && address ? address.port : values.port}`);
});

let stopping = false;
async function stop() {
  if (stopping) return;
  stopping = true;
  await new Promise<void>(resolve => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
  await drainPending();
  for (const one of sessions.values()) one.close();
  await drainPending();
  process.exit(0);
}
process.on('SIGTERM', stop);
process.on('SIGINT', stop);
