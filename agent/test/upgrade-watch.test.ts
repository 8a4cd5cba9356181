/** A node that became another version and is not well with it goes back: as it is told, and by itself where nobody can tell it. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { before, test, type TestContext } from 'node:test';
import { freePort } from '#server/store/engine-process.ts';
import { testFolder } from '#system/engines.ts';
import { blackHole } from '../../server/test/black-hole.ts';
import { Operations } from '../src/operations.ts';
import { askAll } from '../src/upgrade/probe.ts';
import { upgradeFiles, version as ours } from '../src/upgrade/programs.ts';
import { Upgrade } from '../src/upgrade/upgrade.ts';
import { reachesWith, trouble, Watch } from '../src/upgrade/watch.ts';
import { until } from './node.ts';
import { stand } from './upgrading.ts';
import { edit, Versions } from './versions.ts';

let all: Versions;
before(async () => {
  all = await Versions.in(testFolder('watch'));
});
/** It is without its line for a while sooner. */
const soon = (ms: number) => edit('agent.mjs', text => text.replace(/lineMs: (12e4|120000|120_000)/, `lineMs: ${ms}`));

test('errors of the edge are its trouble, those of an origin and what was changed are not', () => {
  const was = { 'http://upgrade-probe.invalid': 903, 'http://a': 200, 'http://b': 200, 'http://c': 500 };
  const [none, a] = [new Set<string>(), new Set(['http://a'])];
  assert.equal(trouble(was, was, none), null);
  assert.equal(trouble({ ...was, 'http://a': 502, 'http://b': 404 }, was, none), null, 'an origin, and a page that is gone');
  assert.equal(
    trouble({ ...was, 'http://a': 500, 'http://b': 0 }, was, none),
    null,
    'an application, and an origin that is silent',
  );
  assert.match(trouble({ ...was, 'http://a': 500 }, was, a)!, /^http:\/\/a 500 instead of 200$/, 'half of those that were well');
  assert.match(trouble({ ...was, 'http://upgrade-probe.invalid': 0 }, was, none)!, /nothing instead of 903/);
  const many = { ...was, 'http://d': 200, 'http://e': 200, 'http://f': 200 };
  assert.equal(trouble({ ...many, 'http://a': 500 }, many, a), null, 'one of many');
});

test('an error that the edge marks as its own, and a door that is shut, are faults; what an origin may have to do with is none', async t => {
  const server = http.createServer(({ headers }, answer) => {
    if (headers.host === 'hung') return answer.destroy();
    return answer.writeHead(500, headers.host === 'edge' ? { 'x-edge-fault': '1' } : {}).end();
  });
  const [port, shut] = [await freePort(), await freePort()];
  server.listen(port, '127.0.0.1');
  t.after(() => (server.close(), server.closeAllConnections()));
  const faults = new Set<string>();
  const door = { address: '127.0.0.1', isTLS: false };
  await askAll([{ ...door, port }], ['edge', 'origin', 'hung'], faults);
  await askAll([{ ...door, port: shut }], ['shut'], faults);
  assert.deepEqual([...faults], ['http://edge', 'http://shut']);
});

test('a version that does not say whether it finds the control plane is none that finds it', async () => {
  const data = testFolder('reach');
  const says = (code: string) => {
    writeFileSync(join(data, 'agent.mjs'), code);
    return reachesWith({ node: process.execPath, main: join(data, 'agent.mjs') }, data);
  };
  assert.deepEqual(
    [await says(''), await says('process.exit(3)'), await says('throw new Error("--reach?")')],
    [true, false, false],
  );
});

