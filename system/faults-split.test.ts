/**
 * The network between a node and the control plane is split: packets are dropped both ways, so nobody hears of it. TEST_SPLIT_MINUTES=10
 * keeps it so for ten minutes, else it is for as long as it takes to be noticed everywhere.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { TestNode } from '../agent/test/node.ts';
import { freePort, poll } from '#server/store/engine-process.ts';
import { offlineAfterMs } from '#server/kit/node-well.ts';
import { testFolder } from './engines.ts';
import { joinLine, nodeNamed, openTo, statementIn } from './joining.ts';
import { type SecondMachine, secondMachine } from './second-machine.ts';
import { accepted, openShop, storeOf, Traffic } from './stand.ts';
import { visitAt, type Whole } from './whole.ts';

const minutes = Number(process.env['TEST_SPLIT_MINUTES'] ?? 0);
/** By then both have given up the connections of before, which each finds out by itself. */
const leastMs = 40_000;

let machine: SecondMachine | undefined;
let whole: Whole | undefined;
let node: TestNode | undefined;
let traffic: Traffic | undefined;
const ends: (() => void)[] = [];
after(async () => {
  await traffic?.stop();
  for (const end of ends) end();
  await node?.end();
  await whole?.stop();
  machine?.end();
});
const seconds = (from: number) => ((performance.now() - from) / 1000).toFixed(1);

