/** Name servers of an operator's own, as Debian has them: BIND 9, Knot DNS and PowerDNS, each with zones of a test's own. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Engine, findProgram, freePort, poll, spawnEngine } from '#server/store/engine-process.ts';
import { testFolder } from './engines.ts';
import { dig } from './name-server.ts';

export interface OwnNames {
  /** as a setting names it: `127.0.0.1:port`, or where its API is */
  server: string;
  /** of updates, or of its API */
  secret: string;
  dig(...args: string[]): Promise<string[]>;
  /** records more, beside ours: somebody else's */
  write(zone: string, name: string, type: string, value: string): Promise<void>;
  /** a record's set goes, by somebody else's hand */
  remove(zone: string, name: string, type: string): Promise<void>;
  /** as by kill -9 */
  kill(): Promise<void>;
  up(): Promise<void>;
  /** our key may change everything from now on, whatever it was kept from; it begins anew */
  allow?(): Promise<void>;
  stop(): Promise<void>;
}

async function ready(engine: Engine, port: number, zone: string): Promise<void> {
  const isUp = await poll(async () => (await dig(port, zone, 'SOA').catch(() => ['']))[0]!.startsWith('ns.'), 20_000, 50);
  if (isUp) return;
  const said = engine.lastLines().slice(-5).join(' | ');
  await engine.stop();
  throw new Error(`the name server did not start: ${said}`);
}
const programOf = async (name: string, packageName: string) => {
  const found = await findProgram(name);
  if (!found) throw new Error(`${name} is missing: apt-get install ${packageName}`);
  return found;
};

/** Of the key that updates and transfers are signed with. */
export const ownKey = 'breakwater.own';
const apex = '$TTL 60\n@ SOA ns root 1 60 60 3600 5\n@ NS ns\nns A 127.0.0.1\n';
/** `denied`: labels that our key may not change, until `allow`. */
export interface Denying {
  denied?: readonly string[];
}
export async function startBind(zones: readonly string[], { denied = [] }: Denying = {}): Promise<OwnNames> {
  const command = await programOf('named', 'bind9');
  const dir = testFolder('bind');
  const port = await freePort();
  const secret = randomBytes(32).toString('base64');
  for (const zone of zones) writeFileSync(join(dir, `${zone}.zone`), apex);
  const config = join(dir, 'named.conf');
  const policyOf = (zone: string, labels: readonly string[]) =>
    `update-policy { ${labels.map(label => `deny ${ownKey} name ${label}.${zone} ANY; `).join('')}grant ${ownKey} zonesub ANY; grant somebody zonesub ANY; };`;
  const write = (labels: readonly string[]) =>
    writeFileSync(
      config,
      `key "${ownKey}" { algorithm hmac-sha512; secret "${secret}"; };
key "somebody" { algorithm hmac-sha512; secret "${secret}"; };
controls { };
options { directory "${dir}"; pid-file none; session-keyfile none; managed-keys-directory "${dir}"; listen-on port ${port} { 127.0.0.1; };
  listen-on-v6 { none; }; recursion no; dnssec-validation no; allow-transfer { key "${ownKey}"; }; };
${zones.map(zone => `zone "${zone}" { type primary; file "${dir}/${zone}.zone"; ${policyOf(zone, labels)} };`).join('\n')}
`,
    );
  write(denied);
  let engine: Engine;
  const up = async () => {
    engine = await spawnEngine({ command, args: ['-g', '-n', '1', '-c', config], ref: false, deathSignal: 'SIGKILL' });
    await ready(engine, port, zones[0]!);
  };
  await up();
  return updated(
    port,
    secret,
    () => engine,
    up,
    () => write([]),
  );
}

