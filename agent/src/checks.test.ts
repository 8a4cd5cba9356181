import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { NodeChecks, type NodeFacts, servingProblem } from './checks.ts';
import type { Fault } from './control.ts';
import { EdgeProblems } from './edge-problems.ts';
import { rotateErrorLog } from './rotate.ts';

const folder = mkdtempSync(join(tmpdir(), 'breakwater-checks-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const shipping = {
  waitingBytes: 0,
  files: 1,
  sentBytes: 0,
  lostBytes: 0,
  cutBytes: 0,
  problem: null,
  unread: null as string | null,
};
function node() {
  const facts: NodeFacts = {
    nginx: null,
    sync: null,
    ports: null,
    http3: null,
    addresses: null,
    geneva: null,
    verbose: null,
    damaged: 0,
    feed: null,
    shipping: { ...shipping },
  };
  let unlogged: number | Error = 0;
  let hungWorkers = 0;
  const faults: Fault[] = [];
  const checks = new NodeChecks(
    folder,
    () => facts,
    () =>
      unlogged instanceof Error ? Promise.reject(unlogged) : Promise.resolve({ unlogged, hungWorkers, faults, unbound: null }),
  );
  const wrong = (at: number) =>
    checks
      .now(at)
      .filter(one => one.state !== 'ok' && one.id !== 'disk')
      .map(one => one.reason);
  return {
    facts,
    faults,
    checks,
    wrong,
    setUnlogged: (count: number | Error) => void (unlogged = count),
    hang: () => hungWorkers++,
  };
}

test('a node says what does not serve at once, and what is late when it is late', async () => {
  const { facts, checks, wrong } = node();
  // how full the disk of this machine is, is no matter here
  const problem = (at: number) => servingProblem(checks.now(at).filter(one => one.id !== 'disk'));
  const t = performance.now();
  await checks.look();
  assert.deepEqual(wrong(t), []);
  facts.nginx = 'port 80 is taken';
  assert.deepEqual(wrong(t), ['nginx.away']);
  assert.match(problem(t)!, /port 80 is taken/);
  facts.nginx = null;
  facts.feed = 'no answer';
  assert.deepEqual(wrong(t + 1000), []);
  assert.deepEqual(wrong(t + 7000), ['configuration.late']);
  assert.match(problem(t + 7000)!, /no answer/);
  facts.feed = null;
  facts.verbose = { level: 'info', sampling: 10, over: null };
  assert.deepEqual([wrong(t), problem(t)], [['configuration.logsMore'], null]);
  const reasons = [
    ['time', 'logsTimeOver'],
    ['disk', 'logsDiskShort'],
    ['flood', 'logsFlood'],
  ] as const;
  for (const [over, reason] of reasons) {
    facts.verbose = { level: 'info', sampling: 10, over };
    assert.deepEqual(wrong(t), [`configuration.${reason}`]);
  }
  facts.verbose = null;
  facts.damaged = 2;
  assert.deepEqual(wrong(t + 7500), ['configuration.damaged']);
  assert.match(problem(t + 7500)!, /2 parts/);
  facts.damaged = 0;
  facts.shipping!.problem = 'timeout';
  assert.deepEqual(wrong(t + 8000), []);
  assert.deepEqual(wrong(t + 14_000), ['shipping.stuck']);
  assert.equal(problem(t + 14_000), null, 'it serves meanwhile');
  facts.shipping!.problem = null;
  facts.shipping!.waitingBytes = 5e6;
  assert.deepEqual(wrong(t + 15_000), []);
  facts.shipping!.waitingBytes = 6e6;
  assert.deepEqual(wrong(t + 80_000), ['shipping.waiting']);
  facts.shipping!.waitingBytes = 5.5e6;
  assert.deepEqual(wrong(t + 81_000), [], 'it moves');
  facts.shipping!.lostBytes = 3e6;
  assert.deepEqual(wrong(t + 82_000), ['shipping.lost']);
  Object.assign(facts.shipping!, { cutBytes: 900, unread: 'access.a.log: EACCES: permission denied' });
  assert.deepEqual(wrong(t + 83_000), ['shipping.lost', 'shipping.cut', 'shipping.unread']);
});

test('requests that nginx could not log are counted, over its restarts too; the disk is asked', async () => {
  const { checks, setUnlogged, hang, wrong } = node();
  await checks.look();
  setUnlogged(4);
  await checks.look();
  setUnlogged(new Error('nginx does not answer'));
  await checks.look();
  setUnlogged(1);
  await checks.look();
  const found = checks.now().find(one => one.id === 'unlogged')!;
  assert.deepEqual([found.state, found.params], ['warn', { count: 5 }]);
  hang();
  await checks.look();
  assert.deepEqual(wrong(performance.now()), ['unlogged.counted', 'nginx.hung']);
  assert.ok(checks.now().find(one => one.id === 'disk')!.value! > 0);
  assert.ok(checks.logBytes()! >= 16 * 2 ** 20);
  const gone = new NodeChecks(
    join(folder, 'not there'),
    () => ({
      nginx: null,
      sync: null,
      ports: null,
      http3: null,
      addresses: null,
      geneva: null,
      verbose: null,
      damaged: 0,
      feed: null,
      shipping: undefined,
    }),
    () => Promise.resolve({ unlogged: 0, hungWorkers: 0, faults: [], unbound: null }),
  );
  await gone.look();
  assert.equal(gone.now().find(one => one.id === 'disk')!.reason, 'disk.unknown');
});

test('rules that nginx cannot read are told with site and rule; the node serves', async () => {
  const { faults, checks, wrong } = node();
  for (let id = 1; id <= 5; id++) faults.push({ site: 12, list: 'userAgents', id, error: 'its counts write out to too much' });
  await checks.look();
  assert.deepEqual(wrong(performance.now()), ['configuration.unreadRules']);
  const found = checks.now().find(one => one.reason === 'configuration.unreadRules')!;
  assert.equal(found.params!['count'], 5);
  assert.match(String(found.params!['detail']), /^site 12, userAgents 1: its counts write out to too much; .*userAgents 3/);
  assert.equal(servingProblem(checks.now().filter(one => one.id !== 'disk')), null);
  faults.push({ site: 0, list: 'certificates', id: 'c:7', error: 'no room' });
  await checks.look();
  assert.deepEqual(wrong(performance.now()), ['configuration.certificatesWithoutRoom', 'configuration.unreadRules']);
  assert.deepEqual(
    checks.now().flatMap(one => (one.id === 'configuration' && one.state !== 'ok' ? [one.params!['count']] : [])),
    [1, 5],
  );
  faults.length = 0;
  await checks.look();
  assert.deepEqual(wrong(performance.now()), []);
});

test('error.log never grows beyond its bound', async () => {
  const log = join(folder, 'error.log');
  let reopened = 0;
  const write = (bytes: number) => writeFileSync(log, 'x'.repeat(bytes), { flag: 'a' });
  assert.equal(await rotateErrorLog(folder, () => reopened++, 1000), false, 'nothing there yet');
  for (let round = 0; round < 5; round++) {
    write(600);
    await rotateErrorLog(folder, () => reopened++, 1000);
  }
  assert.equal(reopened, 2);
  assert.equal(statSync(`${log}.1`).size, 1200);
  assert.equal(readFileSync(log, 'utf8').length, 600);
  writeFileSync(join(folder, 'sampled.log'), 'z'.repeat(1001));
  await rotateErrorLog(folder, () => reopened++, 1000);
  assert.equal(statSync(join(folder, 'sampled.log.1')).size, 1001);
  writeFileSync(join(folder, 'nginx.out'), 'y'.repeat(1001));
  await rotateErrorLog(folder, () => reopened++, 1000);
  assert.equal(statSync(join(folder, 'nginx.out')).size, 0);
});

test('what nginx counted is not forgotten when it is started anew', () => {
  const problems = new EdgeProblems();
  problems.take('a', { unlogged: 56, unstored: 1 });
  problems.take('a', { unlogged: 60, unstored: 1 });
  assert.equal(problems.sums()['unlogged'], 60);
  problems.take('b', { unlogged: 0, unstored: 2 });
  assert.deepEqual(problems.sums(), { unlogged: 60, unstored: 3 });
  problems.take('b', { unlogged: 100, unstored: 2 });
  assert.equal(problems.sums()['unlogged'], 160);
});
