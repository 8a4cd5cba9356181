/** Authorities of a customer's own reach nginx by a reload that nobody feels, and what is not signed by them is never asked. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import https from 'node:https';
import { join } from 'node:path';
import { test } from 'node:test';
import { freePort } from '#server/store/engine-process.ts';
import { authority } from '#system/authority.ts';
import { Control } from '../src/control.ts';
import { Plane, TestNode, until } from './node.ts';

test('a domain whose origin is verified from now on is served all the time; by another authority it is not', async t => {
  const plane = await Plane.start(t);
  const { rig } = plane;
  const { zoneID, productID } = await rig.zone('one');
  const siteID = await rig.site(productID, 'a');
  const [house, stranger] = [authority('House'), authority('Stranger')];
  const { chain, key } = house.issue(['a.test']);
  let asked = 0;
  const origin = https.createServer({ cert: chain, key }, (_, answer) => {
    asked++;
    answer.setHeader('cache-control', 'no-store');
    answer.end('yes');
  });
  origin.listen(0, '127.0.0.1');
  await once(origin, 'listening');
  t.after(() => (origin.close(), origin.closeAllConnections()));
  const domainID = await rig.domain(siteID, 'a.test', '127.0.0.1', (origin.address() as { port: number }).port);
  await rig.change(
    [`domain ${domainID}`],
    [`update upstream set protocol = 'https', "maxFails" = 0 where "domainID" = $1`, [domainID]],
  );
  const verify = (ca: string | null) =>
    rig.change(
      [`domain ${domainID}`],
      [
        `insert into "scopedSetting" (name, "domainID", value) values ('originTLS', $1, $2)
         on conflict ("domainID", name) where "domainID" is not null do update set value = excluded.value`,
        [domainID, JSON.stringify({ verify: ca === null ? 'off' : 'own', ca: ca ?? '', sni: '' })],
      ],
    );
  const node = new TestNode(plane, await plane.token(zoneID), 'n');
  [node.httpPort, node.healthPort] = [await freePort(), await freePort()];
  t.after(() => node.end());
  node.start();
  const control = new Control(join(node.data, 'run/ctl/ctl.sock'));
  t.after(() => control.close());
  const status = async () => (await node.get('/', node.httpPort, 'a.test')).status;
  const config = () => readFileSync(join(node.data, 'nginx.conf'), 'utf8');
  const trusts = () =>
    [...config().matchAll(/location @trust_fetch_(\w+)/g)].map(([, name]) => name).filter(name => name !== 'public');
  const reloads = () => readFileSync(join(node.data, 'log', 'error.log'), 'utf8').split('(SIGHUP) received').length - 1;
  await until('it is served', async () => (await status()) === 200, 60_000);
  assert.deepEqual([trusts(), reloads()], [[], 0]);

  const seen = new Set<number>();
  await verify(house.root);
  await until('nginx knows the authority, and uses it', async () => {
    seen.add(await status());
    return reloads() === 1 && /[0-9a-f]{24}/.test((await control.brief()).trusts ?? '');
  });
  for (let i = 0; i < 20; i++) seen.add(await status());
  assert.deepEqual([...seen], [200], 'at no moment was it refused');
  assert.equal(trusts().length, 1);

  await verify(stranger.root);
  await until('what another authority would have to sign is refused', async () => (await status()) === 502);
  const before = asked;
  for (let i = 0; i < 5; i++) assert.equal(await status(), 502);
  assert.equal(asked, before);
  assert.equal(trusts().length, 2, 'the one before stands as long as nginx may hold a record that names it');

  await verify(null);
  await until('without verification it is asked again', async () => (await status()) === 200);
  await verify(house.root);
  await until('and by the first authority', async () => asked > before && (await status()) === 200);
  assert.equal(reloads(), 2, 'one that is no longer wanted is no reload, nor one that is known');
  // the agent alone is started anew: nginx goes on, and nothing has to be read again
  await node.kill('SIGKILL');
  node.start();
  await until('the agent is back', async () => (await status()) === 200);
  await verify(stranger.root);
  await until('it takes further ones', async () => (await status()) === 502);
  for (let i = 0; i < 5; i++) assert.equal(await status(), 502);
});
