/** The supervisor of `npm start` on its engines alone: faults, restarts, what is left behind. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, test } from 'node:test';
import pg from 'pg';
import { checkPrograms } from '#bin/launch/keys.ts';
import { supervise } from '#bin/launch/supervise.ts';
import { projectFolder } from '#bin/launch/settings.ts';
import { allPids, freePort, poll, processFacts, signalGroup, spawnEngine } from '#server/store/engine-process.ts';
import { testFolder } from './engines.ts';

const launches: ChildProcess[] = [];
after(() => {
  for (const child of launches) if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
});

interface Launch {
  child: ChildProcess;
  output(): string;
  ended: Promise<number | null>;
}

/** Runs the launcher; `output` is what it said so far. */
function launch(args: string[], env: NodeJS.ProcessEnv, uid?: number): Launch {
  const child = spawn(process.execPath, [join(projectFolder, 'bin/launch.ts'), ...args], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(uid !== undefined && { uid, gid: uid }),
  });
  launches.push(child);
  let output = '';
  for (const stream of [child.stdout!, child.stderr!]) stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  return { child, output: () => output, ended: new Promise(done => child.once('close', done)) };
}

/** Processes that mention the folder on their command line. */
const processesOn = (folder: string) =>
  allPids().filter(pid => {
    try {
      return pid !== process.pid && !!processFacts(pid) && readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(`${folder}/`);
    } catch {
      return false;
    }
  });

const engines = '--only=postgres,nats';
/** undefined: it is gone since it was listed */
function commandOf(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return undefined;
  }
}
const pidOf = (folder: string, program: string) => processesOn(folder).find(pid => commandOf(pid) === program);

test('the life of a data folder: start, second instance, kill -9 of each engine, end, second start, kill -9 of the supervisor', async () => {
  const folder = join(testFolder('launch'), 'data');
  const env = { BREAKWATER_DATA: folder };
  const first = launch([engines], env);
  assert.ok(await poll(() => first.output().includes('\nready postgres, nats\n'), 60_000), first.output());
  for (const file of ['secret.key', 'postgres.password', 'nats/keys.json', 'nats/server.creds']) {
    assert.equal(statSync(join(folder, file)).mode & 0o777, 0o600, file);
  }

  const second = launch([engines], env);
  assert.equal(await second.ended, 1);
  assert.match(
    second.output().trim(),
    new RegExp(
      `^Another Breakwater \\(process ${first.child.pid}\\) runs on \\S+: end it first, or set BREAKWATER_DATA to another folder\\.$`,
    ),
  );

  const password = readFileSync(join(folder, 'postgres.password'), 'utf8').trim();
  const { postgres: port } = JSON.parse(readFileSync(join(folder, 'run/ports.json'), 'utf8')) as { postgres: number };
  const url = `postgres://breakwater:${password}@127.0.0.1:${port}/breakwater`;
  const ask = async (sql: string) => {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2000 });
    client.on('error', () => {});
    try {
      await client.connect();
      return (await client.query<{ n: number }>(sql)).rows;
    } finally {
      await client.end().catch(() => {});
    }
  };
  await ask('create table kept as select 1 as n');

  for (const program of ['postgres', 'nats-server']) {
    const victim = pidOf(folder, program);
    assert.ok(victim, program);
    process.kill(victim, 'SIGKILL');
    const back = () => {
      const pid = pidOf(folder, program);
      return pid !== undefined && pid !== victim && first.output().includes(`${program.split('-')[0]!.padEnd(8)} runs again`);
    };
    assert.ok(await poll(back, 30_000), `${program} did not come back: ${first.output()}`);
  }
  assert.deepEqual(await ask('select n from kept'), [{ n: 1 }]);

  first.child.kill('SIGTERM');
  assert.equal(await first.ended, 0, first.output());
  assert.deepEqual(processesOn(folder), []);

  const again = launch([engines], env);
  assert.ok(await poll(() => again.output().includes('\nready postgres, nats\n'), 60_000), again.output());
  assert.deepEqual(await ask('select n from kept'), [{ n: 1 }]);
  again.child.kill('SIGKILL');
  await again.ended;
  assert.ok(await poll(() => processesOn(folder).length === 0, 20_000), 'engines outlived their supervisor');

  const third = launch([engines], env);
  assert.ok(await poll(() => third.output().includes('\nready postgres, nats\n'), 60_000), third.output());
  assert.deepEqual(await ask('select n from kept'), [{ n: 1 }]);
  third.child.kill('SIGINT');
  assert.equal(await third.ended, 0);
});

