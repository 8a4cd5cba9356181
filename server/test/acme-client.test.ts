/** ACME against a real authority (Pebble): an order from its account to its certificate, with nonces refused and customers bound. */
import assert from 'node:assert/strict';
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import { after, before, describe, test } from 'node:test';
import { AddressPolicy } from '#contract/rules/address-policy.ts';
import { Acme, AcmeProblem, type Order } from '#server/domain/acme/client.ts';
import { signingRequest } from '#server/domain/acme/csr.ts';
import { readPair } from '#server/domain/certificate/pem.ts';
import { outbound } from '#server/kit/outbound.ts';
import { freePort, poll } from '#server/store/engine-process.ts';
import { type Pebble, startPebble } from '../../system/pebble.ts';

const policy = new AddressPolicy({ operator: [], environment: ['127.0.0.0/8'], own: [] });
const ecKey = () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

describe('ACME with an authority that refuses 15 % of good nonces and knows its customers', () => {
  let pebble: Pebble;
  const answers = new Map<string, string>();
  const web = http.createServer((request, answer) => answer.end(answers.get(request.url!) ?? ''));
  const client = (key = ecKey()) =>
    new Acme(pebble.directory, key, (url, request) => outbound(url, { ...request, policy, ca: pebble.ca }));
  const bound = { kid: 'ours', hmacKey: Buffer.alloc(32, 7).toString('base64url') };
  before(async () => {
    const port = await freePort();
    web.listen(port, '127.0.0.1');
    await once(web, 'listening');
    pebble = await startPebble({ httpPort: port, nonceReject: 15, bound: { [bound.kid]: bound.hmacKey } });
  });
  after(async () => {
    web.close();
    await pebble?.stop();
  });

  test('who it does not know is refused, who it knows has one account for one key', async () => {
    await assert.rejects(client().register(), (error: AcmeProblem) => error.type === 'externalAccountRequired');
    const wrong = { kid: bound.kid, hmacKey: Buffer.alloc(32, 8).toString('base64url') };
    await assert.rejects(client().register(wrong), AcmeProblem);
    const key = ecKey();
    assert.equal(await client(key).register(bound), await client(key).register(bound));
  });

  test('an order ends in a certificate for its names, below the root, that its key fits', async () => {
    const acme = client();
    await acme.register(bound);
    const names = ['a.example.test', 'b.example.test'];
    let order = await acme.order(names);
    for (const at of order.authorizations) {
      const { challenge } = await acme.authorization(at);
      answers.set(`/.well-known/acme-challenge/${challenge!.token}`, acme.keyAuthorization(challenge!.token));
      await acme.accept(challenge!.url);
      assert.ok(await poll(async () => (await acme.authorization(at)).status === 'valid', 20_000, 50));
    }
    const key = ecKey();
    order = await acme.finalize(order.finalize, order.url, signingRequest(names, key));
    const isValid = async () => (order = await acme.orderAt(order.url)).status === 'valid';
    assert.ok(await poll(isValid, 20_000, 50), order.status);
    const pem = await acme.certificate(order.certificate!);
    const pair = readPair(pem, key);
    assert.deepEqual(pair.names.toSorted(), names);
    const root = new X509Certificate(await pebble.root());
    assert.ok(new X509Certificate(Buffer.from(pair.issuers.at(-1)!.der, 'base64')).verify(root.publicKey));
  });

  test('a name whose answer is wrong is told with what the authority saw', async () => {
    const acme = client();
    await acme.register(bound);
    const order: Order = await acme.order(['wrong.example.test']);
    const [at] = order.authorizations;
    await acme.accept((await acme.authorization(at!)).challenge!.url);
    let found = await acme.authorization(at!);
    assert.ok(await poll(async () => (found = await acme.authorization(at!)).status === 'invalid', 20_000, 50));
    assert.match(found.problem!, /key authorization|unauthorized/i);
  });
});