/** One that both we and somebody else change by updates, each with a key. */
function updated(port: number, secret: string, engine: () => Engine, up: () => Promise<void>, allow: () => void): OwnNames {
  const update = async (zone: string, line: string) =>
    void execFileSync('nsupdate', ['-y', `hmac-sha512:somebody:${secret}`], {
      input: `server 127.0.0.1 ${port}\nzone ${zone}\n${line}\nsend\n`,
    });
  return {
    server: `127.0.0.1:${port}`,
    secret,
    dig: (...args) => dig(port, ...args),
    write: (zone, name, type, value) => update(zone, `update add ${name} 60 ${type} ${value}`),
    remove: (zone, name, type) => update(zone, `update delete ${name} ${type}`),
    kill: async () => {
      process.kill(engine().pid, 'SIGKILL');
      await engine().exited;
    },
    up,
    allow: async () => {
      allow();
      await engine().stop();
      await up();
    },
    stop: async () => void (await engine().stop()),
  };
}

/**
 * Knot DNS as an operator runs it himself, not the embedded one: it takes updates and lets zones be transferred with the key. `allowed`: names within
 * its zones that our key may change alone, until `allow`.
 */
export async function startOwnKnot(zones: readonly string[], allowed: readonly string[] = []): Promise<OwnNames> {
  const command = await programOf('knotd', 'knot');
  const dir = testFolder('own-knot');
  const port = await freePort();
  const secret = randomBytes(32).toString('base64');
  mkdirSync(join(dir, 'db'));
  for (const zone of zones) writeFileSync(join(dir, `${zone}.zone`), `$ORIGIN ${zone}.\n${apex}`);
  const config = join(dir, 'knot.conf');
  const write = (labels: readonly string[]) => {
    const isKept = labels.length > 0;
    const keeping = [
      ...['  - id: some', `    key: ${ownKey}`, '    action: update'],
      ...['    update-owner: name', '    update-owner-match: equal', `    update-owner-name: [${labels.join(', ')}]`],
      ...['  - id: asks', `    key: ${ownKey}`, '    action: transfer'],
    ];
    const key = (id: string) => [`  - id: ${id}`, '    algorithm: hmac-sha512', `    secret: "${secret}"`];
    writeFileSync(
      config,
      [
        ...['server:', `  rundir: "${dir}"`, `  pidfile: "${dir}/knot.pid"`, `  listen: "127.0.0.1@${port}"`],
        ...['  udp-workers: 1', '  tcp-workers: 1', '  background-workers: 1'],
        ...['log:', '  - target: stderr', '    any: warning'],
        ...[
          'database:',
          `  storage: "${dir}/db"`,
          '  journal-db-max-size: 10M',
          '  kasp-db-max-size: 10M',
          '  timer-db-max-size: 10M',
        ],
        ...['key:', ...key(ownKey), ...key('somebody')],
        ...[
          'acl:',
          ...(isKept ? keeping : []),
          '  - id: ours',
          `    key: [${isKept ? '' : `${ownKey}, `}somebody]`,
          '    action: [update, transfer]',
        ],
        ...['template:', '  - id: default', `    storage: "${dir}"`, '    zonefile-sync: -1', '    zonefile-load: difference'],
        ...['    journal-content: all', '    journal-max-usage: 1M'],
        'zone:',
        ...zones.flatMap(zone => [
          `  - domain: ${zone}`,
          `    file: "${zone}.zone"`,
          `    acl: [${isKept ? 'some, asks, ' : ''}ours]`,
        ]),
        '',
      ].join('\n'),
    );
  };
  write(allowed);
  let engine: Engine;
  const up = async () => {
    // one that was killed left it, and it does not start while there is such a process
    rmSync(join(dir, 'knot.pid'), { force: true });
    engine = await spawnEngine({ command, args: ['-c', config], ref: false, deathSignal: 'SIGKILL' });
    await ready(engine, port, zones[0]!);
  };
  await up();
  return updated(
    port,
    secret,
    () => engine,
    up,
    () => write([]),
  );
}

