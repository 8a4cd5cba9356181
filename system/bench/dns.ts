/**
 * Names and lines as we serve them, against the same name server (Knot) with the same names in plain static zones, on the same machine and
 * asked by the same dnsperf. `npm run bench -- dns`
 *
 * Ours is what `npm start` runs: 100,000 sites' names by updates, each a CNAME to its group in a zone of its own; groups with lines by
 * network, country, continent and ASN; client subnet; rate limits. Plain has no module at all. Sides take turns, whoever answers on one
 * core, whoever asks on the other: what counts is the name server's CPU for each answer. Then how long 100,000 names take to be
 * there, and how long a change of one node takes until a visitor of a line is answered otherwise, against a bare update of plain Knot.
 *
 *   BENCH_NAMES (100,000), BENCH_GROUPS (20), BENCH_ROUNDS (7), BENCH_SECONDS of one round (3), BENCH_CHANGES (300)
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { randomBytes, randomInt } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import * as dns from '#server/domain/dns/message.ts';
import { Rfc2136 } from '#server/domain/dns/rfc2136.ts';
import { AddressPolicy } from '#contract/rules/address-policy.ts';
import { ask } from '#server/resolution/ask.ts';
import { groupName, lineZone, siteName } from '#server/resolution/names.ts';
import { add, drop } from '#server/resolution/updates.ts';
import { type Database, openDatabase, row, rows } from '#server/store/db.ts';
import { migratedDatabase, testFolder } from '#system/engines.ts';
import { NameServer } from '#system/name-server.ts';
import { cpuSeconds, row as print } from './_cpu.ts';
import { load, type Load, onOneCore, questionFile, type Side, startPlain } from './_dns-plain.ts';

const names = Number(process.env.BENCH_NAMES ?? 100_000);
const groupCount = Number(process.env.BENCH_GROUPS ?? 20);
const rounds = Number(process.env.BENCH_ROUNDS ?? 7);
const seconds = Number(process.env.BENCH_SECONDS ?? 3);
const changes = Number(process.env.BENCH_CHANGES ?? 300);
/** Of plain Knot's answers for the same CPU. */
const ratioLeast = 0.8;
const changeMsMost = 1000;
const zone = 'cdn.bench.test';
const office = '198.51.100.0/24';
const lines = [
  { name: 'office', cidrs: [office], asns: [], places: [] },
  { name: 'asia', cidrs: [], asns: [], places: ['continent:AS'] },
  { name: 'countries', cidrs: [], asns: [], places: ['TW', 'JP', 'KR', 'SG', 'US', 'DE', 'FR', 'GB', 'NL', 'BR'] },
  { name: 'carriers', cidrs: [], asns: [3462, 9924], places: [] },
];
const here = '127.0.0.1';

export async function run(): Promise<void> {
  console.log(
    `load of the machine before: ${loadavg()
      .map(one => one.toFixed(2))
      .join(' ')}`,
  );
  const url = await migratedDatabase();
  const database = openDatabase(url, 3);
  const filled = await fill(database);
  const ours = await NameServer.start();
  const key = randomBytes(32);
  const keys = (await rows<{ key: string }>(database.db, sql`select "cnameKey" as key from site order by id`)).map(
    one => one.key,
  );
  const steering = fork(
    fileURLToPath(new URL('_dns-steering.ts', import.meta.url)),
    [
      JSON.stringify({
        databaseUrl: url,
        geo: testFolder('bench-geo'),
        knot: { ...ours.service, key: ours.key.toString('base64') },
      }),
    ],
    { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] },
  );
  try {
    await once(steering, 'message');
    await filling(database, ours, steering.pid!, () => steering.send('start'), keys.at(-1)!);
    const groupIDs = filled.groups;
    const plain = await startPlain(
      {
        // groups are delegated, as ours are: else they would be looked for here
        [zone]: ['l NS ns', ...keys.map((label, i) => `${label} CNAME ${groupName(zone, groupIDs[i % groupIDs.length]!)}.`)],
        [lineZone(zone)]: groupIDs.flatMap(id => [
          `g${id} 20 A 192.0.2.1`,
          `g${id} 20 A 192.0.2.2`,
          `g${id} 20 AAAA 2001:db8::1`,
          `g${id} 20 AAAA 2001:db8::2`,
        ]),
      },
      key,
    );
    const tasks = { ours: { port: ours.port, pid: ours.pid }, plain };
    await answering(tasks, keys, groupIDs);
    await changing(database, tasks, filled, key);
    await plain.engine.stop();
  } finally {
    steering.kill();
    await ours.stop();
    await database.close();
  }
  console.log(
    `load of the machine after: ${loadavg()
      .map(one => one.toFixed(2))
      .join(' ')}`,
  );
}