test('a data folder below one that only root may enter: its parts see their own part of it, and nothing else there', async () => {
  const closed = testFolder('closed');
  chmodSync(closed, 0o700);
  writeFileSync(join(closed, 'private'), 'of somebody else', { mode: 0o644 });
  const folder = join(closed, 'below/data');
  const { child, output, ended } = launch([engines], { BREAKWATER_DATA: folder });
  const isUp = await poll(() => output().includes('\nready postgres, nats\n') || child.exitCode !== null, 60_000);
  if (child.exitCode !== null) {
    // a machine (a container) on which not even root may mount
    assert.match(
      output().trim(),
      /lies below \S+, which only its owner may enter: run `chmod o\+x \S+`, or move it, for example below \/opt\.$/,
    );
    return;
  }
  assert.ok(isUp, output());
  const postgres = pidOf(folder, 'postgres')!;
  if (process.getuid?.() === 0) {
    assert.deepEqual(readdirSync(`/proc/${postgres}/root${closed}`), ['below']);
    assert.doesNotMatch(readFileSync(`/proc/${postgres}/status`, 'latin1'), /^CapEff:\s*0*[1-9a-f]/m);
  }
  child.kill('SIGTERM');
  assert.equal(await ended, 0, output());
  assert.deepEqual(processesOn(folder), []);
  assert.equal(readFileSync(join(closed, 'private'), 'utf8'), 'of somebody else');
});

test('orphans of an earlier run are ended, strangers are left alone', async () => {
  const folder = join(testFolder('orphans'), 'data');
  const first = launch(['--only=nats'], { BREAKWATER_DATA: folder });
  assert.ok(await poll(() => first.output().includes('\nready nats\n'), 60_000), first.output());
  first.child.kill('SIGTERM');
  await first.ended;
  const orphan = await spawnEngine({ command: 'sleep', args: ['600'], ref: false });
  const stranger = await spawnEngine({ command: 'sleep', args: ['600'], ref: false });
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  const record = (pid: number, start: string | undefined) => `${pid} ${start} ${boot} agent\n`;
  // the stranger has the number of somebody who was recorded, but began at another time
  writeFileSync(join(folder, 'run/sessions'), record(orphan.pid, processFacts(orphan.pid)?.start) + record(stranger.pid, '1'));
  const second = launch(['--only=nats'], { BREAKWATER_DATA: folder });
  assert.ok(await poll(() => second.output().includes('\nready nats\n'), 60_000), second.output());
  assert.match(second.output(), /Ended 1 process an earlier run had left behind\./);
  assert.equal(processFacts(orphan.pid), undefined);
  assert.ok(processFacts(stranger.pid));
  signalGroup(stranger.pid, 'SIGKILL');
  second.child.kill('SIGTERM');
  assert.equal(await second.ended, 0);
});

const refusals: [what: string, env: NodeJS.ProcessEnv, args: string[], says: RegExp][] = [
  ['a bad port', { BREAKWATER_PORT: 'http' }, [], /^BREAKWATER_PORT must be a port from 1 to 65535, it is "http"\.$/],
  [
    'two equal ports',
    { BREAKWATER_EDGE_HTTP: '8080' },
    [],
    /^BREAKWATER_PORT and BREAKWATER_EDGE_HTTP are both 8080: give one of them another port\.$/,
  ],
  ['an unknown argument', {}, ['--fast'], /^Unknown argument --fast\. `npm start -- --help` lists what there is\.$/],
  [
    'an unknown part',
    {},
    ['--only=mail'],
    /^--only knows no part "mail": it takes postgres, nats, store, dns, ingest, server, agent\.$/,
  ],
  [
    'a data folder that is a file',
    { BREAKWATER_DATA: '/etc/hostname/data' },
    [],
    /^The data folder \/etc\/hostname\/data cannot be made: .+ BREAKWATER_DATA names another one\.$/,
  ],
  [
    'a database that does not answer',
    { DATABASE_URL: 'postgres://a:secret@127.0.0.1:1/b' },
    ['--only=postgres'],
    /^The PostgreSQL of DATABASE_URL does not answer: check its address, user and password\.$/,
  ],
  [
    'a URL of another kind',
    { NATS_URL: 'http://127.0.0.1:4222' },
    [],
    /^NATS_URL must be a URL that begins with nats:\/\/ or tls:\/\/\.$/,
  ],
];
for (const [what, env, args, says] of refusals) {
  test(`${what} is refused with one sentence`, async () => {
    const { ended, output } = launch(args, { BREAKWATER_DATA: join(testFolder('refused'), 'data'), ...env });
    assert.equal(await ended, 1);
    assert.match(output().trim(), says);
  });
}

