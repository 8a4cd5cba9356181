/**
 * `GET /user/sites` (25 rows of 100, 1,000 sites in the database) through our server: session, permission, scope, paging, validation,
 * declared answer. Against plain Fastify with one hand-written handler that runs the same SQL over a pool of the same size and answers
 * the same JSON by JSON.stringify. Requests per second, 20 connections, rounds in turn; at least 0.6 (issue 2).
 *
 *   npm run bench -- api        BENCH_SECONDS of one round (default 3), BENCH_ROUNDS (default 7, the first is warm-up)
 */
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';
import { sql } from 'kysely';
import { groups } from '#contract/index.ts';
import { permissionKeys } from '#contract/kit/call.ts';
import type { Actor } from '#server/kit/actor.ts';
import { Keys } from '#server/kit/crypto.ts';
import { Sessions } from '#server/kit/session.ts';
import { Store } from '#server/kit/store.ts';
import { siteTable } from '#server/site/tables.ts';
import { type Database, openDatabase, row } from '#server/store/db.ts';
import { accepts, type Engine, freePort, poll, spawnEngine } from '#server/store/engine-process.ts';
import { migrate } from '#server/store/migrate.ts';
import { freshDatabase } from '#system/engines.ts';
import { cpuSeconds, row as print } from './_cpu.ts';

const program = fileURLToPath(new URL('_api-server.ts', import.meta.url));
const path = '/api/v1/user/sites?page=1&pageSize=25&sortBy=siteName&orderBy=asc';
const customers = 10;
const sitesEach = 100;

export async function run(): Promise<void> {
  const seconds = Number(process.env.BENCH_SECONDS ?? 3);
  const rounds = Number(process.env.BENCH_ROUNDS ?? 7);
  const url = await freshDatabase();
  await migrate(url);
  const database = openDatabase(url, 2);
  const key = randomBytes(32);
  const sessions = new Sessions(database, new Keys(key), area => permissionKeys(groups, area));
  const actor = await fill(database);
  const { accessToken } = await sessions.open(database.db, actor.accountID);
  const statement = await statementOf(database, actor);
  await sessions.stop();

  const env = { ...process.env, DATABASE_URL: url, BENCH_KEY: key.toString('hex'), BENCH_SQL: JSON.stringify(statement) };
  const sides: Side[] = [];
  for (const name of ['ours', 'plain', 'constant'] as const) sides.push(await startSide(name, env));
  const bodies = await Promise.all(
    sides.map(side => fetch(side.url, { headers: headers(accessToken) }).then(answer => answer.text())),
  );
  if (new Set(bodies.map(body => JSON.stringify(JSON.parse(body)))).size !== 1)
    throw new Error(
      `the answers differ; one row each:\n${bodies.map(body => JSON.stringify((JSON.parse(body) as { data: unknown[] }).data[0])).join('\n')}`,
    );
  console.log(
    `${(JSON.parse(bodies[0]!) as { data: unknown[] }).data.length} rows, ${Math.round(bodies[0]!.length / 102.4) / 10} KB an answer, 20 connections, ${rounds - 1} rounds of ${seconds} s\n`,
  );

  for (let round = 0; round < rounds; round++)
    for (const side of round % 2 ? [...sides].reverse() : sides) {
      const before = cpuSeconds(side.engine.pid);
      const result = await autocannon({ url: side.url, connections: 20, duration: seconds, headers: headers(accessToken) });
      if (result.non2xx || result.errors) throw new Error(`${side.name}: ${result.non2xx} refused, ${result.errors} errors`);
      if (round === 0) continue;
      side.rates.push(result['2xx'] / result.duration);
      side.cpu.push(((cpuSeconds(side.engine.pid) - before) / result['2xx']) * 1e6);
      side.p99.push(result.latency.p99);
    }

  print('', 'requests/s', 'p99 ms', 'CPU µs');
  const names = {
    ours: 'Breakwater',
    plain: 'plain Fastify, same SQL, by hand',
    constant: 'plain Fastify, constant, no database',
  };
  for (const side of sides)
    print(
      names[side.name],
      Math.round(median(side.rates)).toLocaleString('en'),
      median(side.p99).toFixed(0),
      median(side.cpu).toFixed(0),
    );
  const [ours, plain, constant] = sides as [Side, Side, Side];
  const ratio = (other: Side) => median(ours.rates.map((rate, i) => rate / other.rates[i]!));
  console.log(`\nratio ${ratio(plain).toFixed(2)} (at least 0.6); to the constant answer ${ratio(constant).toFixed(2)}`);
  for (const side of sides) await side.engine.stop();
  await database.close();
}

