/** Keys of signed zones outlive whatever ends the name server at its start, unless it is proven that they end it; what is made anew goes first. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { KnotDriver } from '#server/resolution/knot.ts';
import type { NameZone } from '#server/resolution/driver.ts';
import { knotAnswers, startKnot } from '#server/resolution/knot-launcher.ts';
import { crashesAfter, putCrashingAside, rememberCrashes } from '#server/resolution/knot-stores.ts';
import { type EngineExit, freePort, poll, processFacts, signalGroup } from '#server/store/engine-process.ts';
import { testFolder } from '#system/engines.ts';
import { NameServer } from '#system/name-server.ts';
import { smallDisk } from '#system/small-disk.ts';

const zone: NameZone = {
  id: 1,
  name: 'cdn.stores.test',
  nameServers: [{ name: 'ns1.stores.test', addresses: [] }],
  isSigned: true,
};
/** Before Debian's own in PATH: each ends by a signal when its file says so, and else is the real one. */
const programs = testFolder('programs');
const said = join(programs, 'said');
let names: NameServer;
let first: string[];
const db = (name: string) => join(names.dir, 'db', name);
const path = process.env.PATH;

before(async () => {
  chmodSync(programs, 0o755);
  mkdirSync(said);
  chmodSync(said, 0o777);
  names = await NameServer.start();
  first = await keys();
  process.env.PATH = `${programs}:${path}`;
});
beforeEach(async () => {
  for (const name of ['knotd', 'keymgr']) rmSync(join(programs, name), { force: true });
  rmSync(join(said, 'starts'), { force: true });
  // it writes its timers when it ends
  await names.stop();
});
after(async () => {
  process.env.PATH = path;
  await names?.stop();
});

/** What the zone above has to be told. */
async function keys(): Promise<string[]> {
  const driver = new KnotDriver(names.service);
  const { failed } = await driver.prepare([zone], [zone], async () => () => []);
  assert.deepEqual([...failed], []);
  return driver.trust(zone);
}
/** `when`: a shell's condition, in which `n` is how often it was started. */
function crashing(program: string, when: string): void {
  const text = [
    '#!/bin/bash',
    `echo >> '${join(said, 'starts')}'; n=$(wc -l < '${join(said, 'starts')}'); keys='${db('keys')}'`,
    `if ${when}; then kill -SEGV $$; fi`,
    `exec /usr/sbin/${program} "$@"`,
  ];
  writeFileSync(join(programs, program), `${text.join('\n')}\n`, { mode: 0o755 });
}
const starts = () => readFileSync(join(said, 'starts'), 'utf8').length;
const aside = (store: string) => readdirSync(db('')).filter(name => name.startsWith(`${store}.`));

test('a program that crashes over the keys proves nothing against them', async () => {
  crashing('keymgr', 'true');
  await names.up();
  assert.ok(starts() > 0);
  assert.deepEqual(aside('keys'), []);
  assert.deepEqual(await keys(), first);
});

test('one crash costs the timers alone', async () => {
  crashing('knotd', '[ $n -le 1 ]');
  await names.up();
  assert.deepEqual(['timers', 'journal', 'keys'].map(aside), [['timers.unread'], [], []]);
  assert.deepEqual(await keys(), first);
});

test('whatever ends it for a while, also until the keys are tried without, costs no key, and what went aside first stays', async () => {
  const journal = readFileSync(join(db('journal'), 'data.mdb'));
  // timers, journal, catalogue
  crashing('knotd', '[ $n -le 4 ]');
  await names.up();
  assert.equal(starts(), 6, 'it was tried without its keys, and then with them');
  assert.deepEqual(aside('keys'), []);
  assert.deepEqual(await keys(), first);
  assert.deepEqual(readFileSync(join(db('journal.unread'), 'data.mdb')), journal);
  await names.stop();
  rmSync(join(said, 'starts'));
  crashing('knotd', '[ $n -le 2 ]');
  await names.up();
  assert.deepEqual(readFileSync(join(db('journal.unread'), 'data.mdb')), journal);
  assert.deepEqual(aside('journal').sort(), ['journal.last.unread', 'journal.unread']);
  assert.deepEqual(await keys(), first);
});