test('a data folder that cannot be written is refused with one sentence', async () => {
  const folder = join(testFolder('readonly'), 'data');
  mkdirSync(join(folder, 'run'), { recursive: true });
  chmodSync(join(folder, 'run'), 0o555);
  chmodSync(folder, 0o555);
  const { ended, output } = launch([engines], { BREAKWATER_DATA: folder }, process.getuid?.() === 0 ? 61_234 : undefined);
  assert.equal(await ended, 1);
  assert.match(
    output().trim(),
    /^The data folder \S+ cannot be written: .+ Make it writable for the user who starts Breakwater, or set BREAKWATER_DATA to another folder\.$/,
  );
});

test('programs that their owner alone may read are refused with one sentence', { skip: process.getuid?.() !== 0 }, () => {
  const folder = testFolder('programs');
  for (const name of ['node_modules', 'server/src', 'agent/src', 'edge/lua']) mkdirSync(join(folder, name), { recursive: true });
  for (const name of ['package.json', 'server/src/main.ts', 'agent/src/main.ts']) writeFileSync(join(folder, name), '');
  checkPrograms(folder);
  for (const [name, mode] of [
    ['agent/src/main.ts', 0o600],
    ['node_modules', 0o700],
  ] as const) {
    chmodSync(join(folder, name), mode);
    assert.throws(
      () => checkPrograms(folder),
      /may be read by its owner alone, .*: run `chmod -R go\+rX \S+`, or start as another user than root\.$/,
    );
    chmodSync(join(folder, name), 0o755);
  }
});

test('a port that is taken is named, with its holder and the variable that changes it', async () => {
  const port = await freePort();
  const holder = createServer();
  await new Promise<void>(done => holder.listen(port, '127.0.0.1', done));
  const { ended, output } = launch(['--only=server'], {
    BREAKWATER_DATA: join(testFolder('taken'), 'data'),
    BREAKWATER_PORT: String(port),
  });
  assert.equal(await ended, 1);
  assert.match(
    output().trim(),
    new RegExp(`^Port ${port} is taken by \\S+ \\(process ${process.pid}\\): end it, or set BREAKWATER_PORT to another port\\.$`),
  );
  holder.close();
});

test('a part that keeps ending is started with growing pauses, and ends when asked in a pause', async () => {
  const said: string[] = [];
  let starts = 0;
  const part = await supervise(
    { name: 'brittle', start: () => (starts++, spawnEngine({ command: 'sh', args: ['-c', 'exit 3'] })) },
    { log: (_, text) => said.push(text) },
  );
  const pauses = () => said.flatMap(text => /ended with code 3: starts again in ([\d.]+) s/.exec(text)?.[1] ?? []);
  assert.ok(await poll(() => pauses().length >= 3, 20_000));
  await part.stop();
  assert.deepEqual(pauses().slice(0, 3), ['0.2', '0.4', '0.8']);
  const before = starts;
  await part.stop();
  assert.equal(starts, before);
});

test('a part that does not answer its health check is killed and started anew', async () => {
  let starts = 0;
  const part = await supervise(
    {
      name: 'deaf',
      start: () => (starts++, spawnEngine({ command: 'sleep', args: ['600'] })),
      healthy: () => Promise.resolve(starts > 1),
    },
    { log: () => {}, healthEveryMs: 20 },
  );
  const first = part.pid()!;
  assert.ok(await poll(() => starts === 2 && part.pid() !== undefined, 20_000));
  assert.equal(processFacts(first), undefined);
  await part.stop();
  assert.equal(part.pid() === undefined || processFacts(part.pid()!) === undefined, true);
});
