/** Products: their names, moves, and what keeps them. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { broken, by, is, mark, multiple, ok } from './expect.ts';
import { Api, type Tenant } from './harness.ts';

let api: Api;
let a: Tenant;
let op: ReturnType<typeof by>;
before(async () => {
  api = await Api.start();
  a = await api.tenant('a');
  op = by(api, a.client);
});
after(async () => {
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

let serial = 0;

describe('products', () => {
  test('a name is taken once per operator; one with sites stays: 204002', async () => {
    const used = await op.make('/client/product', { groupID: a.groupID, name: 'sold' });
    const free = await op.make('/client/product', { groupID: a.groupID, name: 'unsold' });
    is(await op.post('/client/product', { groupID: a.groupID, name: 'SOLD' }), 'duplicated');
    is(await op.put('/client/product', { id: free, name: 'sold' }), 'duplicated');
    await op.make('/client/site', { siteName: 'on-sold', productID: used, userID: a.user.id });
    is(await op.del('/client/product', { ids: [used] }), 'productInUse');
    multiple(await op.del('/client/product', { ids: [used, free] }), ['productInUse', ['sold']]);
    assert.equal((await op.read('/client/products?keyword=sold')).total, 1);
    const { data } = await op.read('/client/products?keyword=sold');
    assert.deepEqual([data[0].siteCount, data[0].groupName, data[0].zoneID], [1, 'a-group', a.zoneID]);
    assert.deepEqual(
      (await op.read('/client/metaProducts?keyword=sold')).map((p: { name: string }) => p.name),
      ['sold'],
    );
  });

  test('moved to another group, all that hangs on it is published anew', async () => {
    const zoneID = await op.make('/client/zone', { name: 'target' });
    const groupID = await op.make('/client/group', { zoneID, name: 'target' });
    const productID = await op.make('/client/product', { groupID: a.groupID, name: `moving-${++serial}` });
    const site = await op.make('/client/site', { siteName: 'moves', productID, userID: a.user.id });
    const domain = await by(api, a.user).make(`/user/site/${site}/domains`, {
      domains: [{ domainName: 'moves.test', upstreams: [{ address: '192.0.2.1' }] }],
    });
    const since = await mark(api);
    ok(await op.put('/client/product', { id: productID, memo: 'no move' }));
    assert.deepEqual(await since.outbox(), []);
    ok(await op.put('/client/product', { id: productID, groupID }));
    assert.deepEqual(
      (await since.outbox()).map(one => [one.kind, one.entityID]),
      [
        ['domain', domain],
        ['site', site],
      ],
    );
    assert.equal((await op.read(`/client/site/${site}`)).zoneID, zoneID);
  });

  test('what is referred to cannot go at the same time', async () => {
    for (let i = 0; i < 5; i++) {
      const groupID = await op.make('/client/group', { zoneID: a.zoneID, name: `race-${++serial}` });
      const [made, gone] = await Promise.all([
        op.post('/client/product', { groupID, name: `race-${serial}` }),
        op.del('/client/group', { ids: [groupID] }),
      ]);
      // one of the two comes first, and the other is told
      if (made.status === 200) is(gone, 'groupActive');
      else {
        broken(made, 'groupID', 'unknown', 404);
        ok(gone);
      }
    }
  });
});