test('it waits as long as it should, and asks the version before whether that finds a way', async t => {
  let status = 903;
  const server = http.createServer((_, answer) => answer.writeHead(status).end());
  const port = await freePort();
  server.listen(port, '127.0.0.1');
  t.after(() => (server.close(), server.closeAllConnections()));
  const plan = {
    from: 'before',
    doors: [{ address: '127.0.0.1', port, isTLS: false }],
    answers: { 'http://upgrade-probe.invalid': 903 },
    connected: true,
  };
  const begin = (line: { isConnected: boolean; reaches: boolean }, connected = true) => {
    const said = { back: '', over: false, log: '' };
    const options = {
      plan: { ...plan, connected },
      isConnected: () => line.isConnected,
      reaches: async () => line.reaches,
      back: (why: string) => void (said.back = why),
      over: () => void (said.over = true),
      log: (message: string) => void (said.log += message),
    };
    const watch = new Watch(options, { forMs: 400, everyMs: 10, lineMs: 150, doorMs: 100 });
    watch.start();
    t.after(() => watch.stop());
    return said;
  };
  const well = begin({ isConnected: true, reaches: true });
  await until('it is over', () => well.over);
  assert.equal(well.back, '');
  const alone = begin({ isConnected: false, reaches: true }, false);
  await until('one that had no line before needs none', () => alone.over);

  const lost = begin({ isConnected: false, reaches: true });
  await until('it goes back', () => lost.back);
  assert.match(lost.back, /no way to the control plane for 0 s, and before has one/);
  const line = { isConnected: false, reaches: false };
  const both = begin(line);
  // four spans without a line are more than it is watched for
  await until('it stays', () => both.log.split('finds none either or cannot say').length > 4);
  assert.deepEqual([both.back, both.over], ['', false], 'nobody knows yet whether it is well');
  line.isConnected = true;
  await until('it is over once its line is back', () => both.over);

  const broken = begin({ isConnected: true, reaches: true });
  status = 500;
  await until('it goes back', () => broken.back);
  assert.match(broken.back, /visitors are answered otherwise: http:\/\/upgrade-probe\.invalid 500 instead of 903/);
});

/** As it starts in a folder. */
function started(t: TestContext, data: string) {
  const nothing = () => {};
  const upgrade = new Upgrade({
    data,
    programs: undefined,
    server: () => undefined,
    hosts: () => [],
    doors: () => [],
    copy: async () => {},
    shadow: async () => ({ args: [], doors: [] }),
    change: undefined,
    become: undefined,
    isConnected: () => true,
    changed: nothing,
    log: nothing,
  });
  t.after(() => upgrade.stop());
  upgrade.came();
  const said = upgrade.report();
  assert.ok('steps' in said);
  return [said.steps.at(-1)!.step, said.why];
}

test('a version that ended again and again was left for the one before, which says so', t => {
  const data = testFolder('again');
  const files = upgradeFiles(data);
  mkdirSync(files.folder);
  const steps = [{ step: 'done', at: new Date().toISOString() }];
  writeFileSync(files.state, JSON.stringify({ id: 1, from: ours, to: 'other', steps, why: null }));
  writeFileSync(files.current, 'other');
  writeFileSync(files.watch, JSON.stringify({ from: ours, doors: [], answers: {}, connected: true }));
  assert.deepEqual(started(t, data), ['back', `other ended again and again: it goes on with ${ours}`]);
  assert.equal(readFileSync(files.current, 'utf8'), ours);
});

test('a power cut between the choice and its step leaves a node that has changed, and is watched', t => {
  const data = testFolder('half');
  const files = upgradeFiles(data);
  mkdirSync(files.folder);
  const steps = [{ step: 'trial', at: new Date().toISOString() }];
  writeFileSync(files.state, JSON.stringify({ id: 1, from: 'other', to: ours, steps, why: null }));
  writeFileSync(files.plan, JSON.stringify({ version: ours, doors: [], answers: {}, connected: true }));
  writeFileSync(files.previous, 'other');
  writeFileSync(files.current, ours);
  assert.deepEqual(started(t, data), ['done', null]);
  assert.deepEqual(
    [readFileSync(files.previous, 'utf8'), JSON.parse(readFileSync(files.watch, 'utf8')).from],
    ['other', 'other'],
  );
});