test(
  'a node cut off from the control plane serves and keeps its log, is told offline, and comes back in step with every line once',
  { timeout: 600_000 + minutes * 60_000 },
  async t => {
    machine = secondMachine();
    if (!machine.isApart || spawnSync('nft', ['--version']).error) return t.skip('takes a network of its own, and nft');
    const home = testFolder('split');
    const at = (whole = await openTo(machine, home, join(home, 'none')));
    const there = machine;
    const originPort = await freePort();
    const [program, ...words] = there.prefix;
    const source = `require('node:http').createServer((_, answer) => answer.end('there')).listen(${originPort}, '127.0.0.1')`;
    const origin = spawn(program!, [...words, process.execPath, '-e', source], { stdio: 'ignore' });
    ends.push(() => origin.kill('SIGKILL'));
    const shop = await openShop(at, 'split', originPort);
    await shop.addDomain('counted.test');
    await shop.addDomain('removed.test');

    const { token } = await joinLine(at, { name: 'apart' });
    const cut = (node = new TestNode({ url: `https://${there.ours}:${at.env['BREAKWATER_TLS_PORT']}` }, token, 'apart'));
    cut.through = there.prefix;
    cut.more = ['--ca', join(at.folder, 'tls/ca.pem')];
    cut.httpPort = await freePort();
    cut.healthPort = await freePort();
    cut.start();
    const edge = {
      visit: (host: string, path: string, agent?: Parameters<Whole['visit']>[2]) =>
        visitAt(there.theirs, cut.httpPort, host, path, agent),
    };
    const statusThere = async (host: string) => (await edge.visit(host, '/')).status;
    const served = (host: string, ms = 60_000) => poll(async () => (await statusThere(host)) === 200, ms, 50);
    for (const host of ['counted.test', 'removed.test']) assert.ok(await served(host), `${host}\n${cut.log}`);
    const client = await at.signIn('client');
    const user = await at.signIn('user');
    const status = async () => (await nodeNamed(at, 'apart')).status as string;
    assert.ok(await poll(async () => (await status()) === 'normal', 60_000, 100));
    const { id } = await nodeNamed(at, 'apart');
    const nginx = cut.nginx();

    traffic = new Traffic(edge, 'counted.test');
    traffic.start(2);
    assert.ok(await traffic.flows());
    const store = storeOf(at);
    const logged = async () =>
      Number((await store.query<{ n: number }>("SELECT count() AS n FROM access WHERE host = 'counted.test'", {}))[0]!.n);
    assert.ok(await poll(async () => (await logged()) > 0, 60_000, 200), 'its log comes');

    const split = performance.now();
    const heal = there.split(cut.httpPort);
    // nobody knows yet: it is taken, and is to be over before the node is back
    const reboot = await at.call('POST', '/client/node/reboot', client, { ids: [id] });
    assert.equal(reboot.status, 200, JSON.stringify(reboot.body));
    assert.ok(await poll(async () => (await status()) === 'offline', 60_000, 100), 'it is told');
    t.diagnostic(`offline after ${seconds(split)} s (silent for ${offlineAfterMs / 1000} s counts)`);
    const { statusReason, statusSince } = await nodeNamed(at, 'apart');
    assert.equal(statusReason?.reason, 'silent', JSON.stringify(statusReason));
    assert.ok(Math.abs(Date.now() - Date.parse(statusSince)) < 30_000, statusSince);
    const refused = await at.call('POST', '/client/node/reboot', client, { ids: [id] });
    assert.equal(refused.body.code, 202001, JSON.stringify(refused.body));

    // changes meanwhile: the node here has them, the other serves what it had
    await shop.addDomain('added.test');
    const list = await at.call('GET', `/user/site/${shop.siteID}/domains?pageSize=100`, user);
    const removed = list.body.data.find((one: { domainName: string }) => one.domainName === 'removed.test').id as number;
    await accepted(() => at.call('DELETE', `/user/site/${shop.siteID}/domains`, user, { ids: [removed] }));
    const here = async (host: string) => (await at.visit(host, '/')).status;
    // the origin is on the other machine's loopback: that the site is known here is what our node itself answers
    assert.ok(await poll(async () => (await here('added.test')) === 502 && (await here('removed.test')) !== 502, 60_000, 100));
    assert.equal(await statusThere('removed.test'), 200);
    assert.notEqual(await statusThere('added.test'), 200);

    if (!minutes) await statementIn(at, `update "nodeCommand" set "expiresAt" = clock_timestamp() where "endedAt" is null`);
    const task = async () => (await at.call('GET', `/client/task/${reboot.body.taskID}`, client)).body;
    assert.ok(await poll(async () => (await task()).task.endedAt !== null, 120_000, 500), 'what it was told is over');
    assert.deepEqual(
      (await task()).lines.map(({ code }: { code: string }) => code).filter((code: string) => code === 'silent'),
      ['silent'],
    );

    const before = await logged();
    const answered = traffic.answered.length;
    const until = split + Math.max(leastMs, minutes * 60_000);
    assert.ok(await poll(() => performance.now() > until, Math.max(1, until - performance.now()) + 5000, 200));
    const during = traffic.answered.length - answered;
    assert.ok(during > 100, `${during} visits meanwhile`);
    assert.equal(await logged(), before, 'nothing of the log comes through');
    assert.equal(await status(), 'offline');
    const lost = traffic.uncertain.size;

    const healed = performance.now();
    heal();
    assert.ok(await served('added.test', 120_000), `in step\n${cut.log.slice(-3000)}`);
    t.diagnostic(`split for ${((healed - split) / 1000).toFixed(0)} s, in step ${seconds(healed)} s after it`);
    assert.ok(await poll(async () => (await statusThere('removed.test')) !== 200, 60_000, 50));
    assert.ok(await poll(async () => (await status()) === 'normal', 60_000, 50), 'normal');
    t.diagnostic(`normal ${seconds(healed)} s after it`);
    const lag = await at.call('GET', '/client/systemHealth', client);
    assert.ok(lag.status === 200);
    assert.ok(await traffic.flows());
    await traffic.stop();
    await traffic.account(store, undefined, 240_000);
    t.diagnostic(
      `${traffic.answered.length} visits, ${traffic.uncertain.size} not answered (${lost} before the end); all in the log once ${seconds(healed)} s after it`,
    );
    assert.equal(traffic.uncertain.size, 0, 'visitors noticed nothing');
    assert.equal(cut.nginx(), nginx, 'the restart that was over was not made up for');
    assert.equal((await task()).task.state, 'failed');
  },
);
