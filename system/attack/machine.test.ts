/** A neighbour on the machine, and a part that was taken over: what they see of the others, on the whole as `npm start` runs it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { lstatSync, readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import { after, before, test } from 'node:test';
import { partAccounts, accountOf } from '#server/store/accounts.ts';
import { poll } from '#server/store/engine-process.ts';
import { password, Whole } from '../whole.ts';

const isRoot = process.getuid?.() === 0;
let whole: Whole;
before(async () => {
  whole = await Whole.start(['--demo']);
});
after(async () => {
  await whole?.stop();
});

const status = (pid: number) => {
  const text = readFileSync(`/proc/${pid}/status`, 'latin1');
  const field = (name: string) => new RegExp(`^${name}:[ \\t]*(.*)$`, 'm').exec(text)![1]!;
  return {
    uids: [...new Set(field('Uid').split(/\s+/))].map(Number),
    groups: field('Groups').trim(),
    rights: ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'].map(name => BigInt(`0x${field(name)}`)),
    noNewPrivileges: field('NoNewPrivs') === '1',
  };
};
const netBindService = 1n << 10n;
const netAdmin = 1n << 12n;

/** Which processes each part has, by their command lines; every process of the installation is one of them. */
const parts: [part: string, account: (typeof partAccounts)[number] | 'root', rights: bigint, command: RegExp][] = [
  ['launcher', 'root', -1n, /bin\/launch\.ts/],
  ['postgres', 'postgres', 0n, /^\S*\/postgres |^postgres: /],
  ['nats', 'nats', 0n, /nats-server/],
  ['store', 'store', 0n, /analytics\/store\.ts/],
  ['ingest', 'ingest', 0n, /--services=ingest/],
  // whatever it starts to make data of places is no more than it
  ['server', 'server', 0n, /--services=api|resolution\/geo\/build\.ts/],
  ['dns', 'dns', netBindService, /knotd/],
  ['agent', 'node', netBindService | netAdmin, /agent\/src\/main\.ts/],
  ['nginx', 'node', netBindService, /^nginx: |^nginx /],
  ['demo', 'demo', 0n, /bin\/demo-/],
];
const lineOf = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ').trim();

test('each part runs as a user of its own, with the rights it needs and no way to more', { skip: !isRoot }, () => {
  const seen = new Map<string, number>();
  for (const pid of whole.pids(/./)) {
    const found = parts.find(([, , , command]) => command.test(lineOf(pid)));
    assert.ok(found, `nobody knows process ${pid}: ${lineOf(pid)}`);
    const [part, account, rights] = found;
    seen.set(part, (seen.get(part) ?? 0) + 1);
    if (account === 'root') continue;
    const is = status(pid);
    assert.deepEqual(is.uids, [accountOf(account)!.uid], part);
    assert.equal(is.groups, '', part);
    assert.ok(is.noNewPrivileges, part);
    const [inherited, permitted, effective, bounding, ambient] = is.rights as [bigint, bigint, bigint, bigint, bigint];
    for (const set of [inherited, permitted, effective, ambient])
      assert.equal(set & ~rights, 0n, `${part} has ${set.toString(16)}`);
    assert.equal(bounding & ~(rights === 0n ? 0n : netBindService | netAdmin), 0n, `${part} may get ${bounding.toString(16)}`);
  }
  for (const [part] of parts) assert.ok(seen.get(part), `${part} runs`);
  assert.equal(new Set(partAccounts.map(name => accountOf(name)!.uid)).size, partAccounts.length);
});

/** Everything that opens something, as text. */
function secrets(): Map<string, string> {
  const read = (path: string) => readFileSync(join(whole.folder, path));
  const key = read('secret.key');
  const found: [string, string][] = [
    ['the password of the accounts', password],
    ['the password of PostgreSQL', read('postgres.password').toString('utf8').trim()],
    ['the password of the store', read('store.password').toString('base64url')],
    ...(['hex', 'base64', 'base64url', 'latin1'] as const).map(as => [`the key, ${as}`, key.toString(as)] as [string, string]),
    ['the join token', read('run/keys/agent/BREAKWATER_JOIN_TOKEN').toString('utf8')],
  ];
  for (const file of ['nats/keys.json', 'nats/server.creds', 'nats/system.creds', 'node/identity.json'])
    for (const [n, seed] of [
      ...read(file)
        .toString('utf8')
        .matchAll(/\bS[A-Z2-7]{40,}/g),
    ].entries())
      found.push([`seed ${n} of ${file}`, seed[0]]);
  const keys = JSON.parse(read('nats/keys.json').toString('utf8')) as Record<string, string>;
  for (const name of ['master', 'documentSeed']) found.push([`${name} of the bus`, keys[name]!]);
  assert.ok(found.length >= 13);
  return new Map(found);
}

test('no environment and no command line holds a secret', () => {
  const pids = whole.pids(/./);
  assert.ok(pids.length > 10);
  for (const pid of pids)
    for (const file of ['environ', 'cmdline']) {
      const text = readFileSync(`/proc/${pid}/${file}`, 'latin1');
      for (const [what, value] of secrets()) assert.ok(!text.includes(value), `${what} stands in the ${file} of ${lineOf(pid)}`);
    }
});