describe('an authority that lies', () => {
  const key = ecKey();
  const json = (body: unknown, headers: Record<string, string> = {}, status = 200) => ({
    status,
    headers: { 'replay-nonce': 'abcdefghij', ...headers },
    body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  });
  const directory = {
    newNonce: 'https://ca.test/nonce',
    newAccount: 'https://ca.test/account',
    newOrder: 'https://ca.test/order',
  };
  /** answers what `said` says, and the directory */
  const lying = (said: (url: string) => ReturnType<typeof json>) =>
    new Acme('https://ca.test/dir', key, async url =>
      url === 'https://ca.test/dir' ? json(directory) : url === directory.newNonce ? json('') : said(url),
    );

  test('URLs that are not https, tokens that are no tokens, and what is no JSON are refused', async () => {
    const order = { status: 'pending', authorizations: ['http://127.0.0.1/a'], finalize: 'https://ca.test/f' };
    await assert.rejects(
      lying(() => json(order, { location: 'https://ca.test/o' })).order(['a.test']),
      (error: AcmeProblem) => error.type === 'malformed',
    );
    const challenge = { type: 'http-01', url: 'https://ca.test/c', status: 'pending', token: '../../etc/passwd-0123456789' };
    const told = await lying(() => json({ status: 'pending', challenges: [challenge] })).authorization('https://ca.test/a');
    assert.equal(told.challenge, undefined);
    await assert.rejects(lying(() => json('<html>')).orderAt('https://ca.test/o'), /not ACME/);
  });

  test('nonces that are refused for ever end after ten tries, and a limit says when it ends', async () => {
    let asked = 0;
    const refused = { type: 'urn:ietf:params:acme:error:badNonce', detail: 'no' };
    await assert.rejects(
      lying(() => (asked++, json(refused, {}, 400))).order(['a.test']),
      (error: AcmeProblem) => error.type === 'badNonce',
    );
    assert.equal(asked, 10);
    await assert.rejects(
      lying(() => json({ detail: 'slow down' }, { 'retry-after': '120' }, 429)).order(['a.test']),
      (error: AcmeProblem) => error.type === 'rateLimited' && error.retrySeconds === 120,
    );
  });

  test('tokens are 22 to 200 letters of base64url, whichever challenge comes first', async () => {
    const tokenOf = async (token: string) => {
      const challenge = { type: 'http-01', url: 'https://ca.test/c', status: 'pending', token };
      const other = { ...challenge, type: 'tls-alpn-01' };
      const told = await lying(() => json({ status: 'pending', challenges: [other, challenge] })).authorization(
        'https://ca.test/a',
      );
      return told.challenge?.token;
    };
    for (const good of ['a'.repeat(22), 'Az09_-'.repeat(33)]) assert.equal(await tokenOf(good), good);
    for (const bad of [
      'a'.repeat(21),
      'a'.repeat(201),
      `${'a'.repeat(22)}/`,
      `${'a'.repeat(22)}.`,
      `${'a'.repeat(22)}\n`,
      `../${'a'.repeat(22)}`,
    ])
      assert.equal(await tokenOf(bad), undefined, bad);
  });

  test('a limit ends after so many seconds, or at a date by the authority’s own clock; within a day', async () => {
    const date = 'Wed, 21 Oct 2015 07:28:00 GMT';
    const waits: [Record<string, string>, number | undefined][] = [
      [{ 'retry-after': '120' }, 120],
      [{ 'retry-after': 'Wed, 21 Oct 2015 07:30:30 GMT', date }, 150],
      [{ 'retry-after': 'Wed, 21 Oct 2015 07:00:00 GMT', date }, 0],
      [{ 'retry-after': 'Wed, 21 Oct 2015 07:30:30 GMT' }, undefined],
      [{ 'retry-after': '999999999' }, 86_400],
      [{ 'retry-after': 'Wed, 21 Oct 2099 07:28:00 GMT', date }, 86_400],
      [{ 'retry-after': 'soon', date }, undefined],
    ];
    for (const status of [429, 503])
      for (const [headers, seconds] of waits)
        await assert.rejects(
          lying(() => json({}, headers, status)).order(['a.test']),
          (error: AcmeProblem) => error.type === 'rateLimited' && error.retrySeconds === seconds,
          JSON.stringify(headers),
        );
  });

  test('its words are one line of text, however long and whatever is in them', async () => {
    const said = async (type: string, detail: string) =>
      lying(() => json({ type: `urn:ietf:params:acme:error:${type}`, detail }, {}, 400))
        .order(['a.test'])
        .then(
          () => '',
          (error: AcmeProblem) => error.message,
        );
    assert.equal(await said('unauthorized', 'one\u0000two\r\n\u0085three'), 'one two three (unauthorized)');
    const long = await said('u'.repeat(500), `${'x'.repeat(328)}\u{1f600}${'y'.repeat(1000)}`);
    assert.ok(long.isWellFormed() && long.length <= 400, long);
  });
});
