/** How much a node writes down, as its operator says it: the call, the zone's document, and the files of a real nginx. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { debugSamplings, nodeLogDefaults, nodeLogLevels } from '#contract/limits.ts';
import { is, ok } from '../../server/test/expect.ts';
import { cachedDomain, startFleet, until } from './fleet.ts';

const path = '/client/setting/system/log';

test('the level and the sampling reach nginx by a reload; a sampled request is told whole, and no credential with it', async t => {
  const fleet = await startFleet(t);
  await cachedDomain(t, fleet, 'a.test');
  const node = await fleet.node('n1');
  await until('served', async () => (await node.visit('a.test')) === 'one');
  const conf = () => readFileSync(join(node.data, 'nginx.conf'), 'utf8');
  assert.match(conf(), /error_log "[^"]+" notice;/);
  assert.ok(!conf().includes('sampled'));
  const { version, ...usual } = ok(await fleet.call.get(path)).body;
  assert.deepEqual([version, usual], [0, nodeLogDefaults]);
  const master = node.nginx();

  is(await fleet.call.put(path, { level: 'loud', sampling: 1 }), 'parameter');
  is(await fleet.call.put(path, { level: 'info', sampling: 3 }), 'parameter');
  is(await fleet.call.put(path, { level: 'debug', sampling: 0 }), 'parameter');
  ok(await fleet.call.put(path, { level: 'info', sampling: 1 }));
  await until('nginx is told', () => conf().includes('sampled.log') && /error_log "[^"]+" info;/.test(conf()));
  const lines = (): Record<string, string>[] => {
    try {
      const text = readFileSync(join(node.data, 'log/sampled.log'), 'utf8');
      return text
        .trim()
        .split('\n')
        .filter(Boolean)
        .map(line => JSON.parse(line) as Record<string, string>);
    } catch {
      return [];
    }
  };
  const agent = `it"s \\n {"status":"200"} 台灣`;
  const headers = {
    'User-Agent': Buffer.from(agent).toString('latin1'),
    Cookie: 'session=secret-cookie',
    Authorization: 'Bearer secret-token',
    Referer: 'https://somebody:secret-password@from.test/secret-path?token=secret-referer',
  };
  const found = await until('a request is told', async () => {
    await node.get('/page"x"?token=secret-argument&x="1"', node.httpPort, 'a.test', undefined, headers);
    return lines().find(line => line['host'] === 'a.test' && line['userAgent'] === agent);
  });
  assert.deepEqual(
    [found['method'], found['status'], found['uri'], found['referer']],
    ['GET', '200', '/page"x"', 'https://from.test'],
  );
  assert.ok(Number(found['site']) > 0 && Number(found['domain']) > 0);
  for (const name of ['sampled.log', 'error.log'])
    assert.doesNotMatch(readFileSync(join(node.data, 'log', name), 'latin1'), /secret-/, name);
  assert.equal(node.nginx(), master, 'by a reload alone');

  // it goes to all nodes at once: there is no value that nginx refuses
  for (const [place, sampling] of debugSamplings.entries()) {
    const level = nodeLogLevels[place % nodeLogLevels.length]!;
    ok(await fleet.call.put(path, { level, sampling }));
    await until(
      `${level} and ${sampling}`,
      () => conf().includes(`error.log" ${level};`) && conf().includes('sampled.log') === sampling > 0,
    );
    await node.get('/', node.httpPort, 'a.test');
  }
  assert.equal(node.nginx(), master, 'by reloads alone');
  ok(await fleet.call.put(path, nodeLogDefaults));
  await until('as it was', () => !conf().includes('sampled') && /error_log "[^"]+" notice;/.test(conf()));
  assert.equal(await node.visit('a.test'), 'one');
});