test('everything that listens, listens on loopback', () => {
  const mine = new Set<string>();
  for (const pid of whole.pids(/./))
    for (const fd of readdirSync(`/proc/${pid}/fd`)) {
      const target = link(`/proc/${pid}/fd/${fd}`);
      const inode = /^socket:\[(\d+)\]$/.exec(target)?.[1];
      if (inode) mine.add(inode);
    }
  let listening = 0;
  for (const table of ['tcp', 'tcp6', 'udp', 'udp6'])
    for (const line of readFileSync(`/proc/net/${table}`, 'latin1').trim().split('\n').slice(1)) {
      const fields = line.trim().split(/\s+/);
      const [local, , state] = fields.slice(1) as [string, string, string];
      const listens = table.startsWith('udp') ? state === '07' : state === '0A';
      if (!listens || !mine.has(fields[9]!)) continue;
      listening++;
      const address = local.split(':')[0]!;
      assert.ok(address === '0100007F' || address === '00000000000000000000000001000000', `${table} ${local}`);
    }
  assert.ok(listening >= 8, `${listening} sockets listen`);
});

function link(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

function* below(folder: string): Generator<string> {
  yield folder;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* below(path);
    else yield path;
  }
}

/** What a user may do in the data folder: paths it can read, write or (sockets) connect to. */
function opened(uid: number, gid: number): string[] {
  const program = `
    const fs = require('node:fs'), net = require('node:net');
    const can = (path, mode) => { try { fs.accessSync(path, mode); return true } catch { return false } };
    for (const path of fs.readFileSync(0, 'utf8').split('\\n')) {
      let stat; try { stat = fs.lstatSync(path) } catch { continue }
      if (stat.isSocket()) net.connect(path).on('connect', () => { console.log(path); process.exit(1) }).on('error', () => {});
      else if (!stat.isSymbolicLink() && (can(path, fs.constants.R_OK) || can(path, fs.constants.W_OK))) console.log(path);
    }`;
  const { stdout, stderr } = spawnSync(
    'setpriv',
    [
      '--reuid',
      String(uid),
      '--regid',
      String(gid),
      '--clear-groups',
      '--bounding-set=-all',
      '--inh-caps=-all',
      'node',
      '-e',
      program,
    ],
    { input: [...below(whole.folder)].join('\n'), encoding: 'utf8', cwd: '/', maxBuffer: 1 << 26 },
  );
  assert.equal(stderr, '');
  return stdout
    .split('\n')
    .filter(Boolean)
    .map(path => relative(whole.folder, path));
}

test('another user reads, writes and connects to nothing in the data folder', { skip: !isRoot }, () => {
  assert.deepEqual(opened(61_234, 61_234), []);
});

test('a part that was taken over sees its own folder and its own secrets alone', { skip: !isRoot }, () => {
  const own: Record<(typeof partAccounts)[number], RegExp> = {
    postgres: /^postgres(\/|$)/,
    nats: /^nats\/(work(\/|$)|nats\.conf$)/,
    store: /^(store|run\/keys\/store)(\/|$)/,
    ingest: /^run\/keys\/ingest(\/|$)/,
    // data of places, what lines answer, and the control of the name server
    server: /^(run\/keys\/server|geo|dns\/lines|dns\/run\/knot\.sock)(\/|$)/,
    dns: /^dns(\/|$)/,
    node: /^(node|run\/keys\/agent)(\/|$)/,
    demo: /^$/,
  };
  for (const part of partAccounts) {
    const { uid, gid } = accountOf(part)!;
    const open = opened(uid, gid);
    assert.deepEqual(
      open.filter(path => !own[part].test(path)),
      [],
      part,
    );
    if (part !== 'demo') assert.ok(open.length > 0, part);
  }
});

test('the modes of what is kept', () => {
  const modes: Record<string, number> = {
    'secret.key': 0o600,
    'postgres.password': 0o600,
    'store.password': 0o600,
    'nats/keys.json': 0o600,
    'nats/server.creds': 0o600,
    'nats/system.creds': 0o600,
    'nats/nats.conf': 0o600,
    'nats/work': 0o700,
    'run/ports.json': 0o600,
    'run/owner': 0o600,
    'run/sessions': 0o600,
    'run/keys/server/DATABASE_URL': 0o600,
    'run/keys/server/BREAKWATER_SECRET_FILE': 0o600,
    'run/keys/agent/BREAKWATER_JOIN_TOKEN': 0o600,
    postgres: 0o700,
    store: 0o700,
    logs: 0o700,
    node: 0o700,
    'node/identity.json': 0o600,
    'node/log': 0o750,
  };
  for (const name of readdirSync(join(whole.folder, 'node/log'))) {
    if (!lstatSync(join(whole.folder, 'node/log', name)).isSymbolicLink()) modes[`node/log/${name}`] ??= 0o640;
  }
  for (const [path, mode] of Object.entries(modes)) {
    const is = lstatSync(join(whole.folder, path)).mode & 0o777;
    assert.equal(is & ~mode, 0, `${path}: ${is.toString(8)} is more than ${mode.toString(8)}`);
  }
});

test('an agent that was killed goes on with the nginx that runs, as the same user', async () => {
  const master = () => whole.pids(/^nginx: master/);
  const [nginx] = master();
  const [agent] = whole.pids(/agent\/src\/main\.ts/);
  assert.ok(nginx && agent);
  process.kill(agent, 'SIGKILL');
  assert.ok(await poll(() => whole.pids(/agent\/src\/main\.ts/).some(pid => pid !== agent), 30_000));
  assert.ok(
    await poll(
      () => readFileSync(join(whole.folder, 'logs/agent.log'), 'utf8').includes('going on with the nginx that runs'),
      30_000,
    ),
  );
  assert.deepEqual(master(), [nginx]);
  assert.equal((await whole.visit('demo.breakwater.test', '/')).status, 200);
});
