/** What this installation is, for the address policy: noted at each start by the process that publishes to the nodes. */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { sql } from 'kysely';
import type { Settings } from '../settings.ts';
import type { Database } from '../store/db.ts';
import { writeSetting } from './settings.ts';

type Facts = Pick<
  Settings,
  'databaseUrl' | 'natsUrl' | 'clickhouse' | 'port' | 'publicURL' | 'originAllow' | 'ownPorts' | 'demo'
>;

const lookupMs = 3000;
const withPort = (address: string, port: number) => (isIP(address) === 6 ? `[${address}]:${port}` : `${address}:${port}`);

/** Addresses of our engines: with the port where they are this machine's loopback, else without, for a host of ours is no origin. */
async function engineAddresses(url: string | undefined, defaultPort: number): Promise<string[]> {
  if (!url || !URL.canParse(url)) return [];
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  const found = isIP(host)
    ? [host]
    : await Promise.race([
        lookup(host, { all: true }).then(
          all => all.map(one => one.address),
          () => [],
        ),
        new Promise<string[]>(done => setTimeout(() => done([]), lookupMs).unref()),
      ]);
  return found.map(address =>
    /^(127\.|::1$)/.test(address) ? withPort(address, Number(port) || defaultPort) : address.split('%', 1)[0]!,
  );
}

export async function ownAddresses(facts: Facts): Promise<string[]> {
  const engines = await Promise.all([
    engineAddresses(facts.databaseUrl, 5432),
    Promise.all((facts.natsUrl?.split(',') ?? []).map(one => engineAddresses(one, 4222))).then(found => found.flat()),
    engineAddresses(facts.clickhouse?.url, 8123),
    engineAddresses(facts.publicURL, facts.port),
  ]);
  const outer = Object.values(networkInterfaces())
    .flatMap(list => list ?? [])
    .filter(one => !one.internal && !one.address.startsWith('fe80:'))
    .map(one => one.address);
  const ports = [facts.port, ...facts.ownPorts].filter(port => Number.isInteger(port) && port > 0 && port < 65_536);
  // the ports stand for every address of this machine, also where the environment opens one
  const local = ports.flatMap(port => ['127.0.0.1', '::1', ...outer].map(address => withPort(address, port)));
  return [...new Set([...engines.flat(), ...outer, ...local])].sort().slice(0, 1000);
}

/** Tells every zone when something of it changed. */
export async function rememberInstallation(database: Database, facts: Facts): Promise<void> {
  const own = await ownAddresses(facts);
  await database.db.transaction().execute(async db => {
    const changed = [
      await writeSetting(db, null, 'originEnvironment', facts.originAllow),
      await writeSetting(db, null, 'ownAddresses', own),
      // what a demo opened is closed by the first start without it
      ...(facts.demo ? [] : [await writeSetting(db, null, 'originDemo', null)]),
    ];
    if (!changed.includes(true)) return;
    await sql`
      with raised as (update zone set revision = nextval('revision') where "deletedAt" is null returning id, revision)
      insert into outbox (kind, "entityID", "zoneID", revision) select 'zone', id, id, revision from raised`.execute(db);
  });
}
