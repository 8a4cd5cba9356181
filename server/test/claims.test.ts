/** Names that two customers could mean: below another's, above it, paused by another, everybody's; and the TXT record that decides. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { broken, by, is, multiple, ok } from './expect.ts';
import { registry } from '#server/kit/metrics.ts';
import { poll } from '#server/store/engine-process.ts';
import { Api, type Reply, type Tenant } from './harness.ts';
import { TxtServer } from './txt-server.ts';

let dns: TxtServer;
let api: Api;
let bank: Tenant;
let other: Tenant;
before(async () => {
  dns = await TxtServer.start();
  api = await Api.start({ dns: { resolvers: [dns.address], apis: {} } });
  [bank, other] = [await api.tenant('bank'), await api.tenant('other')];
  for (const name of ['bank.test', '*.shop.test', 'paused.test', 'deep.below.test']) ok(await add(bank, name));
  const { data } = await by(api, bank.user).read(`/user/site/${bank.siteID}/domains?keywords=paused.test`);
  ok(await by(api, bank.user).patch(`/user/site/${bank.siteID}/domain/setting/status`, { domainIDs: [data[0].id], status: 0 }));
});
after(async () => {
  dns?.stop();
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

const add = (tenant: Tenant, ...names: string[]) =>
  by(api, tenant.user).post(`/user/site/${tenant.siteID}/domains`, {
    domains: names.map(domainName => ({ domainName, upstreams: [{ address: '192.0.2.1' }] })),
  });
/** Which record would show that the name is theirs, as the refusal says. */
function wanted(reply: Reply): { record: string; value: string } {
  broken(reply, 'domains.0.domainName', 'nameUnproven');
  return reply.body.errorData[0].bounds;
}

test('what another customer speaks for is refused, with the record that would show whose it is', async () => {
  for (const name of [
    'login.bank.test',
    'a.b.bank.test',
    '*.bank.test',
    '*.a.bank.test',
    'pay.shop.test',
    'shop.test',
    'a.b.shop.test',
  ])
    assert.equal(wanted(await add(other, name)).record, `_breakwater.${name.replace(/^\*\./, '')}`, name);
  wanted(await add(other, 'paused.test'));
  // live elsewhere, as ever
  is(await add(other, 'bank.test'), 'duplicateDomains');
  // above it, beside it, and like it only in letters
  ok(await add(other, 'below.test', 'mybank.test', 'x.deep-below.test', 'another.test'));
});

test('within one customer nothing is asked, nor of what was deleted', async () => {
  dns.asked.length = 0;
  ok(await add(bank, 'www.bank.test', '*.bank.test', 'pay.shop.test'));
  ok(await add(other, 'once.test'));
  ok(await by(api, other.user).del(`/user/site/${other.siteID}/domainsByNames`, { names: ['once.test'] }));
  ok(await add(bank, 'a.once.test', 'once.test'));
  assert.deepEqual(dns.asked, []);
});

test('who can write into the zone may take it, and another customer’s record is none', async () => {
  const { record, value } = wanted(await add(other, 'mine.bank.test'));
  assert.equal(record, '_breakwater.mine.bank.test');
  const third = await api.tenant('third');
  const theirs = wanted(await add(third, 'mine.bank.test'));
  assert.notEqual(theirs.value, value, 'of this customer alone');
  dns.records.set(record, ['something else', theirs.value]);
  wanted(await add(other, 'mine.bank.test'));
  dns.records.set(record, ['something else', value]);
  ok(await add(other, 'mine.bank.test'));
  // live now: told as such, whatever stands in the zone
  is(await add(bank, 'mine.bank.test'), 'duplicateDomains');
  dns.records.set('_breakwater.paused.test', [wanted(await add(other, 'paused.test')).value]);
  ok(await add(other, 'paused.test'));
});

test('who has a name live is told so, whoever else had it before; of somebody else’s site nobody is asked', async () => {
  ok(await add(bank, 'held.test'));
  const { data } = await by(api, bank.user).read(`/user/site/${bank.siteID}/domains?keywords=held.test`);
  ok(await by(api, bank.user).patch(`/user/site/${bank.siteID}/domain/setting/status`, { domainIDs: [data[0].id], status: 0 }));
  const { record, value } = wanted(await add(other, 'held.test'));
  dns.records.set(record, [value]);
  ok(await add(other, 'held.test'));
  dns.records.delete(record);
  dns.asked.length = 0;
  is(await add(other, 'held.test'), 'duplicateDomains');
  const reply = await by(api, other.user).post(`/user/site/${bank.siteID}/domains`, {
    domains: [{ domainName: 'below.held.test', upstreams: [{ address: '192.0.2.1' }] }],
  });
  assert.notEqual(reply.status, 200);
  assert.deepEqual(dns.asked, []);
});

test('names whose servers keep silent hold up nobody but who asks for them', async () => {
  const third = await api.tenant('quick');
  const { record, value } = wanted(await add(third, 'quick.bank.test'));
  dns.records.set(record, [value]).set('*.silent.bank.test', 'silent');
  const slow = Array.from({ length: 6 }, (_, n) => add(other, `n${n}.silent.bank.test`));
  const waiting = async () => /^breakwater_queue_waiting\{queue="nameProofs"\} 4$/m.test(await registry.metrics());
  assert.ok(await poll(waiting, 20_000), 'two are asked for, and four wait');
  ok(await add(third, 'quick.bank.test'));
  assert.ok((await Promise.all(slow)).every(reply => wanted(reply)));
});

