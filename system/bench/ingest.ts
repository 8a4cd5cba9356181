/**
 * What it costs to bring log lines from a node's file to queryable rows with all roll-ups, against inserting the same lines into the same
 * tables straight from a file. CPU seconds of all processes taking part, per million lines; at most 2.0 times (issue 2).
 *
 *   npm run bench -- ingest        BENCH_LINES: how many lines (default 1,000,000; about a minute)
 */
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { accessLogColumns } from '#contract/edge/log.ts';
import { analytics } from '#server/store/analytics/client.ts';
import { migrateAnalytics } from '#server/store/analytics/migrate.ts';
import { accepts, freePort, poll, spawnEngine } from '#server/store/engine-process.ts';
import { migrate } from '#server/store/migrate.ts';
import { freshDatabase, startTestStore, testFolder } from '#system/engines.ts';
import { seedMembers } from '../../server/test/analytics/members.ts';
import { cpuSeconds, row } from './_cpu.ts';
import { loggedSites, logLine } from './_log-lines.ts';

const linesPerInsert = 100_000;
const program = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url));

export async function run(): Promise<void> {
  const lines = Number(process.env.BENCH_LINES ?? 1_000_000);
  const folder = testFolder('bench');
  const { marked, plain, bytes } = write(folder, lines);
  const million = lines / 1e6;
  console.log(`${lines.toLocaleString('en')} lines of ${Math.round(bytes / lines)} bytes\n`);

  const straight = await insertStraight(plain, lines);
  const chain = await throughChain(folder, marked, lines);
  const sum = Object.values(chain.cpu).reduce((a, b) => a + b, 0);
  row('', 'CPU s/M', 'lines/s');
  row(
    'straight from a file into the store',
    (straight.cpu / million).toFixed(2),
    Math.round(lines / straight.seconds).toLocaleString('en'),
  );
  row(
    'file → shipper → bus → ingest → store',
    (sum / million).toFixed(2),
    Math.round(lines / chain.seconds).toLocaleString('en'),
  );
  for (const [name, cpu] of Object.entries(chain.cpu)) row(`  ${name}`, (cpu / million).toFixed(2));
  console.log(`\nratio ${(sum / straight.cpu).toFixed(2)} (at most 2.0)`);
}

/** The same lines twice: as a node's file, and without marks in files of one insert each. */
function write(folder: string, lines: number) {
  const marked = path.join(folder, 'marked');
  const plain: string[] = [];
  const whole = fs.openSync(marked, 'w');
  const start = Date.now() / 1000 - 1800;
  let bytes = 0;
  for (let first = 0; first < lines; first += linesPerInsert) {
    const count = Math.min(linesPerInsert, lines - first);
    const some = Array.from({ length: count }, (_, i) => logLine(start + ((first + i) / lines) * 1700, first + i));
    const name = path.join(folder, `plain.${first}`);
    fs.writeFileSync(name, `${some.join('\n')}\n`, 'latin1');
    plain.push(name);
    const text = `\x1e${some.join('\n\x1e')}\n`;
    bytes += text.length;
    fs.writeSync(whole, text, null, 'latin1');
  }
  fs.closeSync(whole);
  return { marked, plain, bytes };
}

async function insertStraight(files: string[], lines: number) {
  const store = await startTestStore();
  const db = analytics({ url: store.url, database: 'bench' });
  await migrateAnalytics(db);
  const columns = accessLogColumns.map(c => c.name).join(', ');
  const structure = accessLogColumns.map(c => `${c.name} ${c.input}`).join(', ');
  const before = cpuSeconds(store.pid);
  const begun = performance.now();
  for (const file of files)
    await db.command(
      `INSERT INTO access_in SELECT 1 AS node, 0 AS skew_ms, ${Date.now() / 1000} AS recv, ${columns} FROM file('${file}', 'TSV', '${structure}')`,
      {},
      {
        max_insert_threads: 1,
        max_insert_block_size: 4_000_000,
        min_insert_block_size_rows: 4_000_000,
        min_insert_block_size_bytes: 2_000_000_000,
        input_format_parallel_parsing: 0,
      },
    );
  const result = { cpu: cpuSeconds(store.pid) - before, seconds: (performance.now() - begun) / 1000 };
  const [found] = await db.query<{ n: number }>('SELECT count() AS n FROM access');
  if (found?.n !== lines) throw new Error(`${found?.n} of ${lines} rows`);
  db.close();
  await store.stop();
  return result;
}

async function throughChain(folder: string, marked: string, lines: number) {
  const store = await startTestStore();
  const db = analytics({ url: store.url, database: 'bench' });
  await migrateAnalytics(db);
  const databaseUrl = await freshDatabase();
  await migrate(databaseUrl);
  await seedMembers(databaseUrl, { nodes: [1], sites: loggedSites() });
  const port = await freePort();
  const servers = `nats://127.0.0.1:${port}`;
  const spawn = (command: string, args: string[], env: NodeJS.ProcessEnv = {}) =>
    spawnEngine({ command, args, env: { ...process.env, ...env }, ref: false, deathSignal: 'SIGKILL' });
  const bus = await spawn('nats-server', ['-js', '-sd', path.join(folder, 'bus'), '-p', String(port), '-a', '127.0.0.1']);
  await poll(() => accepts(port), 10_000);
  const ingest = await spawn(process.execPath, [program('server/src/ingest/main.ts')], {
    NATS_URL: servers,
    NATS_CREDS: '',
    DATABASE_URL: databaseUrl,
    CLICKHOUSE_URL: store.url,
    CLICKHOUSE_DATABASE: 'bench',
  });
  const logDir = path.join(folder, 'log');
  const shipper = await spawn(process.execPath, [
    program('server/test/analytics/chain/shipper.ts'),
    servers,
    '1',
    logDir,
    String(2 ** 40),
  ]);
  const link = path.join(logDir, 'access.log');
  await poll(() => fs.lstatSync(link, { throwIfNoEntry: false }) !== undefined && ingest.lastLines().includes('ready'), 10_000);
  await poll(async () => (await db.query<{ n: number }>('SELECT count() AS n FROM manifest'))[0]?.n === 0, 2000);
  const processes = { 'shipper (agent)': shipper, 'nats-server': bus, ingest, store };
  const cpu = () => Object.fromEntries(Object.entries(processes).map(([name, engine]) => [name, cpuSeconds(engine.pid)]));
  const before = cpu();
  const begun = performance.now();
  fs.renameSync(marked, path.join(logDir, fs.readlinkSync(link)));
  const done = await poll(
    async () => (await db.query<{ n: number }>('SELECT count() AS n FROM access'))[0]?.n === lines,
    300_000,
    100,
  );
  if (!done) throw new Error(`not all lines arrived: ${ingest.lastLines().slice(-3).join(' | ')}`);
  const after = cpu();
  const result = {
    seconds: (performance.now() - begun) / 1000,
    cpu: Object.fromEntries(Object.entries(after).map(([name, value]) => [name, value - before[name]!])),
  };
  for (const engine of [shipper, ingest, bus, store]) await engine.stop();
  db.close();
  return result;
}
