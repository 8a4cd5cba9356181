/** What authorities say of certificates: asked once for all nodes, believed only where it is theirs, about that certificate, good and of now. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { answerMax, judge, questionOf, responderOf } from '#server/domain/certificate/ocsp.ts';
import { askStatuses } from '#server/domain/certificate/stapling.ts';
import { row } from '#server/store/db.ts';
import { authority, type Issued } from '#system/authority.ts';
import { acmeRig, type Customer, customer, domains, serial } from './acme-rig.ts';
import { by, ok } from './expect.ts';
import { api, db } from './tasks-rig.ts';

acmeRig(undefined);
const ca = authority();
const between = new X509Certificate(ca.between);
const ofPem = ({ certificate }: Issued) => new X509Certificate(certificate);

let url: string;
let answers: (question: Buffer) => { status?: number; body: Buffer };
let asked = 0;
const responder = http.createServer((request, response) => {
  const parts: Buffer[] = [];
  request
    .on('data', (part: Buffer) => parts.push(part))
    .on('end', () => {
      asked++;
      const { status = 200, body } = answers(Buffer.concat(parts));
      response.writeHead(status, { 'content-type': 'application/ocsp-response' }).end(body);
    });
});
before(async () => {
  responder.listen(0, '127.0.0.1');
  await once(responder, 'listening');
  url = `http://127.0.0.1:${(responder.address() as AddressInfo).port}/ocsp`;
});
after(() => void responder.close());

const allowing = async (...ranges: string[]) => {
  await sql`delete from setting where key = 'originEnvironment'`.execute(db());
  const all = JSON.stringify(['192.0.2.0/24', ...ranges]);
  await sql`insert into setting (key, value) values ('originEnvironment', ${all})`.execute(db());
};
/** An uploaded certificate that a domain shows. */
async function shown(who: Customer, issued: Issued, name: string): Promise<number> {
  const [domainID] = await domains(who, name);
  const base = `/user/site/${who.siteID}`;
  const made = await by(api, who.user).post(`${base}/certificates`, {
    sslName: name,
    certificate: issued.chain,
    privateKey: issued.key,
  });
  ok(made);
  const id: number = made.body.id ?? made.body.ids?.[0];
  ok(await by(api, who.user).patch(`${base}/certificate/${id}/domains`, { domainIDs: [domainID] }));
  return id;
}
const look = () => askStatuses(db(), api.services, AbortSignal.timeout(30_000));
const again = (id: number) => sql`update certificate set "ocspAskAt" = now() where id = ${id}`.execute(db());
interface Row {
  ocsp: string | null;
  minutes: number | null;
  why: string;
  outbox: number;
}
const kept = async (id: number): Promise<Row> =>
  (await row<Row>(
    db(),
    sql`select ocsp, extract(epoch from "ocspAskAt" - now())::float8 / 60 as minutes, "ocspWhy" as why,
        (select count(*) from outbox where kind = 'certificate' and "entityID" = c.id) as outbox from certificate c where id = ${id}`,
  ))!;
const state = async (who: Customer, id: number) => {
  const { body } = await by(api, who.user).get(`/user/site/${who.siteID}/certificates`);
  const one = body.data.find((found: { id: number }) => found.id === id);
  assert.ok(!('ocsp' in one));
  return one.ocspState as string;
};

