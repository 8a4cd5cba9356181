/** A node is killed while names are asked for: it leaves the answers, comes back when it is well, and nobody's question fails meanwhile. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { Steering } from '#server/resolution/steer.ts';
import { startFleet, until } from '../agent/test/fleet.ts';
import { ok } from '../server/test/expect.ts';
import { testFolder } from './engines.ts';
import { NameServer } from './name-server.ts';

const zone = 'cdn.killed.test';
/** A node that falls silent is to be answered to nobody within ten seconds. It is printed; what a busy machine makes of it fails nothing. */
const leavesMs = 90_000;
const perSecond = 400;

/** dnsperf(1), until it is told to end; then what became of its questions. */
function questions(t: TestContext, port: number, names: readonly string[]) {
  const file = join(testFolder('questions'), 'questions');
  writeFileSync(file, names.map(name => `${name} A\n${name} AAAA\n`).join(''));
  const words = ['-s', '127.0.0.1', '-p', String(port), '-d', file, '-Q', String(perSecond), '-t', '2', '-l', '300'];
  const child = spawn('dnsperf', words, { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (said += text));
  t.after(() => child.kill('SIGKILL'));
  return async () => {
    const closed = once(child, 'close');
    child.kill('SIGINT');
    await closed;
    const number = (what: RegExp) => Number(what.exec(said)?.[1] ?? 0);
    return {
      said,
      // what was under way when it was told to end is neither
      completed: number(/Queries completed:\s+(\d+)/),
      answered: number(/NOERROR (\d+)/),
      lost: number(/Queries lost:\s+(\d+)/),
    };
  };
}

test('a node that is killed leaves the answers and comes back; no question fails meanwhile', { timeout: 240_000 }, async t => {
  const names = await NameServer.start();
  const fleet = await startFleet(t, undefined, { knot: names.service });
  const { api, tenant, call } = fleet;
  const group = `g${tenant.groupID}.l.${zone}`;
  const [one, two] = [await fleet.node('one'), await fleet.node('two')];
  for (const [node, address] of [
    [one, '192.0.2.1'],
    [two, '192.0.2.2'],
  ] as const)
    await fleet.one('update node set addresses = $2 where id = $1 returning id', [node.id, [address]]);
  await fleet.one('delete from "lineNode" where "groupID" = $1', [tenant.groupID]);
  // as `npm start` has it, with its patience
  const steering = new Steering(api.database.url, api.services);
  t.after(async () => {
    await steering.stop();
    await names.stop();
  });
  steering.start();
  await call.make('/client/setting/dns', { driver: 'knot' });
  await call.make('/client/setting/dns/cname', { domainName: zone, nameServers: ['ns1.example.org'] });
  ok(await call.post(`/client/group/${tenant.groupID}/line/1/nodes`, { ids: [one.id, two.id] }));
  const key = await fleet.one<string>('select "cnameKey" from site where id = $1', [tenant.siteID]);
  const site = `${key}.${zone}`;
  let last: string[] = [];
  /** @throws where nobody is answered */
  const isAnswered = async (...wanted: string[]) => {
    last = await names.dig(group, 'A');
    return String(last) === String(wanted);
  };
  await until('both are answered', () => isAnswered('192.0.2.1', '192.0.2.2'));
  await until('the site’s name leads there', async () => String(await names.dig(site, 'CNAME')) === `${group}.`);

  const finish = questions(t, names.port, [site, group]);
  const killed = performance.now();
  process.kill(one.nginx()!, 'SIGKILL');
  await one.kill('SIGKILL');
  await until(
    'it left the answers',
    async () => {
      if (await isAnswered('192.0.2.2')) return true;
      assert.deepEqual(last, ['192.0.2.1', '192.0.2.2']);
      return false;
    },
    leavesMs,
  );
  t.diagnostic(`it left the answers after ${((performance.now() - killed) / 1000).toFixed(1)} s (aim: 10 s)`);

  one.start();
  await until(
    'it came back',
    async () => {
      if (await isAnswered('192.0.2.1', '192.0.2.2')) return true;
      assert.deepEqual(last, ['192.0.2.2']);
      return false;
    },
    90_000,
  );
  const { data } = await call.read(`/client/group/${tenant.groupID}/answers?pageSize=50`);
  const said = data
    .filter(({ UID }: { UID: string }) => UID === `n-${one.id}`)
    .map(({ change, reason }: { change: string; reason: string }) => `${change} ${reason}`);
  assert.deepEqual(said.slice(0, 2), ['came well', 'left silent']);

  const { completed, answered, lost, said: report } = await finish();
  assert.ok(completed > perSecond * 5, report);
  assert.deepEqual([answered, lost], [completed, 0], report);
});
