/** A backup of everything under traffic, and a new installation out of it on other ports. */
import assert from 'node:assert/strict';
import { execFile, execFileSync, spawn } from 'node:child_process';
import {
  closeSync,
  constants,
  createWriteStream,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { projectFolder } from '#bin/launch/settings.ts';
import { analytics } from '#server/store/analytics/client.ts';
import { poll } from '#server/store/engine-process.ts';
import { testFolder } from './engines.ts';
import { Whole } from './whole.ts';

const host = 'demo.breakwater.test';
const counted = 25;
const folder = testFolder('backup');
const archive = join(folder, 'all.tar.zst');
let first: Whole;
let second: Whole | undefined;
const taken: Server[] = [];
before(async () => {
  first = await Whole.start(['--demo']);
});
after(async () => {
  for (const server of taken) server.close();
  await first?.stop();
  await second?.stop();
});

interface Said {
  code: number;
  out: string;
}
const breakwater = (data: string, ...args: string[]): Promise<Said> =>
  new Promise(done =>
    execFile(
      process.execPath,
      [join(projectFolder, 'bin/cli.ts'), ...args],
      { env: { PATH: process.env.PATH, HOME: process.env.HOME, BREAKWATER_DATA: data } },
      (error, stdout, stderr) => done({ code: error ? Number(error.code ?? 1) : 0, out: stdout + stderr }),
    ),
  );

/** Lines of the visits that are counted. */
async function logged(whole: Whole, token: string): Promise<number> {
  const now = Date.now();
  const { body } = await whole.call('POST', '/client/logs/access', token, {
    startTime: new Date(now - 3_600_000).toISOString(),
    endTime: new Date(now).toISOString(),
    uri: '/counted',
  });
  return body.total ?? -1;
}
/** What the store holds: lines, and the sums made of them. */
async function sums(data: string): Promise<{ lines: number; s1: number; s5: number }> {
  const { store } = JSON.parse(readFileSync(join(data, 'run/ports.json'), 'utf8')) as { store: number };
  const password = readFileSync(join(data, 'store.password')).toString('base64url');
  const db = analytics({ url: `http://127.0.0.1:${store}/breakwater`, password });
  try {
    const [row] = await db.query<{ lines: number; s1: number; s5: number }>(
      'SELECT (SELECT count() FROM access) AS lines, (SELECT sum(req) FROM s1) AS s1, (SELECT sum(req) FROM s5) AS s5',
    );
    return row!;
  } finally {
    db.close();
  }
}

test(
  'a backup is taken while everything runs, restored into an empty folder, and started there',
  { timeout: 300_000 },
  async () => {
    let token = await first.signIn('client');
    const user = await first.signIn('user');
    const { status } = await first.visit(host, '/counted');
    for (let i = 1; i < counted; i++) await first.visit(host, '/counted');
    assert.ok(await poll(async () => (await logged(first, token)) === counted, 60_000, 200));
    const sites = (await first.call('GET', '/user/sites', user)).body.data as { id: number }[];
    const siteID = sites[0]!.id;
    assert.equal((await first.call('PUT', `/user/site/${siteID}/tags`, user, { tags: ['before'] })).status, 200);

    const program = await first.call('POST', '/client/apiToken', token, { name: 'ci', permissionKeys: ['nodes.view'] });
    assert.equal(program.status, 200, JSON.stringify(program.body));

    // visitors and changes go on all the while
    let running = true;
    let changes = 0;
    const traffic = (async () => {
      while (running) await first.visit(host, `/other/${Math.random()}`);
    })();
    const editing = (async () => {
      while (running) {
        const made = await first.call('POST', `/user/site/${siteID}/setting/cacheRule`, user, {
          items: [{ type: 'prefix', value: `/${++changes}`, duration: 1, mode: 'forceCache', priority: 1, enabled: true }],
        });
        assert.equal(made.status, 200, JSON.stringify(made.body));
      }
    })();
    // a person's own files: not ours to take, and no reason to fail
    for (const name of ['.DS_Store', 'notes of today.txt']) writeFileSync(join(first.folder, name), 'x');
    // who asks knows the folder alone
    const doctor = await breakwater(first.folder, 'doctor');
    assert.match(doctor.out, new RegExp(`^ok   server on port ${first.env['BREAKWATER_PORT']} answers`, 'm'));
    assert.doesNotMatch(doctor.out, /server .*does not answer/);
    const made = await breakwater(first.folder, 'backup', archive);
    const snapshot = await breakwater(first.folder, 'snapshot');
    // and one that somebody asks for in the console: whoever started Breakwater makes it
    const DBBackup = '/client/setting/system/DBBackup';
    assert.equal((await first.call('POST', `${DBBackup}/run`, token, { kind: 'backup' })).status, 200);
    assert.ok(
      await poll(async () => (await first.call('GET', DBBackup, token)).body.lastBackup?.state === 'done', 180_000, 200),
      JSON.stringify((await first.call('GET', DBBackup, token)).body),
    );
    assert.equal(readdirSync(join(first.folder, 'backups')).length, 1);
    running = false;
    await Promise.all([traffic, editing]);
    assert.equal(made.code, 0, made.out);
    assert.equal(snapshot.code, 0, snapshot.out);
    assert.match(made.out, /Not in it, .*"\.DS_Store", "notes of today\.txt"/);
    assert.equal(statSync(archive).mode & 0o777, 0o600);
    assert.equal(readdirSync(join(first.folder, 'snapshots')).length, 1);
    assert.deepEqual(
      readdirSync(join(first.folder, 'store/shadow')).filter(name => name.startsWith('backup')),
      [],
    );
    // what comes after is not in it
    assert.equal((await first.call('DELETE', '/client/apiTokens', token, { ids: [program.body.id] })).status, 200);
    assert.equal((await first.call('PUT', `/user/site/${siteID}/tags`, user, { tags: ['after'] })).status, 200);

    const target = join(folder, 'new/data');
    const restored = await breakwater(target, 'restore', archive);
    assert.equal(restored.code, 0, restored.out);
    assert.match(restored.out, /rows, with logs/);
    assert.match(restored.out, /is not encrypted: whoever could write to it/);
    assert.match(
      restored.out,
      /^In force again is what let people and programs in at .+, also what was changed or removed since:$/m,
    );
    assert.match(restored.out, /^ {2}passwords: [1-9]\d* .+\n {2}passkeys: 0\n(?: {2}.+\n){2} {2}API tokens: 1 \(/m);
    assert.equal(statSync(join(target, 'nats')).mode & 0o777, 0o711);
    assert.match((await breakwater(target, 'restore', archive)).out, /is not empty/);
    await first.stop();
    // somebody else has the ports that the engines had
    const ports = Object.values(JSON.parse(readFileSync(join(target, 'run/ports.json'), 'utf8')) as Record<string, number>);
    for (const port of ports)
      await new Promise<void>(done => {
        const server = createServer(socket => socket.destroy());
        taken.push(server);
        server.once('error', () => done());
        server.listen(port, '127.0.0.1', done);
      });
    second = await Whole.start(['--demo'], target);

    // who was signed in signs in anew: what ended after the backup is not open again
    assert.equal((await second.call('GET', '/user/sites', user)).status, 401);
    token = await second.signIn('client');
    const again = await second.signIn('user');
    const site = (await second.call('GET', '/user/sites', again)).body.data[0] as {
      id: number;
      tags: string[];
    };
    assert.deepEqual([site.id, site.tags], [siteID, ['before']]);
    const rules = (await second.call('GET', `/client/site/${siteID}/setting/cacheRules?pageSize=500`, token)).body
      .total as number;
    assert.ok(rules <= changes, `${rules} of ${changes}`);
    // the same node, found again, serves the site and takes changes
    const nodes = (await second.call('GET', '/client/nodes', token)).body.data as { id: number; status: string }[];
    assert.deepEqual(
      nodes.map(node => node.id),
      [1],
    );
    const edge = second;
    assert.ok(await poll(async () => (await edge.visit(host, '/counted')).status === status, 60_000, 200));
    const changed = await second.call('PUT', `/user/site/${siteID}/tags`, again, { tags: ['again'] });
    assert.equal(changed.status, 200);
    assert.ok(
      await poll(
        async () => {
          const { body } = await edge.call('GET', `/client/site/${siteID}/applied`, token);
          return body.nodes === 1 && body.applied === 1;
        },
        60_000,
        200,
      ),
      'the node takes changes',
    );
    // lines of before, and their sums, and those that came since
    assert.ok(await poll(async () => (await logged(edge, token)) >= counted + 1, 60_000, 200));
    const { lines, s1, s5 } = await sums(target);
    assert.ok(lines > counted);
    assert.deepEqual([s1, s5], [lines, lines]);
  },
);

test('a snapshot is restored too, without logs', { timeout: 120_000 }, async () => {
  const snapshots = join(first.folder, 'snapshots');
  const [name] = readdirSync(snapshots);
  const target = join(folder, 'snapshot/data');
  const said = await breakwater(target, 'restore', join(snapshots, name!));
  assert.match(said.out, /without logs/);
  assert.ok(existsSync(join(target, 'secret.key')) && !existsSync(join(target, 'store')));
  rmSync(target, { recursive: true });
  // nothing answers there any more
  await Promise.all(taken.splice(0).map(server => new Promise(done => server.close(done))));
  const missing = await breakwater(first.folder, 'backup', join(folder, 'x.tar.zst'));
  assert.deepEqual(
    [missing.code, missing.out.trim()],
    [1, 'PostgreSQL does not answer: start Breakwater first, or set DATABASE_URL.'],
  );
  assert.ok(!existsSync(join(folder, 'x.tar.zst.part')));
});

test(
  'a restore that is broken off leaves nothing; one that was killed leaves a folder on which nothing starts',
  { timeout: 120_000 },
  async () => {
    const [name] = readdirSync(join(first.folder, 'snapshots'));
    const snapshot = join(first.folder, 'snapshots', name!);
    // an archive that comes slowly, byte by byte from its middle on
    const pipe = join(folder, 'slow.tar.zst');
    execFileSync('mkfifo', [pipe]);
    const breakOff = async (target: string, signal: NodeJS.Signals): Promise<Said> => {
      const child = spawn(process.execPath, [join(projectFolder, 'bin/cli.ts'), 'restore', pipe], {
        env: { PATH: process.env.PATH, HOME: process.env.HOME, BREAKWATER_DATA: target },
        detached: true,
      });
      let out = '';
      for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (out += text));
      const ended = new Promise<number>(done => child.once('close', code => done(code ?? -1)));
      const feed = createWriteStream(pipe);
      feed.on('error', () => {}); // nobody reads any more
      const bytes = readFileSync(snapshot);
      let at = Math.floor(bytes.length / 2);
      feed.write(bytes.subarray(0, at));
      const drip = setInterval(() => feed.write(bytes.subarray(at, ++at)), 20);
      assert.ok(await poll(() => existsSync(join(target, 'restoring')), 30_000), out);
      process.kill(-child.pid!, signal); // the command and what it runs
      const code = await ended;
      clearInterval(drip);
      feed.destroy();
      // a command that ended before it read leaves the writer waiting for a reader, and this process with it
      closeSync(openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK));
      return { code, out };
    };
    for (const signal of ['SIGINT', 'SIGHUP'] as const) {
      const target = join(folder, signal);
      const said = await breakOff(target, signal);
      assert.deepEqual([said.code, said.out.trim()], [1, 'Broken off: nothing was restored.']);
      assert.equal(existsSync(target), false);
    }
    const target = join(folder, 'killed');
    await breakOff(target, 'SIGKILL');
    const refusal = /restore it again into an empty folder\.$/m;
    assert.match((await breakwater(target, 'doctor')).out, refusal);
    assert.match((await breakwater(target, 'restore', snapshot)).out, refusal);
    const start = spawn(process.execPath, [join(projectFolder, 'bin/launch.ts'), '--only=postgres'], {
      env: { PATH: process.env.PATH, HOME: process.env.HOME, BREAKWATER_DATA: target },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let out = '';
    start.stderr.setEncoding('utf8').on('data', (text: string) => (out += text));
    assert.equal(await new Promise(done => start.once('close', done)), 1);
    assert.match(out, refusal);
    assert.deepEqual(readdirSync(target), ['restoring']);
    rmSync(target, { recursive: true });
    assert.equal((await breakwater(target, 'restore', snapshot)).code, 0);
  },
);