/** An operator with groups of two nodes on each of five lines, and sites without domains: what counts is their names. */
async function fill({ db }: Database): Promise<{ groups: number[]; node: number }> {
  const one = async (query: ReturnType<typeof sql>) => (await row<{ id: number }>(db, query))!.id;
  const client = await one(
    sql`insert into account (email, name, auth, "isRoot") values ('operator@bench.test', 'o', 'client', true) returning id`,
  );
  const user = await one(
    sql`insert into account (email, name, auth, "isRoot", "parentClient") values ('customer@bench.test', 'c', 'user', true, ${client}) returning id`,
  );
  const zoneID = await one(sql`insert into zone ("clientID", name) values (${client}, 'zone') returning id`);
  const setting = await one(sql`insert into "dnsSetting" ("clientID", driver) values (${client}, 'knot') returning id`);
  const products: number[] = [];
  const groups: number[] = [];
  let node = 0;
  for (let g = 0; g < groupCount; g++) {
    const groupID = await one(
      sql`insert into "group" ("clientID", "zoneID", name) values (${client}, ${zoneID}, ${`g${g}`}) returning id`,
    );
    groups.push(groupID);
    products.push(
      await one(sql`insert into product ("clientID", "groupID", name) values (${client}, ${groupID}, ${`p${g}`}) returning id`),
    );
    const lineIDs = [1];
    for (const { name, cidrs, asns, places } of lines)
      lineIDs.push(
        await one(
          sql`insert into line (kind, "groupID", name, cidrs, asns, places) values ('custom', ${groupID}, ${name}, ${cidrs}, ${asns}, ${places}) returning id`,
        ),
      );
    for (const [l, lineID] of lineIDs.entries())
      for (const n of [1, 2]) {
        const made = await one(
          sql`insert into node ("clientID", "zoneID", name, type, status, addresses, "lastBeat", "publicKey")
            values (${client}, ${zoneID}, ${`n${g}-${l}-${n}`}, 'edge', 'normal', ${[`192.0.2.${l * 10 + n}`, `2001:db8::${l}:${n}`]}, now(), ${`key ${g} ${l} ${n}`}) returning id`,
        );
        await sql`insert into "lineNode" ("groupID", "lineID", "nodeID") values (${groupID}, ${lineID}, ${made})`.execute(db);
        // the one that changes: the first group's, on its line of networks
        if (g === 0 && l === 1 && n === 1) node = made;
      }
  }
  // whose zone a site was in, and when: nobody asks here
  await sql`alter table site disable trigger site_zone`.execute(db);
  await sql`insert into site ("clientID", "userID", "productID", "siteName")
    select ${client}, ${user}, (${products}::bigint[])[1 + (i - 1) % ${groupCount}], 's' || i from generate_series(1, ${names}::int) i`.execute(
    db,
  );
  await sql`insert into cname ("clientID", "dnsSettingID", "domainName", "nameServers") values (${client}, ${setting}, ${zone}, '{ns1.example.org}')`.execute(
    db,
  );
  await sql`analyze`.execute(db);
  return { groups, node };
}

const memory = (pid: number) =>
  Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024);
const sizeOf = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(one => one.isFile())
    .reduce((sum, one) => sum + statSync(join(one.parentPath, one.name)).blocks * 512, 0);

async function filling({ db }: Database, ours: NameServer, steerer: number, start: () => void, last: string): Promise<void> {
  const before = [cpuSeconds(steerer), cpuSeconds(ours.pid)];
  const from = performance.now();
  start();
  const there = sql`select count(*)::int as n from "cnameSite"`;
  for (;;) {
    if ((await row<{ n: number }>(db, there))!.n === names) break;
    if (performance.now() - from > 300_000) throw new Error('the names are not there after five minutes');
    await sleep(50);
  }
  const took = performance.now() - from;
  const { answers } = await ask({ host: here, port: ours.port }, siteName(zone, last), dns.types.CNAME);
  if (!answers.length) throw new Error('the last name is not answered');
  print(`${names} names, ${groupCount} groups of ${lines.length + 1} lines`, 's', 'CPU s', 'MB RSS', 'MB disk');
  const cpu = [cpuSeconds(steerer) - before[0]!, cpuSeconds(ours.pid) - before[1]!];
  print('  whoever steers', (took / 1000).toFixed(1), cpu[0]!.toFixed(1), String(memory(steerer)));
  print('  the name server', '', cpu[1]!.toFixed(1), String(memory(ours.pid)), (sizeOf(ours.dir) / 2 ** 20).toFixed(0));
}

const median = (values: number[]) => [...values].sort((x, y) => x - y)[Math.floor(values.length / 2)]!;
const at = (values: number[], part: number) =>
  [...values].sort((x, y) => x - y)[Math.min(values.length - 1, Math.floor(values.length * part))]!;

