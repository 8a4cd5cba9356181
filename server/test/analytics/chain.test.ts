/**
 * Nothing lost, nothing doubled: kill -9 of every process between a log file and the store, at random moments, then every table is compared
 * with what the writers wrote. CHAIN_SECONDS sets how long the killing goes on (default 20), CHAIN_SEED the order of victims.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { poll } from '#server/store/engine-process.ts';
import { type Chain, type Part, readTruth, startChain } from './chain/chain.ts';

const seconds = Number(process.env.CHAIN_SECONDS ?? 20);
let seed = Number(process.env.CHAIN_SEED ?? Date.now() % 1e6);
const random = () => {
  seed = (seed * 1103515245 + 12345) % 2 ** 31;
  return seed / 2 ** 31;
};

test(
  `kill -9 anywhere between log file and store, for ${seconds} s: every line counts once`,
  { timeout: (seconds + 140) * 1000 },
  async t => {
    t.diagnostic(`seed ${seed}`);
    const chain = await startChain({ nodes: 2, linesPerSecond: 400, rotateBytes: 400_000 });
    t.after(() => chain.end());
    let wipes = 0;
    const until = Date.now() + seconds * 1000;
    const weights: [string, number][] = [
      ['store', 3],
      ['ingest', 4],
      ['bus', 2],
      ['ship1', 2],
      ['ship2', 2],
      ['write1', 2],
      ['write2', 1],
    ];
    const victim = (): Part => {
      let at = random() * weights.reduce((sum, [, w]) => sum + w, 0);
      return chain.part(weights.find(([, w]) => (at -= w) < 0)![0]);
    };
    while (Date.now() < until) {
      await delay(200 + random() * 900);
      const victims = new Set(random() < 0.25 ? [victim(), victim()] : [victim()]);
      for (const one of victims) await one.kill();
      // The disk of the bus may be gone for good: the files on the nodes are the spool.
      if (victims.has(chain.part('bus')) && random() < 0.3) {
        fs.rmSync(chain.busDir, { recursive: true, force: true });
        wipes++;
      }
      await delay(random() * (random() < 0.1 ? 4000 : 600));
      for (const one of victims) await one.start();
    }
    await chain.stopWriters();
    const truth = readTruth(chain.truthDir);
    t.diagnostic(
      `${chain.parts.map(p => `${p.name} ${p.kills}`).join(', ')} kills, ${wipes} wipes of the bus; ${truth.lines} lines, ${truth.torn} torn`,
    );
    assert.ok(truth.lines > 1000, 'the writers wrote');
    const arrived = async () =>
      (await chain.db.query<{ n: number }>('SELECT count() AS n FROM access').catch(() => []))[0]?.n ?? 0;
    let last = 0;
    const complete = await poll(async () => (last = await arrived()) >= truth.lines, 90_000, 200);
    assert.ok(complete, `${last} of ${truth.lines} lines arrived\n${chain.lastWords()}`);
    // All is there; what is sent twice now would still be counted twice.
    await poll(async () => logsLeft(chain) <= 2, 15_000, 200);
    await compare(chain, truth);
  },
);

const logsLeft = (chain: Chain) =>
  [...chain.logDirs.values()].flatMap(dir => fs.readdirSync(dir)).filter(name => /^access\.\w+\.(log|hole)$/.test(name)).length;

async function compare({ db }: Chain, truth: ReturnType<typeof readTruth>) {
  const total = { req: truth.lines, bytes: truth.bytes };
  const [raw] = await db.query('SELECT count() AS req, sum(bytes) AS bytes, uniqExact(rid) AS rids FROM access');
  assert.deepEqual(raw, { ...total, rids: truth.lines }, 'access');
  for (const table of ['s1', 's5', 'n5', 'c1h', 'top_uri', 'top_ip', 'top_ua']) {
    const [row] = await db.query(`SELECT sum(req) AS req, sum(bytes) AS bytes FROM ${table}`);
    assert.deepEqual(row, total, table);
  }
  const bySite = await db.query<{ k: string; lines: number; bytes: number }>(
    "SELECT concat(toString(site_id), '/', toString(status)) AS k, count() AS lines, sum(bytes) AS bytes FROM access GROUP BY k",
  );
  assert.deepEqual(new Map(bySite.map(({ k, ...rest }) => [k, rest])), sorted(truth.bySite, bySite), 'per site and status');
  const byMinute = await db.query<{ k: string; lines: number; bytes: number }>(
    "SELECT concat(toString(toUnixTimestamp(t)), '/', toString(domain_id)) AS k, sum(req) AS lines, sum(bytes) AS bytes FROM s1 GROUP BY k",
  );
  assert.deepEqual(
    new Map(byMinute.map(({ k, ...rest }) => [k, rest])),
    sorted(truth.byMinute, byMinute),
    's1 per minute and domain',
  );
  // The other figures of a roll-up must be those of the raw rows.
  const pairs: [string, string][] = [
    [
      'SELECT sum(hit_req) AS a, sum(hit_bytes) AS b, sum(up_req) AS c, sum(up_bytes) AS d, sum(blocked) AS e FROM s5',
      "SELECT countIf(cache IN ('HIT','STALE')) AS a, sumIf(bytes, cache IN ('HIT','STALE')) AS b, sum(up_req) AS c, sum(up_bytes) AS d, countIf(cause > 0) AS e FROM access",
    ],
    ['SELECT sumMap(status) AS m FROM s5', 'SELECT sumMap(map(status, toUInt64(1))) AS m FROM access'],
    ['SELECT sumMap(cause) AS m FROM s5', 'SELECT sumMap(map(cause, toUInt64(1))) AS m FROM access WHERE cause > 0'],
    [
      'SELECT arraySum(mapValues(sumMap(version))) AS v, arraySum(mapValues(sumMap(method))) AS m FROM s5',
      'SELECT count() AS v, count() AS m FROM access',
    ],
    [
      'SELECT site_id, uniqCombinedMerge(12)(visitors) AS v FROM u1h GROUP BY site_id ORDER BY site_id',
      'SELECT site_id, uniqCombined(12)(ip) AS v FROM access GROUP BY site_id ORDER BY site_id',
    ],
    [
      'SELECT site_id, uniqCombinedMerge(14)(visitors) AS v FROM u1d GROUP BY site_id ORDER BY site_id',
      'SELECT site_id, uniqCombined(14)(ip) AS v FROM access GROUP BY site_id ORDER BY site_id',
    ],
    [
      'SELECT k, sum(req) AS n FROM top_ref GROUP BY k',
      "SELECT cutQueryStringAndFragment(referer) AS k, count() AS n FROM access WHERE referer != '' GROUP BY k",
    ],
  ];
  for (const [rollup, fromRaw] of pairs) assert.deepEqual(await db.query(rollup), await db.query(fromRaw), rollup);
}

/** The expected map with its keys in the order of the found one, so that a difference reads as one. */
const sorted = (expected: Map<string, { lines: number; bytes: number }>, found: readonly { k: string }[]) =>
  new Map(
    [...found.map(({ k }) => k), ...expected.keys()]
      .filter((k, i, all) => all.indexOf(k) === i && expected.has(k))
      .map(k => [k, expected.get(k)!]),
  );
