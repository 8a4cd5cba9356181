/** The plain side of the dns benchmark: the same name server with static zones, nothing of ours; and dnsperf, which asks both. */
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ask } from '#server/resolution/ask.ts';
import { type Engine, freePort, poll, spawnEngine } from '#server/store/engine-process.ts';
import * as dns from '#server/domain/dns/message.ts';
import { testFolder } from '#system/engines.ts';
import { cpuSeconds } from './_cpu.ts';

const run = promisify(execFile);

export interface Side {
  port: number;
  pid: number;
}

/** Zones as files of a zone have them, and `allow`ed updates by a key. */
export async function startPlain(
  zones: Readonly<Record<string, readonly string[]>>,
  key: Buffer,
): Promise<Side & { engine: Engine }> {
  const dir = testFolder('plain-dns');
  const port = await freePort();
  mkdirSync(join(dir, 'db'));
  for (const [zone, records] of Object.entries(zones))
    writeFileSync(
      join(dir, `${zone}.zone`),
      ['$TTL 300', `@ SOA ns.${zone}. root.${zone}. 1 60 60 3600 20`, '@ NS ns', 'ns A 127.0.0.1', ...records, ''].join('\n'),
    );
  const config = join(dir, 'knot.conf');
  writeFileSync(
    config,
    [
      ...['server:', `  rundir: "${dir}"`, `  pidfile: "${dir}/knot.pid"`, `  listen: "127.0.0.1@${port}"`],
      ...['control:', `  listen: "${dir}/knot.sock"`, 'log:', '  - target: stderr', '    any: warning'],
      ...['database:', `  storage: "${dir}/db"`],
      ...['key:', '  - id: bench', '    algorithm: hmac-sha256', `    secret: "${key.toString('base64')}"`],
      ...['acl:', '  - id: ours', '    key: bench', '    action: update'],
      ...['template:', '  - id: default', `    storage: "${dir}"`, '    zonefile-sync: -1'],
      'zone:',
      ...Object.keys(zones).flatMap(zone => [`  - domain: ${zone}`, `    file: "${zone}.zone"`, '    acl: ours']),
      '',
    ].join('\n'),
  );
  const engine = await spawnEngine({ command: 'knotd', args: ['-c', config], ref: false, deathSignal: 'SIGKILL' });
  const server = { host: '127.0.0.1', port };
  const isUp = await poll(
    () =>
      Promise.all(Object.keys(zones).map(zone => ask(server, zone, dns.types.SOA))).then(
        said => said.every(one => one.answers.length),
        () => false,
      ),
    60_000,
    100,
  );
  if (!isUp) throw new Error(`plain Knot did not start: ${engine.lastLines().slice(-5).join(' | ')}`);
  return { port, pid: engine.pid, engine };
}

/** All threads of whoever answers on one core; whoever asks has the other. */
export const onOneCore = ({ pid }: Side) => run('taskset', ['-apc', '0', String(pid)]);

/** Questions as dnsperf reads them (`-B`): each with its length before it. */
export function questionFile(name: string, questions: Iterable<Buffer>): string {
  const file = join(testFolder('questions'), name);
  const parts: Buffer[] = [];
  for (const one of questions) {
    const length = Buffer.alloc(2);
    length.writeUInt16BE(one.length);
    parts.push(length, one);
  }
  writeFileSync(file, Buffer.concat(parts));
  return file;
}

export interface Load {
  perSecond: number;
  /** of the name server, for each answer */
  cpuMicros: number;
  lost: number;
}
/** @throws Error where anything else than an answer came */
export async function load(side: Side, file: string, seconds: number): Promise<Load> {
  const before = cpuSeconds(side.pid);
  const { stdout } = await run('taskset', [
    ...['-c', '1', 'dnsperf', '-s', '127.0.0.1', '-p', String(side.port), '-B', '-d', file],
    ...['-l', String(seconds), '-c', '8', '-q', '200', '-t', '2'],
  ]);
  const cpu = cpuSeconds(side.pid) - before;
  const number = (what: RegExp) => Number(what.exec(stdout)?.[1] ?? Number.NaN);
  const completed = number(/Queries completed:\s+(\d+)/);
  if (!(number(/NOERROR (\d+)/) === completed && completed > 0)) throw new Error(`not all was answered:\n${stdout}`);
  return {
    perSecond: number(/Queries per second:\s+([\d.]+)/),
    cpuMicros: (cpu / completed) * 1e6,
    lost: number(/Queries lost:\s+(\d+)/),
  };
}