test('what ends us and cannot be remembered is not begun, and what could not be prepared may be told again', async () => {
  const data = testFolder('operations');
  const file = join(data, 'operations.json');
  const done: string[] = [];
  let why = '';
  const act = new Operations(data).onceAndLeave(
    () => {
      if (why) throw new Error(why);
      done.push('prepared');
    },
    () => done.push('left'),
  );
  // as good as a disk that is full
  mkdirSync(file);
  await assert.rejects(act('{"id": 1}'));
  rmdirSync(file);
  why = 'not now';
  await assert.rejects(act('{"id": 1}'), /not now/);
  assert.deepEqual([done, JSON.parse(readFileSync(file, 'utf8'))], [[], []]);
  why = '';
  await act('{"id": 1}');
  await act('{"id": 1}');
  await until('it leaves', () => done.includes('left'));
  assert.deepEqual(done, ['prepared', 'left']);
});

test('told to go back it does, under traffic, as the same process; what it does not run or have is refused', async t => {
  const prefix = await all.prefix('told-programs');
  const { node, upgrade, rollback, lua, visitors, version } = await stand(t, { all, prefix });
  const { first } = all;
  const second = await all.made('second');
  assert.equal(await upgrade(second), null, node.log.slice(-3000));
  const pid = node.process!.pid;
  const over = visitors();
  t.after(over);
  assert.match((await rollback(second.version, '0.1.0-gone')) ?? 'done', /0\.1\.0-gone is no longer on its disk/);
  assert.match((await rollback(second.version, '../..')) ?? 'done', /no longer on its disk/);
  assert.match((await rollback('0.1.0-x', '0.1.0-gone')) ?? 'done', new RegExp(`it runs ${second.version}`));
  assert.equal(await rollback(second.version, first), null);
  await until('it is what it was', async () => (await version()) === first, 60_000);
  await until('nginx too', async () => (await lua().catch(() => '')) === join(prefix, 'versions', first, 'edge/lua'), 60_000);
  assert.equal(await rollback(second.version, first), null, 'told again it is there already');
  const { asked, wrong } = await over();
  assert.deepEqual([node.process!.pid, node.process!.exitCode, wrong], [pid, null, []]);
  t.diagnostic(`${asked} visitors, all answered`);
  assert.equal(readFileSync(join(node.data, 'upgrade/current'), 'utf8'), first);
  // and becomes it again when it is told
  assert.equal(await upgrade(second), null, node.log.slice(-3000));
});

test('one that no longer finds the control plane goes back by itself; where the version before finds none either it stays', async t => {
  const prefix = await all.prefix('deaf-programs');
  const way = await blackHole(t, await freePort());
  const { node, upgrade, version, rig } = await stand(t, { all, prefix, way });
  const deaf = await all.made('deaf', folder => {
    soon(4000)(folder);
    // in its trial it hears
    edit('agent.mjs', text =>
      text.replace(
        /function tlsOf\([^)]*\) \{/,
        '$&\n\tif (!process.argv.includes("--trial") && !process.argv.includes("--reach")) throw new Error("it is deaf");',
      ),
    )(folder);
  });
  const told = upgrade(deaf);
  await until('it goes back by itself', () => /no way to the control plane for 4 s, and \S+ has one/.test(node.log), 90_000);
  assert.match((await told) ?? 'done', /it has had no way to the control plane/);
  await until('it is what it was', async () => (await version()) === all.first);
  assert.equal(await node.visit('a.test'), 'one');

  const patient = await all.made('patient', soon(4000));
  assert.equal(await upgrade(patient), null, node.log.slice(-3000));
  await until('it says so', async () => (await version()) === patient.version);
  way.swallow();
  await until('it stays', () => node.log.includes('finds none either or cannot say, so the new version stays'), 120_000);
  way.open();
  await until(
    'it is heard again',
    () => rig.one(`select 1 from node where "lastBeat" > clock_timestamp() - interval '2 seconds'`),
    60_000,
  );
  assert.equal(await version(), patient.version);
});