test('who ends while it is tried without keys has them again at the next start', async () => {
  renameSync(db('keys'), db('keys.trial'));
  await names.up();
  assert.notDeepEqual(readdirSync(db('keys')), []);
  assert.deepEqual(aside('keys'), []);
  assert.deepEqual(await keys(), first);
  // also where others were made meanwhile
  await names.stop();
  renameSync(db('keys'), db('keys.elsewhere'));
  await names.up();
  assert.notDeepEqual(await keys(), first);
  await names.stop();
  renameSync(db('keys.elsewhere'), db('keys.trial'));
  await names.up();
  assert.deepEqual(await keys(), first);
});

test('whatever it is that never lets it start, keys stay where they are', async () => {
  crashing('knotd', 'true');
  await assert.rejects(names.up(), /SIGSEGV/);
  assert.deepEqual(aside('keys'), []);
  rmSync(join(programs, 'knotd'));
  await names.up();
  assert.deepEqual(await keys(), first);
});

test('keys that end it twice, and only they, go aside, and each of them is kept', async () => {
  for (const kept of [1, 2]) {
    if (kept > 1) await names.stop();
    writeFileSync(join(db('keys'), 'bad'), '');
    crashing('knotd', '[ -e "$keys/bad" ]');
    await names.up();
    assert.equal(aside('keys').filter(name => existsSync(join(db(name), 'bad'))).length, kept);
    assert.notDeepEqual(await keys(), first);
  }
  assert.ok(existsSync(join(db('keys.unread'), 'data.mdb')));
});

test('a disk that is full keeps none from starting as before', async t => {
  using disk = smallDisk(t, 'size=24m');
  if (!disk) return;
  const port = await freePort();
  const options = { dir: join(disk.folder, 'dns'), port, hosts: ['127.0.0.1'], key: names.key, ref: false };
  for (const isFull of [false, true]) {
    if (isFull) disk.fill(0);
    const engine = await startKnot(options);
    assert.ok(await knotAnswers(port));
    await engine.stop();
  }
});

test('nor does one on which nobody can write down that a start was made without something', t => {
  using disk = smallDisk(t, 'size=1m');
  if (!disk) return;
  mkdirSync(join(disk.folder, 'db/timers'), { recursive: true });
  writeFileSync(join(disk.folder, 'crashes'), '1');
  disk.fill(0);
  putCrashingAside(disk.folder, undefined);
  assert.ok(existsSync(join(disk.folder, 'db/timers.unread')));
});

test('each crash soon after a start that went well costs one database, of those that are made anew, and no other end costs any', async () => {
  const stores = ['timers', 'journal', 'keys'];
  const lost: string[] = [];
  await names.up();
  await keys();
  for (const signal of ['SIGKILL', 'SIGSEGV', 'SIGKILL', 'SIGSEGV', 'SIGSEGV', 'SIGSEGV'] as const) {
    // timers are written when it ends in peace
    const there = stores.filter(store => existsSync(db(store)));
    for (const store of there) writeFileSync(join(db(store), 'mark'), '');
    await names.kill(signal);
    await names.up();
    await keys();
    lost.push(there.filter(store => !existsSync(join(db(store), 'mark'))).join() || 'none');
  }
  assert.deepEqual(lost, ['none', 'timers', 'none', 'journal', 'none', 'none']);
});

test('a crash counts where it follows another, each within a minute of a start; who lives for longer forgets all but damage', () => {
  const before = { crashes: 1, isDamaged: false };
  assert.equal(crashesAfter(before, true, 59_000), 2);
  assert.equal(crashesAfter(before, false, 59_000), 1);
  assert.equal(crashesAfter(before, true, 60_000), 0);
  assert.equal(crashesAfter(before, false, 60_000), 0);
  for (const hasCrashed of [true, false]) assert.equal(crashesAfter({ crashes: 2, isDamaged: true }, hasCrashed, 60_000), 2);
});

