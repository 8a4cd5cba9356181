/** The line alone on a bare Debian that systemd starts, as a machine of a provider is: what its units do, and what is left of them. */
import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { after, test, type TestContext } from 'node:test';
import { makeBundle } from '#bin/bundle/make.ts';
import { projectFolder } from '#bin/launch/settings.ts';
import { freePort, poll } from '#server/store/engine-process.ts';
import { type BareMachine, bareMachine, lacksBootedMachine } from './bare-machine.ts';
import { testFolder } from './engines.ts';
import { joinLine, nodeNamed, openTo, upgraded } from './joining.ts';
import { type SecondMachine, secondMachine } from './second-machine.ts';
import { openShop } from './stand.ts';
import type { Whole } from './whole.ts';

let machine: SecondMachine | undefined;
let bare: BareMachine | undefined;
let whole: Whole | undefined;
after(async () => {
  bare?.end();
  await whole?.stop();
  machine?.end();
});

const host = 'booted.breakwater.test';
const unit = 'breakwater-node';
const prefix = '/opt/breakwater-node';
const say = (line: string) => bare!.sh(line).out.trim();
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
  { skip: lacksBootedMachine() },
  async t => {
    machine = secondMachine();
    if (!machine.isApart) return t.skip('takes a network of its own');
    const home = testFolder('booted');
    bare = await bareMachine(machine, { hasSystemd: true });
    t.diagnostic(say('systemctl --version | head -1'));
    let bundle = await makeBundle(join(home, 'bundle'), 1);
    whole = await openTo(machine, home, join(home, 'bundle'));
    const originPort = await freePort();
    const shop = await openShop(whole, 'booted', originPort);
    await shop.addDomain(host);
    const failed = () => say('systemctl list-units --failed --plain --no-legend');

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
    };
    isUnit();
    const status_ = say(`systemctl status --no-pager ${unit}`);
    assert.match(status_, /Active: active \(running\)/);
    assert.match(status_, /nginx: master process/, 'nginx is of its cgroup');
    assert.doesNotMatch(say(`cat /proc/${property('MainPID')}/status`), /^Uid:\s+0\b/m);
    assert.match(say(`journalctl -u ${unit} --no-pager`), /nginx is up/);
    const [, exposure] = /exposure level for breakwater-node\.service: ([\d.]+)/.exec(
      say(`systemd-analyze security --no-pager ${unit}`),
    )!;
    t.diagnostic(`systemd-analyze security: ${exposure}`);
    assert.ok(Number(exposure) <= 2, exposure);
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
