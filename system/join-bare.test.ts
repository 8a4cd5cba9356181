/** The line alone on a bare Debian: packages by apt, programs, identity, nginx on 80 and 443, and off again. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { makeBundle } from '#bin/bundle/make.ts';
import { freePort, poll } from '#server/store/engine-process.ts';
import { type BareMachine, bareMachine, lacksBareMachine } from './bare-machine.ts';
import { testFolder } from './engines.ts';
import { joinLine, openTo } from './joining.ts';
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

test('a bare Debian becomes a node that serves by the line alone', { skip: lacksBareMachine() }, async t => {
  machine = secondMachine();
  if (!machine.isApart) return t.skip('takes a network of its own');
  const home = testFolder('bare');
  bare = await bareMachine(machine);
  await makeBundle(join(home, 'bundle'), 1);
  whole = await openTo(machine, home, join(home, 'bundle'));
  const host = 'bare.breakwater.test';
  const client = await whole.signIn('client');
  const at = whole;
  const line = async () => (await joinLine(at, { name: 'bare' })).command;
  // of no origin: that the site is known there is what the edge itself answers
  const shop = await openShop(whole, 'bare', await freePort());
  await shop.addDomain(host);
  const visit = () => bare!.sh(`curl -sS -o /dev/null -w '%{http_code}' --max-time 10 -H 'Host: ${host}' http://127.0.0.1/`).out;

  assert.notEqual(bare.sh('command -v nginx || command -v node').status, 0, 'it is bare');
  const command = await line();
  const began = performance.now();
  const { status, said } = await bare.run(`${command} -s -- --no-systemd`);
  const joined = performance.now();
  assert.equal(status, 0, said);
  assert.match(said, /Installing .*nginx/);
  assert.match(said, /It serves\./);
  assert.ok(await poll(() => visit() === '502', 60_000, 100), `it knows the site: ${visit()}`);
  const seconds = (from: number) => ((performance.now() - from) / 1000).toFixed(1);
  t.diagnostic(`pasted line → "It serves." ${((joined - began) / 1000).toFixed(1)} s, → a site is served ${seconds(began)} s`);
  // it runs as nobody of importance, and holds the ports of visitors all the same
  assert.match(bare.sh(`cat /proc/$(cat /opt/breakwater-node/pid)/status`).out, /^Uid:\s+(?!0\b)\d+/m);
  assert.match(bare.sh('readlink /etc/systemd/system/nginx.service').out, /\/dev\/null/);

  // another line on the same machine: the same node, nothing is installed again
  const again = await bare.run(`${await line()} -s -- --no-systemd`);
  assert.equal(again.status, 0, again.said);
  assert.doesNotMatch(again.said, /Installing/);
  assert.ok(await poll(() => visit() === '502', 60_000, 100));
  const nodes = await whole.call('GET', '/client/nodes', client);
  assert.equal(nodes.body.data.filter((one: { name: string }) => one.name === 'bare').length, 1);

  const off = bare.sh('/opt/breakwater-node/uninstall');
  assert.equal(off.status, 0, off.err);
  assert.equal(bare.sh('ls -d /opt/breakwater-node /var/lib/breakwater-node 2>/dev/null; getent passwd breakwater-node').out, '');
  assert.equal(visit(), '000');
});