async function answering(sides: { ours: Side; plain: Side }, keys: readonly string[], groups: readonly number[]): Promise<void> {
  for (const side of Object.values(sides)) await onOneCore(side);
  const some = (n: number) => Array.from({ length: n }, () => 0);
  const group = () => groupName(zone, groups[randomInt(groups.length)]!);
  const type = () => (randomInt(4) ? dns.types.A : dns.types.AAAA);
  const anybody = () => ({ address: `${randomInt(1, 224)}.${randomInt(256)}.${randomInt(256)}.0`, prefix: 24 });
  const site = () => dns.query(0, siteName(zone, keys[randomInt(keys.length)]!), type());
  const kinds: Readonly<Record<string, () => Buffer>> = {
    'sites’ names, none twice in a row': site,
    'a group, no subnet told': () => dns.query(0, group(), type()),
    'a group, visitors of a line’s network': () => dns.query(0, group(), type(), { address: `198.51.100.0`, prefix: 24 }),
    'a group, visitors from anywhere': () => dns.query(0, group(), type(), anybody()),
    // a resolver keeps a site's name for 300 s, a group's for 20 s and for each network apart
    'one site’s name to nine groups’': () => (randomInt(10) ? dns.query(0, group(), type(), anybody()) : site()),
  };
  print('', 'ours q/s', 'plain q/s', 'ours µs', 'plain µs', 'ratio', 'lost');
  const poor: string[] = [];
  for (const [kind, question] of Object.entries(kinds)) {
    const file = questionFile('questions', some(100_000).map(question));
    const found: { ours: Load[]; plain: Load[] } = { ours: [], plain: [] };
    for (let round = 0; round < rounds; round++)
      for (const name of round % 2 ? (['ours', 'plain'] as const) : (['plain', 'ours'] as const)) {
        const one = await load(sides[name], file, seconds);
        if (round > 0) found[name].push(one);
      }
    const ratio = median(found.ours.map((one, i) => found.plain[i]!.cpuMicros / one.cpuMicros));
    const rate = (name: keyof typeof found) => Math.round(median(found[name].map(one => one.perSecond))).toLocaleString('en');
    const micros = (name: keyof typeof found) => median(found[name].map(one => one.cpuMicros)).toFixed(2);
    const lost = found.ours.reduce((sum, one) => sum + one.lost, 0);
    print(`  ${kind}`, rate('ours'), rate('plain'), micros('ours'), micros('plain'), ratio.toFixed(2), String(lost));
    if (!(ratio >= ratioLeast)) poor.push(kind);
  }
  print('  memory of the name server: MB RSS', String(memory(sides.ours.pid)), String(memory(sides.plain.pid)));
  console.log(poor.length ? `below ${ratioLeast}: ${poor.join('; ')}` : `each at least ${ratioLeast}`);
}

/** From the moment the change is sent to PostgreSQL until a visitor of the line is answered with it; asked all the while. */
async function changing(
  { db }: Database,
  sides: { ours: Side; plain: Side },
  { groups, node }: { groups: number[]; node: number },
  key: Buffer,
) {
  const server = (side: Side) => ({ host: here, port: side.port });
  const name = groupName(zone, groups[0]!);
  const subnet = { address: '198.51.100.0', prefix: 24 };
  const seen = async (side: Side, address: string, isThere: boolean) => {
    for (;;) {
      const { answers } = await ask(server(side), name, dns.types.A, subnet);
      if (answers.some(one => one.type === dns.types.A && dns.addressOf(one.data) === address) === isThere) return;
      await sleep(1);
    }
  };
  const figures = (title: string, all: number[]) =>
    print(`  ${title}`, at(all, 0.5).toFixed(1), at(all, 0.99).toFixed(1), Math.max(...all).toFixed(1));
  const [leaves, comes, moves, bare]: number[][] = [[], [], [], []];
  const timed = async (all: number[], act: () => Promise<unknown>, side: Side, address: string, isThere: boolean) => {
    const from = performance.now();
    await Promise.all([act(), seen(side, address, isThere)]);
    all.push(performance.now() - from);
  };
  const policy = new AddressPolicy({ operator: [], environment: ['127.0.0.0/8'], own: [] });
  const updates = new Rfc2136(`${here}:${sides.plain.port}`, { name: 'bench', algorithm: 'hmacSHA256', secret: key }, { policy });
  for (let n = 0; n < changes; n++) {
    const address = `203.0.113.${1 + (n % 250)}`;
    const status = (to: string) => sql`update node set status = ${to} where id = ${node}`.execute(db);
    const become = () => sql`update node set addresses = ${[address, '2001:db8::1:1']} where id = ${node}`.execute(db);
    const change = [
      drop(name, dns.types.A),
      add(name, dns.types.A, 20, dns.addressData('192.0.2.2')),
      add(name, dns.types.A, 20, dns.addressData(address)),
    ];
    await timed(moves!, become, sides.ours, address, true);
    await timed(leaves!, () => status('offline'), sides.ours, address, false);
    await timed(comes!, () => status('normal'), sides.ours, address, true);
    await timed(bare!, () => updates.change(lineZone(zone), change), sides.plain, address, true);
  }
  print(`${changes} changes of each kind`, 'p50 ms', 'p99 ms', 'max ms');
  figures('a node leaves its line', leaves!);
  figures('it comes back', comes!);
  figures('its address is another', moves!);
  figures('bare update of plain Knot', bare!);
  const worst = Math.max(at(leaves!, 0.99), at(comes!, 0.99), at(moves!, 0.99));
  console.log(worst < changeMsMost ? `within ${changeMsMost} ms` : `p99 of ${worst.toFixed(0)} ms is more than ${changeMsMost}`);
}