interface Side {
  name: 'ours' | 'plain' | 'constant';
  url: string;
  engine: Engine;
  rates: number[];
  cpu: number[];
  p99: number[];
}
async function startSide(name: Side['name'], env: NodeJS.ProcessEnv): Promise<Side> {
  const port = await freePort();
  // BENCH_PROFILE=ours: node --cpu-prof of that side
  const flags = process.env.BENCH_PROFILE === name ? ['--cpu-prof', '--cpu-prof-dir', '/tmp/bench-profile'] : [];
  const engine = await spawnEngine({
    command: process.execPath,
    args: [...flags, program, name],
    env: { ...env, PORT: String(port) },
    ref: false,
    deathSignal: 'SIGKILL',
  });
  if (!(await poll(() => accepts(port), 20_000, 50))) throw new Error(`${name} did not start: ${engine.lastLines().join('\n')}`);
  return { name, url: `http://127.0.0.1:${port}${path}`, engine, rates: [], cpu: [], p99: [] };
}

const headers = (token: string) => ({ authorization: `Bearer ${token}`, 'accept-language': 'zh-TW,zh;q=0.9,en;q=0.8' });
const median = (values: number[]) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;

/** One operator, ten customers with a hundred sites each, two domains a site; answers who asks. */
async function fill({ db }: Database): Promise<Actor> {
  const insert = async (query: ReturnType<typeof sql>) => (await row<{ id: number }>(db, query))!.id;
  const client = await insert(
    sql`insert into account (email, name, auth, "isRoot") values ('operator@bench.test', 'o', 'client', true) returning id`,
  );
  const zone = await insert(sql`insert into zone ("clientID", name) values (${client}, 'zone') returning id`);
  const group = await insert(
    sql`insert into "group" ("clientID", "zoneID", name) values (${client}, ${zone}, 'group') returning id`,
  );
  const product = await insert(
    sql`insert into product ("clientID", "groupID", name) values (${client}, ${group}, 'product') returning id`,
  );
  let userID = 0;
  for (let i = 0; i < customers; i++) {
    userID = await insert(
      sql`insert into account (email, name, auth, "isRoot", "parentClient") values (${`customer-${i}@bench.test`}, 'c', 'user', true, ${client}) returning id`,
    );
    await sql`update account set "rootID" = id where id = ${userID}`.execute(db);
    await sql`with made as (
        insert into site ("clientID", "userID", "productID", "siteName", tags) select ${client}, ${userID}, ${product}, ${`site-${i}-`} || n, array['one', 'two'] from generate_series(1, ${sitesEach}::int) n returning id)
      insert into domain ("siteID", "domainName") select id, n || '.' || id || '.bench.test' from made, generate_series(1, 2) n`.execute(
      db,
    );
  }
  await sql`analyze`.execute(db);
  return {
    accountID: userID,
    email: '',
    area: 'user',
    isRoot: true,
    rootID: userID,
    clientID: client,
    grade: 0,
    status: 'normal',
    permissions: new Set(),
    language: 'zh_TW',
    timezone: 'UTC',
    sessionID: '',
    token: null,
    proxyID: null,
    proxyName: null,
    networks: null,
  };
}

/** The statement our server runs for this page: the other side runs the very same. */
async function statementOf(database: Database, actor: Actor): Promise<{ text: string; values: unknown[] }> {
  const client = await database.pool.connect();
  const seen: { text: string; values: unknown[] }[] = [];
  const prototype = Object.getPrototypeOf(client) as { query: (...args: unknown[]) => unknown };
  const { query } = prototype;
  client.release();
  prototype.query = function (this: unknown, ...args: unknown[]) {
    const [first, values] = args as [string | { text: string; values: unknown[] }, unknown[]?];
    seen.push(typeof first === 'string' ? { text: first, values: values ?? [] } : { text: first.text, values: first.values });
    return query.apply(this, args);
  };
  try {
    await new Store(database.db, actor, siteTable, {}, { holds: false, changes: [], documents: new Map(), open: new Set() }).page(
      {
        page: 1,
        pageSize: 25,
        sortBy: 'siteName',
        orderBy: 'asc',
      },
    );
  } finally {
    prototype.query = query;
  }
  return seen[0]!;
}