test('a certificate whose authority answers is shown with the answer; nodes are told, and it is asked again at half of its time', async () => {
  await allowing('127.0.0.0/8');
  const who = await customer();
  const name = `good${serial()}.test`;
  const issued = ca.issue([name], 'p256', 2, url);
  assert.equal(responderOf(ofPem(issued)), url);
  answers = question => ({ body: ca.answer(question, issued) });
  const id = await shown(who, issued, name);
  assert.equal(await state(who, id), 'waiting');
  const { outbox } = await kept(id);
  await look();
  const found = await kept(id);
  assert.ok(found.ocsp && found.outbox > outbox);
  assert.ok(found.minutes! > 25 && found.minutes! < 45, String(found.minutes));
  assert.equal(await state(who, id), 'stapled');
  const before = asked;
  await look();
  assert.equal(asked, before, 'it is not due');

  // what cannot be had leaves what is there
  answers = () => ({ status: 503, body: Buffer.from('later') });
  await again(id);
  await look();
  assert.deepEqual([(await kept(id)).ocsp, await state(who, id)], [found.ocsp, 'stapled']);
  assert.match((await kept(id)).why, /503/);
  // the authority took it back: its former word is not shown any more
  answers = question => ({ body: ca.answer(question, issued, 'R') });
  await again(id);
  await look();
  assert.deepEqual([(await kept(id)).ocsp, await state(who, id)], [null, 'revoked']);
});

test('one without a responder is never asked about, and an address within the house is not asked', async () => {
  await allowing('127.0.0.0/8');
  const who = await customer();
  const name = `none${serial()}.test`;
  const before = asked;
  const id = await shown(who, ca.issue([name]), name);
  await look();
  assert.deepEqual([await state(who, id), (await kept(id)).minutes], ['none', null]);
  await allowing();
  const inside = `inside${serial()}.test`;
  const other = await shown(who, ca.issue([inside], 'p256', 2, url), inside);
  await look();
  assert.deepEqual([await state(who, other), asked], ['failed', before]);
  assert.match((await kept(other)).why, /refused/);
});

test('an answer is believed only where it is the authority’s, about this certificate, and of now', () => {
  const [mine, other] = [ca.issue(['mine.test'], 'p256', 2, url), ca.issue(['other.test'], 'p256', 2, url)];
  const question = questionOf(ofPem(mine), between);
  const good = ca.answer(question, mine);
  const stateOf = (answer: Buffer, leaf = mine, now = new Date()) => judge(answer, ofPem(leaf), between, now).state;
  assert.equal(stateOf(good), 'good');
  assert.equal(stateOf(ca.answer(question, mine, 'R')), 'revoked');
  assert.equal(stateOf(ca.answer(question, other)), 'wrong', 'the authority does not know it');
  assert.equal(stateOf(good, other), 'wrong');
  const stranger = authority('Stranger');
  assert.equal(stateOf(stranger.answer(question, mine)), 'wrong');
  assert.equal(stateOf(good, mine, new Date(Date.now() + 2 * 3_600_000)), 'wrong', 'it is over');
  assert.equal(stateOf(good, mine, new Date(Date.now() - 86_400_000)), 'wrong', 'it is of tomorrow');
  for (let at = 0; at < good.length; at += 7) {
    const broken = Buffer.from(good);
    broken[at]! ^= 0x41;
    assert.notEqual(stateOf(broken), 'good', `byte ${at}`);
    assert.equal(stateOf(good.subarray(0, at)), 'wrong');
  }
});

test('whom the authority named for that may sign it, nobody else it issued to, and no other authority’s', () => {
  const mine = ca.issue(['mine.test'], 'p256', 2, url);
  const question = questionOf(ofPem(mine), between);
  const by = (signer: Issued) => judge(ca.answer(question, mine, 'V', 60, signer), ofPem(mine), between);
  assert.equal(by(ca.issue(['responder.test'], 'rsa2048', 2, undefined, 'OCSPSigning')).state, 'good');
  assert.deepEqual(by(ca.issue(['customer.test'])), { state: 'wrong', why: 'the signature is not that of the authority' });
  const stranger = authority('Stranger').issue(['responder.test'], 'p256', 2, undefined, 'OCSPSigning');
  assert.equal(by(stranger).state, 'wrong');
});

test('an answer longer than any authority’s is not kept', () => {
  const mine = ca.issue(['mine.test'], 'p256', 2, url);
  const answer = ca.answer(questionOf(ofPem(mine), between), mine);
  assert.equal(judge(Buffer.concat([answer, Buffer.alloc(answerMax)]), ofPem(mine), between).state, 'wrong');
  assert.ok(answerMax < 5000 && answer.length < answerMax / 4);
});
