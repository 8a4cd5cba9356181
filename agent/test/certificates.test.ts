/** Certificates on their way: from the row by the bus into nginx, and what of them stands where. */
import assert from 'node:assert/strict';
import { randomBytes, X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Keys } from '#server/kit/crypto.ts';
import { Sealing } from '#server/kit/sealed.ts';
import { freePort } from '#server/store/engine-process.ts';
import { readPair } from '#server/domain/certificate/pem.ts';
import { authority, type Issued } from '#system/authority.ts';
import { shake } from '../../edge/test/certificates.ts';
import { Plane, origin, TestNode, until } from './node.ts';

test('a certificate reaches the nodes of its zone, sealed on the way; its change is live without a reload', async t => {
  const sealing = new Sealing([new Keys(randomBytes(32))]);
  const plane = await Plane.start(t, { sealing });
  const { rig } = plane;
  const { zoneID, productID } = await rig.zone('one');
  const siteID = await rig.site(productID, 'a');
  const domainID = await rig.domain(siteID, 'a.test', '127.0.0.1', await origin(t, 'one'));
  const ca = authority();
  const columns = (issued: Issued) => {
    const { leaf, issuers, privateKey } = readPair(issued.chain, issued.key);
    return [leaf, JSON.stringify(issuers), sealing.seal('certificate.privateKey', privateKey)];
  };
  const first = ca.issue(['a.test']);
  const certificateID = await rig.one(
    `insert into certificate ("siteID", "sslName", names, issuer, serial, fingerprint, "keyType", "keyBits", "notBefore", "notAfter", "isWhole", leaf, issuers, "privateKey")
     values ($1, 'a', '{a.test}', 'x', 'x', 'x', 'ec', 256, now(), now(), true, $2, $3, $4) returning id`,
    [siteID, ...columns(first)],
  );
  await rig.change(
    [`certificate ${certificateID}`, `domain ${domainID}`],
    ['update domain set "certificateID" = $2 where id = $1', [domainID, certificateID]],
  );

  const node = new TestNode(plane, await plane.token(zoneID), 'n');
  [node.httpPort, node.healthPort, node.httpsPort] = [await freePort(), await freePort(), await freePort()];
  t.after(() => node.end());
  node.start();
  const shows = (issued: Issued) => async () => {
    const { serial, error } = await shake(node.httpsPort, 'a.test', { ca: ca.root });
    return error === null && serial === new X509Certificate(issued.certificate).serialNumber;
  };
  await until('the certificate is shown', shows(first), 60_000);
  const master = node.nginx();
  const reloads = () => readFileSync(join(node.data, 'log', 'error.log'), 'utf8').split('reconfiguring').length;
  const before = reloads();

  const keyOf = (issued: Issued) => readPair(issued.chain, issued.key).privateKey;
  const second = ca.issue(['a.test']);
  await rig.change(
    [`certificate ${certificateID}`],
    ['update certificate set leaf = $2, issuers = $3, "privateKey" = $4 where id = $1', [certificateID, ...columns(second)]],
  );
  await until('the new one is shown', shows(second));
  assert.deepEqual([node.nginx(), reloads()], [master, before]);

  // neither the bus nor the node's store has the key as it is
  const standing = JSON.stringify(await rig.stands());
  assert.ok(standing.includes(`cfg.${zoneID}.certificate.${certificateID}`));
  const store = ['snapshot', 'log.0']
    .map(name => {
      try {
        return readFileSync(join(node.data, 'config', name), 'utf8');
      } catch {
        return '';
      }
    })
    .join();
  assert.ok(store.includes(`.certificate.${certificateID}`));
  for (const issued of [first, second])
    for (const text of [standing, store, node.log]) assert.ok(!text.includes(keyOf(issued).slice(10, 60)));

  // a node that joined before zones had keys fetches one
  await node.kill('SIGTERM');
  const file = join(node.data, 'identity.json');
  const identity = JSON.parse(readFileSync(file, 'utf8')) as { grant: { zoneKey?: string } };
  assert.ok(identity.grant.zoneKey);
  delete identity.grant.zoneKey;
  writeFileSync(file, JSON.stringify(identity));
  node.start();
  await until('it is shown again', shows(second), 60_000);

  await rig.change(
    [`certificate ${certificateID}`, `domain ${domainID}`],
    ['update domain set "certificateID" = null where id = $1', [domainID]],
    ['update certificate set "deletedAt" = now() where id = $1', [certificateID]],
  );
  await until('it is gone', async () => (await shake(node.httpsPort, 'a.test')).failed !== null);
});