test('of several the rest goes in, and each that is refused says its record', async () => {
  const reply = await add(other, 'free-1.test', 'x.bank.test', 'free-2.test', 'y.bank.test');
  multiple(reply, ['parameter', ['x.bank.test']], ['parameter', ['y.bank.test']]);
  const [x, y] = reply.body.errorData as { message: string }[];
  assert.match(x!.message, /_breakwater\.x\.bank\.test with breakwater-verification=[0-9a-f]{32}/);
  assert.match(y!.message, /_breakwater\.y\.bank\.test/);
  const { data } = await by(api, other.user).read(`/user/site/${other.siteID}/domains?keywords=free-`);
  assert.equal(data.length, 2);
});

test('who was off goes live again unless another showed meanwhile whose the name is', async () => {
  const idOf = async (tenant: Tenant, name: string): Promise<number> =>
    (await by(api, tenant.user).read(`/user/site/${tenant.siteID}/domains?keywords=${name}`)).data[0].id;
  const turn = async (tenant: Tenant, name: string, status: number) =>
    by(api, tenant.user).patch(`/user/site/${tenant.siteID}/domain/setting/status`, {
      domainIDs: [await idOf(tenant, name)],
      status,
    });
  ok(await add(other, 'twin.test'));
  ok(await turn(other, 'twin.test', 0));
  // nobody came: nothing is asked
  dns.asked.length = 0;
  ok(await turn(other, 'twin.test', 1));
  ok(await turn(other, 'twin.test', 1));
  ok(await turn(other, 'twin.test', 0));
  assert.deepEqual(dns.asked, []);
  const { record, value } = wanted(await add(bank, 'twin.test'));
  dns.records.set(record, [value]);
  ok(await add(bank, 'twin.test'));
  is(await turn(other, 'twin.test', 1), 'duplicateDomains');
  ok(await turn(bank, 'twin.test', 0));
  const refused = await turn(other, 'twin.test', 1);
  broken(refused, 'domainIDs', 'nameUnproven');
  // who showed it once is not asked again
  dns.records.delete(record);
  ok(await turn(bank, 'twin.test', 1));
  ok(await turn(bank, 'twin.test', 0));
  dns.records.set(record, [refused.body.errorData[0].bounds.value]);
  ok(await turn(other, 'twin.test', 1));
});

test('below another’s name who was first goes live again, who came later shows whose it is', async () => {
  const turn = async (tenant: Tenant, name: string, status: number) => {
    const { data } = await by(api, tenant.user).read(`/user/site/${tenant.siteID}/domains?keywords=${name}`);
    const { id } = data.find((one: { domainName: string }) => one.domainName === name);
    return by(api, tenant.user).patch(`/user/site/${tenant.siteID}/domain/setting/status`, { domainIDs: [id], status });
  };
  ok(await add(other, 'first.upper.test'));
  ok(await turn(other, 'first.upper.test', 0));
  ok(await add(bank, 'upper.test'));
  ok(await turn(other, 'first.upper.test', 1));
  ok(await turn(bank, 'upper.test', 0));
  ok(await add(other, 'later.upper.test'));
  ok(await turn(other, 'later.upper.test', 0));
  ok(await turn(bank, 'upper.test', 1));
  const refused = await turn(other, 'later.upper.test', 1);
  broken(refused, 'domainIDs', 'nameUnproven');
  const { record, value } = refused.body.errorData[0].bounds;
  dns.records.set(record, [value]);
  ok(await turn(other, 'later.upper.test', 1));
});

test('a copy at another site of one’s own speaks no louder than what it was copied from, and another customer’s site takes none', async () => {
  const op = by(api, other.client);
  const make = (userID: number) => op.make('/client/site', { siteName: `copies-${userID}`, productID: other.productID, userID });
  const own = await make(other.user.id);
  ok(await add(other, 'copied.test'));
  const { data } = await by(api, other.user).read(`/user/site/${other.siteID}/domains?keywords=copied.test`);
  const turn = (who: Tenant, site: number, id: number, status: number) =>
    by(api, who.user).patch(`/user/site/${site}/domain/setting/status`, { domainIDs: [id], status });
  ok(await turn(other, other.siteID, data[0].id, 0));
  // the owner shows whose it is
  const { record, value } = wanted(await add(bank, 'copied.test'));
  dns.records.set(record, [value]);
  const added = ok(await add(bank, 'copied.test'));
  const copied = ok(
    await by(api, other.user).post(`/user/site/${other.siteID}/domains/copyToSite`, { ids: [data[0].id], siteID: own }),
  );
  ok(await turn(bank, bank.siteID, added.body.ids[0], 0));
  broken(await turn(other, own, copied.body.ids[0], 1), 'domainIDs', 'nameUnproven');
  ok(await turn(bank, bank.siteID, added.body.ids[0], 1));
  // nor does an operator give one customer's name to another
  const stranger = await op.make('/client/account', { email: 'stranger@copies.test', name: 'stranger', auth: 'user' });
  const theirs = await make(stranger);
  const path = `/client/site/${other.siteID}/domains/copyToSite`;
  broken(await op.post(path, { ids: [data[0].id], siteID: theirs }), 'siteID', 'siteOfAnother');
});

test('what is everybody’s is nobody’s', async () => {
  for (const name of ['co.uk', '*.co.uk', '*.com.tw']) {
    const reply = await add(other, name);
    broken(reply, 'domains.0.domainName', 'wrongFormat');
    assert.equal(reply.body.errorData[0].bounds.why, 'hostPublicSuffix', name);
  }
  ok(await add(other, 'mine.co.uk', '*.mine.com.tw'));
});