test('one that lives for long forgets crashes before, also where nobody is left who would be told of its end', async () => {
  const dir = testFolder('crashes');
  const crashes = join(dir, 'crashes');
  const engine = { exited: new Promise<never>(() => {}), pid: 0 };
  writeFileSync(crashes, '1 answered');
  rememberCrashes(dir, engine, 50);
  assert.ok(await poll(() => !existsSync(crashes), 5000, 10));
  // those by damage are forgotten much later, and not while it is still read
  writeFileSync(crashes, '3 damaged answered');
  const hears = rememberCrashes(dir, engine, 0, 400);
  const since = performance.now();
  while (performance.now() - since < 1200) {
    assert.ok(existsSync(crashes));
    hears(says('journal, failed to read'));
    await sleep(20);
  }
  assert.ok(await poll(() => !existsSync(crashes), 5000, 10));
  // nor does it matter that it cannot be
  mkdirSync(crashes);
  rememberCrashes(dir, engine, 0, 0);
  await sleep(20);
  assert.ok(existsSync(crashes));
});

/** As Knot 3.2 says it. */
const says = (what: string, zone = 'cdn.stores.test') => `error: [${zone}.] ${what} (MDB_CORRUPTED: Located page was wrong type)`;
/** Something that lives. */
function living() {
  const child = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
  const exited = new Promise<EngineExit>(done => child.once('exit', (code, signal) => done({ code, signal })));
  return { pid: child.pid!, exited };
}

test('one that lives on a damaged database is ended as by a crash, however long it lived, while there is something to start without', async () => {
  const dir = testFolder('damaged');
  const crashes = join(dir, 'crashes');
  for (const [before, after] of [
    [undefined, '1 damaged'],
    ['1 answered', '2 damaged'],
    ['2 damaged answered', '3 damaged'],
    ['3 damaged answered', '3 damaged answered'],
    // by crashes: that it lives for long says nothing any more
    ['3 answered', '3 damaged answered'],
  ] as const) {
    if (before) writeFileSync(crashes, before);
    const engine = living();
    const hears = rememberCrashes(dir, engine);
    hears('info: [l.cdn.stores.test.] loaded, serial 1');
    assert.ok(processFacts(engine.pid));
    // an hour later
    const now = performance.now.bind(performance);
    performance.now = () => now() + 3_600_000;
    hears(says('journal, failed to read'));
    performance.now = now;
    const isEnded = () => poll(() => !processFacts(engine.pid), 5000, 10);
    assert.equal(before?.startsWith('3') || (await isEnded()), true);
    signalGroup(engine.pid, 'SIGTERM');
    await engine.exited;
    assert.equal(readFileSync(crashes, 'utf8'), after);
  }
});

test('what is damaged of keys costs nothing that is made anew', async () => {
  const dir = testFolder('damaged');
  const engine = living();
  const hears = rememberCrashes(dir, engine);
  hears(says('DNSSEC, failed to initialize signing context'));
  hears(says("zone event 'load' failed"));
  hears(says('DDNS, processing failed'));
  hears(says('control, error'));
  hears('error: failed reading master serial from KASP DB (MDB_PAGE_NOTFOUND: Requested page not found)');
  assert.ok(processFacts(engine.pid));
  assert.ok(!existsSync(join(dir, 'crashes')));
  // what is said of no zone, or of a zone of which nothing is said of keys
  hears(says("zone event 're-sign' failed", 'dnssec.kasp.test'));
  assert.equal((await engine.exited).signal, 'SIGKILL');
});

test('what was damaged more than a day ago has nothing to do with what is damaged now, also where none lived for a day', async () => {
  const dir = testFolder('damaged');
  const file = join(dir, 'crashes');
  writeFileSync(file, '3 damaged answered');
  const long = new Date(Date.now() - 25 * 3_600_000);
  utimesSync(file, long, long);
  const engine = living();
  rememberCrashes(dir, engine)(says("zone event 'load' failed"));
  assert.equal((await engine.exited).signal, 'SIGKILL');
  assert.equal(readFileSync(file, 'utf8'), '1 damaged');
});