const schema = '/usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql';
export async function startPowerDns(zones: readonly string[]): Promise<OwnNames> {
  const command = await programOf('pdns_server', 'pdns-server pdns-backend-sqlite3');
  const dir = testFolder('pdns');
  mkdirSync(join(dir, 'run'));
  const [port, apiPort] = [await freePort(), await freePort()];
  const secret = randomBytes(18).toString('base64url');
  const { DatabaseSync } = await import('node:sqlite');
  const { readFileSync } = await import('node:fs');
  const database = new DatabaseSync(join(dir, 'names.db'));
  database.exec(readFileSync(schema, 'utf8'));
  database.close();
  writeFileSync(
    join(dir, 'pdns.conf'),
    [
      'launch=gsqlite3',
      `gsqlite3-database=${dir}/names.db`,
      'local-address=127.0.0.1',
      `local-port=${port}`,
      `socket-dir=${dir}/run`,
      'api=yes',
      `api-key=${secret}`,
      'webserver=yes',
      'webserver-address=127.0.0.1',
      `webserver-port=${apiPort}`,
      'webserver-allow-from=127.0.0.0/8',
      '',
    ].join('\n'),
  );
  const server = `http://127.0.0.1:${apiPort}`;
  const api = async (method: string, path: string, body?: object) => {
    const answer = await fetch(`${server}/api/v1/servers/localhost/zones${path}`, {
      method,
      headers: { 'x-api-key': secret, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  };
  let engine: Engine;
  const spawn = async () => {
    engine = await spawnEngine({ command, args: [`--config-dir=${dir}`], ref: false, deathSignal: 'SIGKILL' });
  };
  const change = (zone: string, name: string, type: string, more: object) =>
    api('PATCH', `/${zone}.`, { rrsets: [{ name: `${name}.`, type, ...more }] });
  await spawn();
  const isUp = await poll(
    () =>
      api('GET', '').then(
        () => true,
        () => false,
      ),
    20_000,
    50,
  );
  if (!isUp) throw new Error(`PowerDNS did not start: ${engine!.lastLines().slice(-5).join(' | ')}`);
  for (const zone of zones) {
    await api('POST', '', { name: `${zone}.`, kind: 'Native', nameservers: [`ns.${zone}.`] });
    await change(zone, zone, 'SOA', {
      ttl: 60,
      changetype: 'REPLACE',
      records: [{ content: `ns.${zone}. root.${zone}. 1 60 60 3600 5`, disabled: false }],
    });
  }
  await ready(engine!, port, zones[0]!);
  return {
    server,
    secret,
    dig: (...args) => dig(port, ...args),
    write: (zone, name, type, value) =>
      change(zone, name, type, { ttl: 60, changetype: 'REPLACE', records: [{ content: value, disabled: false }] }),
    remove: (zone, name, type) => change(zone, name, type, { changetype: 'DELETE' }),
    kill: async () => {
      process.kill(engine.pid, 'SIGKILL');
      await engine.exited;
    },
    up: async () => {
      await spawn();
      await ready(engine, port, zones[0]!);
    },
    stop: async () => void (await engine.stop()),
  };
}

/** Who has copies of zones, of the primary at this port: BIND 9, told of changes and let in by the key. */
export async function startSecondary(
  zones: readonly string[],
  primaryPort: number,
  key: { name: string; secret: string },
): Promise<{ port: number; dig: OwnNames['dig']; stop(): Promise<void> }> {
  const command = await programOf('named', 'bind9');
  const dir = testFolder('secondary');
  const port = await freePort();
  const config = join(dir, 'named.conf');
  writeFileSync(
    config,
    `key "${key.name}" { algorithm hmac-sha256; secret "${key.secret}"; };
controls { };
options { directory "${dir}"; pid-file none; session-keyfile none; managed-keys-directory "${dir}"; listen-on port ${port} { 127.0.0.1; };
  listen-on-v6 { none; }; recursion no; dnssec-validation no; min-retry-time 1; max-retry-time 1; };
${zones.map(zone => `zone "${zone}" { type secondary; file "${dir}/${zone}.zone"; primaries { 127.0.0.1 port ${primaryPort} key "${key.name}"; }; };`).join('\n')}
`,
  );
  const engine = await spawnEngine({ command, args: ['-g', '-n', '1', '-c', config], ref: false, deathSignal: 'SIGKILL' });
  return { port, dig: (...args) => dig(port, ...args), stop: async () => void (await engine.stop()) };
}
