/**
 * The 30-day series of 5-minute steps over ten million lines, from the roll-up as the API asks for it, against the same figures from the
 * raw lines. CPU of the store per query; at least 3 times less (issue 2).
 *
 *   npm run bench -- query         BENCH_ROWS: how many lines (default 10,000,000; two to three minutes)
 */
import { timeSeries } from '#server/analytics/series.ts';
import { type Analytics, analytics } from '#server/store/analytics/client.ts';
import { migrateAnalytics } from '#server/store/analytics/migrate.ts';
import { poll } from '#server/store/engine-process.ts';
import { startTestStore } from '#system/engines.ts';
import { cpuSeconds, row } from './_cpu.ts';

const days = 30;
const sites = 40;
const rounds = 10;

export async function run(): Promise<void> {
  const rows = Number(process.env.BENCH_ROWS ?? 10_000_000);
  const store = await startTestStore();
  const db = analytics({ url: store.url, database: 'bench' });
  await migrateAnalytics(db);
  // The raw lines of the first day are about to expire: begin an hour after the limit.
  const from = Math.ceil(Date.now() / 1000 / 300) * 300 - days * 86_400 + 3600;
  const to = from + days * 86_400 - 3600;
  await fill(db, rows, from, to);
  // Merges of what was just written would count on both sides.
  await poll(async () => (await db.query<{ n: number }>('SELECT count() AS n FROM system.merges'))[0]?.n === 0, 60_000, 500);
  const [counts] = await db.query<{ raw: number; rollup: number }>(
    'SELECT (SELECT count() FROM access) AS raw, (SELECT count() FROM s5) AS rollup',
  );
  console.log(
    `${counts!.raw.toLocaleString('en')} lines, ${counts!.rollup.toLocaleString('en')} rows of 5 minutes, ${sites} sites\n`,
  );
  row('CPU ms per query (wall ms)', 'roll-up', 'raw', 'ratio');
  const all = Array.from({ length: sites }, (_, i) => i + 1);
  for (const [name, siteIDs] of [
    ['30 d, 5 min, the biggest site', [1]],
    ['30 d, 5 min, a middling site', [10]],
    ['30 d, 5 min, all sites', all],
  ] as const) {
    const rollup = () =>
      timeSeries(db, { siteIDs, startTime: new Date(from * 1000), endTime: new Date(to * 1000), types: [2, 4, 11, 12] });
    const raw = () =>
      db.query<{ b: number }>(
        'SELECT toStartOfFiveMinutes(ts) AS at, sum(bytes) AS b, count() AS r, sumIf(bytes, hit) AS hb, countIf(hit) AS h ' +
          "FROM (SELECT ts, bytes, cache IN ('HIT', 'STALE', 'UPDATING', 'REVALIDATED') AS hit FROM access WHERE site_id IN {sites:Array(UInt32)} " +
          'AND ts >= fromUnixTimestamp64Milli({from:Int64}) AND ts < fromUnixTimestamp64Milli({to:Int64})) GROUP BY at ORDER BY at',
        { sites: [...siteIDs], from: from * 1000, to: to * 1000 },
      );
    const sum = (of: number[]) => of.reduce((a, b) => a + b, 0);
    const same = [sum((await rollup()).map(step => step.values[2] as number)), sum((await raw()).map(one => one.b))];
    if (same[0] !== same[1]) throw new Error(`the two sides differ: ${same}`);
    // In turns, so that what else the machine does falls on both.
    const total = { rollup: { cpu: 0, ms: 0 }, raw: { cpu: 0, ms: 0 } };
    for (let i = 0; i < rounds; i++)
      for (const [side, ask] of [
        ['rollup', rollup],
        ['raw', raw],
      ] as const) {
        const cpu = cpuSeconds(store.pid);
        const begun = performance.now();
        await ask();
        total[side].ms += performance.now() - begun;
        total[side].cpu += cpuSeconds(store.pid) - cpu;
      }
    const cell = (side: { cpu: number; ms: number }) =>
      `${((side.cpu * 1000) / rounds).toFixed(0)} (${(side.ms / rounds).toFixed(0)})`;
    row(name, cell(total.rollup), cell(total.raw), (total.raw.cpu / Math.max(total.rollup.cpu, 1e-9)).toFixed(1));
  }
  console.log('\nratio: at least 3');
  db.close();
  await store.stop();
}

/** Lines spread over the days, the first sites with most of them. */
async function fill(db: Analytics, rows: number, from: number, to: number) {
  const slices = days * 2;
  const each = Math.ceil(rows / slices);
  const width = (to - from) / slices;
  for (let i = 0; i < slices; i++)
    await db.command(
      `INSERT INTO access_in SELECT 1 + rand(1) % 4 AS node, 0 AS skew_ms, msec AS recv, {start:Float64} + {width:Float64} * number / {each:UInt64} AS msec,
         toString(toUInt32(floor(pow(${sites + 1}, rand(2) / 4294967296.)))) AS site_id, toString(toUInt32OrZero(site_id) * 2 + rand(3) % 2) AS domain_id,
         concat('www.site', site_id, '.example') AS host, if(rand(4) % 20 = 0, 'POST', 'GET') AS method,
         concat('/p/', toString(toUInt32(floor(pow(20000, rand(5) / 4294967296.))))) AS uri, if(rand(6) % 3 = 0, 'HTTP/1.1', 'HTTP/2.0') AS proto,
         toUInt16([200, 200, 200, 200, 200, 200, 304, 404, 301, 502][1 + rand(7) % 10]) AS status, toUInt64(400 + rand(8) % 100000) AS bytes,
         IPv4NumToString(toUInt32(16777216 + 65537 * toUInt32(floor(pow(50000, rand(9) / 4294967296.))))) AS ip, if(rand(10) % 100 < 85, 'HIT', 'MISS') AS cache,
         if(cache = 'HIT', '-', '2345') AS up_bytes, if(cache = 'HIT', '-', '0.123') AS up_time, '0.010' AS rt, '-' AS referer,
         concat('agent/', toString(rand(11) % 200)) AS ua, '-' AS reason, toString(number) AS rid
       FROM numbers({each:UInt64})`,
      { start: from + i * width, width, each },
      { max_insert_threads: 1, max_insert_block_size: 1_000_000, min_insert_block_size_rows: 1_000_000, async_insert: 0 },
    );
}
