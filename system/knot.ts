/** Knot DNS, a name server that takes signed updates (RFC 2136), with zones of a test's own in which every name is this machine. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { Resolver } from 'node:dns/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Engine, freePort, poll, spawnEngine } from '#server/store/engine-process.ts';
import { testFolder } from './engines.ts';

const run = promisify(execFile);

export interface KnotOptions {
  zones: readonly string[];
  /** lines more, of a zone's file */
  lines?: readonly string[];
}
export interface Knot {
  /** `127.0.0.1:port` */
  address: string;
  key: { name: string; algorithm: 'hmacSHA256'; secret: string };
  /** texts of a name as it answers them now */
  texts(name: string): Promise<string[]>;
  /** whether it takes changes of this zone; whoever changes it is refused */
  freeze(zone: string): Promise<unknown>;
  thaw(zone: string): Promise<unknown>;
  stop(): Promise<void>;
}

export async function startKnot({ zones, lines = [] }: KnotOptions): Promise<Knot> {
  const dir = testFolder('knot');
  const port = await freePort(12_000, 19_999);
  const key = { name: 'breakwater.test', algorithm: 'hmacSHA256' as const, secret: randomBytes(32).toString('base64') };
  mkdirSync(join(dir, 'db'));
  for (const zone of zones)
    writeFileSync(
      join(dir, `${zone}.zone`),
      [
        `$ORIGIN ${zone}.`,
        '$TTL 1',
        '@ SOA ns root 1 60 60 3600 1',
        '@ NS ns',
        'ns A 127.0.0.1',
        '@ A 127.0.0.1',
        '* A 127.0.0.1',
        ...lines,
        '',
      ].join('\n'),
    );
  const config = join(dir, 'knot.conf');
  writeFileSync(
    config,
    [
      // its reader takes one thing a line
      ...['server:', `  rundir: "${dir}"`, `  pidfile: "${dir}/knot.pid"`, `  listen: "127.0.0.1@${port}"`],
      ...['  udp-workers: 1', '  tcp-workers: 1', '  background-workers: 1'],
      ...['control:', `  listen: "${dir}/knot.sock"`],
      ...['log:', '  - target: stderr', '    any: warning'],
      ...[
        'database:',
        `  storage: "${dir}/db"`,
        '  journal-db-max-size: 10M',
        '  kasp-db-max-size: 10M',
        '  timer-db-max-size: 10M',
      ],
      ...['key:', `  - id: ${key.name}`, '    algorithm: hmac-sha256', `    secret: "${key.secret}"`],
      ...['acl:', '  - id: ours', `    key: ${key.name}`, '    action: update'],
      ...['template:', '  - id: default', `    storage: "${dir}"`, '    zonefile-sync: -1', '    journal-max-usage: 1M'],
      'zone:',
      ...zones.flatMap(zone => [`  - domain: ${zone}`, `    file: "${zone}.zone"`, '    acl: ours']),
      '',
    ].join('\n'),
  );
  const engine: Engine = await spawnEngine({ command: 'knotd', args: ['-c', config], ref: false, deathSignal: 'SIGKILL' });
  const address = `127.0.0.1:${port}`;
  const resolver = new Resolver({ timeout: 1000, tries: 1 });
  resolver.setServers([address]);
  const isReady = await poll(
    async () => (await Promise.all(zones.map(zone => resolver.resolveSoa(zone).catch(() => undefined)))).every(soa => soa),
    20_000,
    50,
  );
  if (!isReady) {
    const said = engine.lastLines().slice(-5).join(' | ');
    await engine.stop();
    throw new Error(`Knot did not start: ${said}`);
  }
  const control = (...args: string[]) => run('knotc', ['-b', '-s', `${dir}/knot.sock`, ...args]);
  return {
    address,
    key,
    texts: async name =>
      (
        await resolver.resolveTxt(name).catch((error: NodeJS.ErrnoException) => {
          if (error.code === 'ENODATA' || error.code === 'ENOTFOUND') return [];
          throw error;
        })
      ).map(parts => parts.join('')),
    freeze: zone => control('zone-freeze', zone),
    thaw: zone => control('zone-thaw', zone),
    stop: async () => void (await engine.stop()),
  };
}
