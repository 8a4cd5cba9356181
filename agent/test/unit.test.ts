/** The units that a join line writes: systemd has nothing to say against them, and a node does all of its work under the first one's filter. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chownSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { testFolder } from '#system/engines.ts';
import { ok } from '../../server/test/expect.ts';
import { cachedDomain, startFleet, until } from './fleet.ts';
import { TestNode } from './node.ts';
import { allowedCalls, filtered, lacksFilter, units, writeUnits } from './unit.ts';

const place = { prefix: '/opt/breakwater-node', data: '/var/lib/breakwater-node' };
const hasAnalyze = !spawnSync('systemd-analyze', ['--version']).error;

test('the units: none gives up, and systemd has nothing to say against them', t => {
  const folder = testFolder('units');
  const texts = writeUnits(folder, place);
  for (const name of units) assert.match(texts[name], /^\[Unit\]\n(?:[^[]+\n)*StartLimitIntervalSec=0$/m, name);
  if (!hasAnalyze) return t.skip('no systemd-analyze here');
  const args = ['security', '--offline=yes', '--threshold=20', join(folder, units[0])];
  const exposure = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
  assert.equal(exposure.status, 0, exposure.stdout.split('\n').at(-2));
  // verify looks for the program: one of this machine stands in its place
  for (const name of units)
    writeFileSync(
      join(folder, name),
      texts[name].replaceAll(/^ExecStart=.*$/gm, 'ExecStart=/bin/true').replaceAll(/^(User|Group)=.*$/gm, '$1=root'),
    );
  const files = units.map(name => join(folder, name));
  const said = spawnSync('systemd-analyze', ['verify', '--man=no', '--recursive-errors=no', ...files], { encoding: 'utf8' });
  assert.equal(said.status, 0, said.stderr);
  assert.doesNotMatch(said.stderr, /breakwater-/, said.stderr);
});

test('under the filter of the unit workers stay on the cores of the zone; where they cannot, the node says so', async t => {
  const folder = testFolder('filter');
  const lacks = lacksFilter(folder);
  if (lacks) return t.skip(lacks);
  const calls = allowedCalls(writeUnits(folder, place)['breakwater-node.service']);
  assert.ok(calls.size > 300 && !calls.has('setpriority') && !calls.has('reboot') && !calls.has('chown'));
  const fleet = await startFleet(t);
  await cachedDomain(t, fleet, 'a.test');
  const nobody = process.getuid?.() === 0 ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--'] : [];
  const nodeUnder = (name: string, allowed: Set<string>) =>
    fleet.node(name, fleet.tenant.zoneID, token => {
      const node = new TestNode(fleet.plane, token, name);
      const own = testFolder(`filter-${name}`);
      if (nobody.length) chownSync(node.data, 65534, 65534);
      return Object.assign(node, { through: [...nobody, ...filtered(allowed, own)] });
    });
  const good = await nodeUnder('good', calls);
  const bad = await nodeUnder('bad', new Set([...calls].filter(name => name !== 'sched_setaffinity')));
  await until('both serve', async () => (await good.visit('a.test')) === 'one' && (await bad.visit('a.test')) === 'one');
  const workersOf = (node: TestNode) => {
    const master = node.nginx()!;
    const children = readFileSync(`/proc/${master}/task/${master}/children`, 'utf8').trim().split(' ');
    const named = (pid: string) => readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    return children.filter(pid => /^nginx: worker process\0*$/.test(named(pid).trimEnd()));
  };
  const coresOf = (pid: string) => /^Cpus_allowed_list:\s*(\S+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]!;
  const all = coresOf('self');
  if (!/[-,]/.test(all)) return t.skip('this machine has one core: nothing is to be seen');
  const last = all.split(/[-,]/).at(-1);
  const told = (id: number) =>
    fleet.one(
      `select count(*)::int from node, jsonb_array_elements(beat->'checks') c where node.id = $1 and c->>'reason' = 'configuration.notBound'`,
      [id],
    );
  ok(await fleet.call.put(`/client/zone/${fleet.tenant.zoneID}/setting/resource`, { cpu: 5, memory: 0, disk: 0 }));
  await until('one worker, on the last core', () => workersOf(good).map(coresOf).join() === last, 60_000);
  await until('it says so', async () => (await told(bad.id)) === 1, 60_000);
  assert.deepEqual(workersOf(bad).map(coresOf), [all]);
  assert.equal(await bad.visit('a.test'), 'one');
  assert.equal(await told(good.id), 0);
  ok(await fleet.call.put(`/client/zone/${fleet.tenant.zoneID}/setting/resource`, { cpu: 100, memory: 0, disk: 0 }));
  await until('it is well again', async () => (await told(bad.id)) === 0, 60_000);
});
