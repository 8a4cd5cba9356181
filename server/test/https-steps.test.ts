/** What a domain is said to lack for https: its name's address, the authority's word, the certificate. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { row } from '#server/store/db.ts';
import { poll } from '#server/store/engine-process.ts';
import { type Knot, startKnot } from '../../system/knot.ts';
import { problem } from './acme-fake.ts';
import { acmeRig, customer, domains, fake, type Customer, run, switched } from './acme-rig.ts';
import { by } from './expect.ts';
import { a, api, db } from './tasks-rig.ts';

acmeRig();
let knot: Knot;
before(async () => {
  knot = await startKnot({
    zones: ['steps.test', 'empty.test', 'proof.test'],
    lines: ['six AAAA 2001:db8::7', 'text TXT "no address"'],
  });
});
after(() => knot?.stop());
const told = async ({ user, siteID }: Customer, id: number) => by(api, user).read(`/user/site/${siteID}/domain/${id}/https`);

test('a name that leads nowhere, elsewhere, to a node; a wildcard by any name below it; nobody who answers', async () => {
  api.services.dns = { resolvers: [knot.address], apis: {} };
  const who = await customer();
  const names = ['steps.test', 'text.steps.test', 'six.steps.test', '*.empty.test'];
  const ids = await domains(who, ...names);
  const states = async () => Promise.all(ids.map(async id => (await told(who, id)).dns.state));
  // no node says where it is
  assert.deepEqual(await states(), ['unknown', 'none', 'unknown', 'unknown']);
  await sql`update node set addresses = '{203.0.113.9,2001:db8::7}' where "zoneID" = ${a.zoneID}`.execute(db());
  assert.deepEqual(await states(), ['elsewhere', 'none', 'here', 'elsewhere']);
  const allowed = (ranges: string) =>
    sql`update setting set value = ${ranges}::jsonb where key = 'originEnvironment'`.execute(db());
  const { value: before } = (await row<{ value: string }>(
    db(),
    sql`select value::text from setting where key = 'originEnvironment'`,
  ))!;
  await allowed('["192.0.2.0/24"]');
  assert.deepEqual((await told(who, ids[0]!)).dns.addresses, [], 'where it leads inside the house is not told');
  await allowed(before);
  await sql`update node set addresses = '{127.0.0.1}' where "zoneID" = ${a.zoneID}`.execute(db());
  assert.deepEqual(await states(), ['here', 'none', 'elsewhere', 'here']);
  const { dns, proof, certificate } = await told(who, ids[0]!);
  assert.deepEqual(dns.addresses, ['127.0.0.1']);
  assert.deepEqual([proof.state, proof.line, certificate.state], ['off', null, 'none']);
  // one that was asked a moment ago is remembered, so another name
  api.services.dns = { resolvers: ['127.0.0.1:9'], apis: {} };
  const [later] = await domains(who, 'later.steps.test');
  assert.equal((await told(who, later!)).dns.state, 'unknown');
});

test('the proof and the certificate are told as they come, with what the log said last of this domain', async () => {
  api.services.dns = { resolvers: [knot.address], apis: {} };
  await sql`update node set addresses = '{203.0.113.9}' where "zoneID" = ${a.zoneID}`.execute(db());
  const who = await customer();
  const ids = await domains(who, 'one.proof.test', 'two.proof.test');
  assert.equal((await told(who, ids[0]!)).dns.state, 'elsewhere');
  await switched(who, ids);
  assert.equal((await told(who, ids[0]!)).proof.state, 'waits');
  fake.says = (what, name) =>
    what === 'newOrder' && name === 'two.proof.test' ? problem('rejectedIdentifier', 'not that one') : undefined;
  await run();
  const [one, two] = await Promise.all(ids.map(async id => told(who, id)));
  assert.deepEqual([one.proof.state, one.proof.line.code, one.certificate.state], ['seen', 'issued', 'shown']);
  assert.ok(Date.parse(one.certificate.notAfter) > Date.now());
  // who proved it came by its name: that is a node of ours, whatever addresses it knows of itself
  assert.equal(one.dns.state, 'here');
  assert.deepEqual([two.proof.state, two.proof.line.code, two.certificate.state], ['failed', 'notIssued', 'none']);
  assert.equal(two.proof.line.values.host, 'two.proof.test');
  assert.ok(Date.parse(two.proof.nextAt) > Date.now());
  await sql`update certificate set "notAfter" = now() - interval '1 second' where "siteID" = ${who.siteID}`.execute(db());
  assert.ok(await poll(async () => (await told(who, ids[0]!)).certificate.state === 'ended', 10_000, 50));
});

test('of one account few names are asked for at a time, however many ask and however silent the resolver is', async () => {
  const asked = new Set<string>();
  const silent = createSocket('udp4').on('message', message => asked.add(message.subarray(12, -4).toString('latin1')));
  silent.bind(0, '127.0.0.1');
  await once(silent, 'listening');
  try {
    api.services.dns = { resolvers: [`127.0.0.1:${silent.address().port}`], apis: {} };
    const who = await customer();
    const ids = await domains(who, ...Array.from({ length: 20 }, (_, n) => `silent${n}.test`));
    const all = await Promise.all(ids.map(id => told(who, id)));
    assert.ok(all.every(one => one.dns.state === 'unknown'));
    assert.ok(asked.size > 0 && asked.size <= 8, `${asked.size} names`);
  } finally {
    silent.close();
  }
});
