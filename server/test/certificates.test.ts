/** Certificates of a site over HTTP: what is taken, how it is put in order, what is refused with which reason, and who shows it. */
import assert from 'node:assert/strict';
import { createPublicKey, X509Certificate, createPrivateKey } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { sql } from 'kysely';
import { selfSigned } from '#host/certificates.ts';
import { compile } from '#server/compile/compile.ts';
import { load } from '#server/compile/load.ts';
import { row, rows } from '#server/store/db.ts';
import { authority } from '#system/authority.ts';
import { broken, by, is, mark, multiple, ok } from './expect.ts';
import { Api, type Tenant } from './harness.ts';

const ca = authority();
const other = authority('Other');
const shop = ca.issue(['shop.test', '*.shop.test']);
let api: Api;
let a: Tenant;
let me: ReturnType<typeof by>;
let base: string;
before(async () => {
  api = await Api.start();
  a = await api.tenant('a');
  me = by(api, a.user);
  base = `/user/site/${a.siteID}`;
});
after(async () => {
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

const post = (certificate: string, privateKey: string | undefined, sslName = 'shop') =>
  me.post(`${base}/certificates`, { sslName, certificate, ...(privateKey === undefined ? {} : { privateKey }) });
const made = async (certificate: string, privateKey: string, name?: string) => {
  const reply = await post(certificate, privateKey, name);
  ok(reply);
  return reply.body.ids[0] as number;
};
const read = async (id: number) =>
  (await me.read(`${base}/certificates?pageSize=500`)).data.find((one: { id: number }) => one.id === id);
const domainOf = async (domainName: string) =>
  (await me.make(`${base}/domains`, { domains: [{ domainName, upstreams: [{ address: '192.0.2.1' }] }] })) as number;
const assign = (id: number, ...domainIDs: number[]) => me.patch(`${base}/certificate/${id}/domains`, { domainIDs });
const problem = (reply: { status: number; body: { errorData?: { path: string; rule: string }[] } }) =>
  reply.body.errorData?.map(one => `${one.path} ${one.rule}`).join() ?? String(reply.status);
const fingerprint = (pem: string) => new X509Certificate(pem).fingerprint256.replaceAll(':', '').toLowerCase();
/** Its document as the relay would compile it. */
const documentOf = async (id: number) => {
  const loaded = (await load(api.database.pool, 'certificate', [id])).get(id);
  return loaded && compile('certificate', loaded).document;
};

describe('what is uploaded', () => {
  test('is read and told: names, issuer, key, times; never the key', async () => {
    const id = await made(shop.chain, shop.key);
    const told = await read(id);
    const real = new X509Certificate(shop.certificate);
    assert.deepEqual(told.names, ['shop.test', '*.shop.test']);
    assert.deepEqual([told.issuer, told.keyType, told.keyBits, told.type], ['Test Authority', 'ec', 256, 'manual']);
    assert.equal(told.fingerprint, fingerprint(shop.certificate));
    assert.equal(Date.parse(told.notAfter), real.validToDate.getTime());
    assert.deepEqual([told.privateKeyIsSet, told.domainIDs], [true, []]);
    assert.ok(!('privateKey' in told) && !('leaf' in told));
  });

  test('may come in any order, with the root, twice, and with what is no part of it', async () => {
    const stray = other.issue(['else.test']);
    const domainID = await domainOf('order.shop.test');
    for (const text of [
      ca.between + shop.certificate,
      ca.root + shop.certificate + ca.between,
      `Bag Attributes\n${shop.certificate}\r\n${shop.certificate}${ca.between}${ca.between}`,
      stray.certificate + shop.certificate + ca.between + other.between,
    ]) {
      const id = await made(text, shop.key);
      ok(await assign(id, domainID));
      const document = (await documentOf(id))!;
      assert.equal(document.leaf, new X509Certificate(shop.certificate).raw.toString('base64'));
      assert.deepEqual(
        document.issuers.map(({ der }) => der),
        [new X509Certificate(ca.between).raw.toString('base64')],
      );
    }
  });

  test('says whether its chain is whole', async () => {
    assert.equal((await read(await made(shop.certificate, shop.key))).isWhole, false);
    assert.equal((await read(await made(shop.chain, shop.key))).isWhole, false, 'ends below an authority nobody knows');
    assert.equal((await read(await made(shop.chain + ca.root, shop.key))).isWhole, true);
    const own = selfSigned('own.test', 1);
    assert.equal((await read(await made(own.certificate, own.key))).isWhole, true);
  });

  test('keys of RSA and of other curves are taken, in each form of PEM', async () => {
    for (const type of ['rsa2048', 'p384'] as const) {
      const issued = ca.issue(['k.test'], type);
      const key = createPrivateKey(issued.key);
      const old = key.export({ format: 'pem', type: type === 'rsa2048' ? 'pkcs1' : 'sec1' } as never) as string;
      for (const text of [issued.key, old]) {
        const told = await read(await made(issued.chain, text));
        assert.deepEqual([told.keyType, told.keyBits], type === 'rsa2048' ? ['rsa', 2048] : ['ec', 384]);
      }
    }
  });

  test('is refused with the field and the reason', async () => {
    const { chain, key } = shop;
    const locked = createPrivateKey(key).export({
      format: 'pem',
      type: 'pkcs8',
      cipher: 'aes-256-cbc',
      passphrase: 'x',
    }) as string;
    const past = selfSigned('past.test', 1, new Date('2020-01-01T00:00:00Z'));
    const future = selfSigned('future.test', 1, new Date(Date.now() + 86_400_000));
    const weak = ca.issue(['w.test'], 'rsa1024');
    const dear = ca.issue(['w.test'], 'rsa4104');
    const odd = ca.issue(['w.test'], 'ed25519');
    const timeless = selfSigned('timeless.test', 1);
    const der = new X509Certificate(timeless.certificate).raw;
    // the thirteenth month, of the end as of the beginning
    for (let at = der.indexOf(Buffer.from([0x17, 13])); at >= 0; at = der.indexOf(Buffer.from([0x17, 13]), at + 1))
      der.write('13', at + 4, 'latin1');
    for (let at = der.indexOf(Buffer.from([0x18, 15])); at >= 0; at = der.indexOf(Buffer.from([0x18, 15]), at + 1))
      der.write('13', at + 6, 'latin1');
    const noTimes = `-----BEGIN CERTIFICATE-----\n${der.toString('base64').replace(/(.{64})/g, '$1\n')}\n-----END CERTIFICATE-----\n`;
    const bare = ca.issue([]);
    for (const [what, certificate, secret, reason] of [
      ['no certificate', 'hello', key, 'certificate certificateUnreadable'],
      ['damaged', shop.certificate.replace(/\n.{8}/, '\n________'), key, 'certificate certificateUnreadable'],
      ['cut off', chain.slice(0, 300), key, 'certificate certificateUnreadable'],
      ['a key for a certificate', key, key, 'certificate certificateUnreadable'],
      ['no key', chain, 'hello', 'privateKey keyUnreadable'],
      ['a public key', chain, createPublicKey(key).export({ format: 'pem', type: 'spki' }) as string, 'privateKey keyUnreadable'],
      ['left out', chain, undefined, 'privateKey required'],
      ['empty', chain, '', 'privateKey required'],
      ['with a passphrase', chain, locked, 'privateKey keyLocked'],
      ['another key', chain, other.issue(['shop.test']).key, 'privateKey keyMismatch'],
      ['the key of the authority only', ca.between, key, 'privateKey keyMismatch'],
      ['expired', past.certificate, past.key, 'certificate certificateExpired'],
      ['of tomorrow', future.certificate, future.key, 'certificate certificateEarly'],
      ['without times', noTimes, timeless.key, 'certificate certificateUnreadable'],
      ['RSA of 4,104 bits', dear.chain, dear.key, 'privateKey keyWeak'],
      ['RSA of 1,024 bits', weak.chain, weak.key, 'privateKey keyWeak'],
      ['Ed25519', odd.chain, odd.key, 'privateKey keyWeak'],
      ['without names', bare.chain, bare.key, 'certificate certificateNameless'],
      [
        'eleven certificates',
        Array.from({ length: 11 }, () => selfSigned('x.test').certificate).join(''),
        key,
        'certificate tooMany',
      ],
      ['a key of 16 kB', chain, 'k'.repeat(16_000), 'privateKey tooLong'],
      ['a chain of 70 kB', 'c'.repeat(70_000), key, 'certificate tooLong'],
    ] as const) {
      const reply = await post(certificate, secret);
      assert.equal(problem(reply), reason, what);
      const [, body] = secret?.split('\n') ?? [];
      if (body) assert.ok(!reply.text.includes(body), what);
    }
    const { body } = await post(past.certificate, past.key);
    assert.match(body.message + JSON.stringify(body.errorData), /2021-01-01/);
  });

  test('two that signed each other are no chain without end', async () => {
    const loop = await made(ca.between + shop.certificate + ca.root + other.root, shop.key);
    ok(await assign(loop, await domainOf('loop.shop.test')));
    assert.equal((await documentOf(loop))!.issuers.length, 1);
  });

  test('500 names fit, and their document goes out', async () => {
    const names = Array.from({ length: 500 }, (_, i) => `host-${i}.example-of-a-long-name.shop.test`);
    const many = ca.issue(names);
    const id = await made(many.chain, many.key);
    assert.equal((await read(id)).names.length, 500);
    ok(await assign(id, await domainOf(names[7]!)));
    assert.ok(await documentOf(id));
  });
});

describe('the key', () => {
  test('is encrypted where it is kept, and stands in no audit, history or outbox', async () => {
    const id = await made(shop.chain, shop.key, 'secret one');
    ok(await assign(id, await domainOf('secret.shop.test')));
    const kept = async () =>
      (await row<{ key: string | null }>(api.database.db, sql`select "privateKey" as key from certificate where id = ${id}`))!
        .key;
    const key = (await kept())!;
    assert.match(key, /^bw1\./);
    const der = createPrivateKey(shop.key).export({ format: 'der', type: 'sec1' });
    const scalar = der.subarray(7, 39);
    const all = JSON.stringify([
      await rows(api.database.db, sql`select * from audit`),
      (await me.read(`${base}/certificates?pageSize=500`)).data,
      await rows(api.database.db, sql`select * from outbox`),
      await documentOf(id),
    ]);
    for (const text of [der.toString('base64').slice(8, 60), scalar.toString('hex'), shop.key.split('\n')[1]!])
      assert.ok(!all.includes(text), text);
    assert.equal(api.services.sealing!.open('certificate.privateKey', key), der.toString('base64'));
    ok(await me.del(`${base}/certificates`, { ids: [id] }));
    assert.equal(await kept(), null);
  });
});

describe('https of a domain', () => {
  test('is forced and told to browsers, each in its document; preloading wants subdomains and a year', async () => {
    const domainID = await domainOf('strict.test');
    const setting = (name: string, body: object) =>
      me.patch(`${base}/domain/setting/${name}`, { domainIDs: [domainID], ...body });
    const hsts = { enabled: true, maxAge: 600, includeSubDomains: false, preload: false };
    const documentOfDomain = async () =>
      compile('domain', (await load(api.database.pool, 'domain', [domainID])).get(domainID)!).document;
    assert.equal((await documentOfDomain()).forceSSL, undefined);
    assert.equal((await documentOfDomain()).hsts, undefined);
    ok(await setting('forceSSL', { forceSSL: true }));
    const since = await mark(api);
    ok(await setting('hsts', { hsts }));
    assert.deepEqual(
      (await since.outbox()).map(line => `${line.kind} ${line.entityID}`),
      [`domain ${domainID}`],
    );
    const { forceSSL, hsts: told } = await documentOfDomain();
    assert.deepEqual([forceSSL, told], [true, { maxAge: 600, includeSubDomains: false, preload: false }]);
    const row = await me.read(`${base}/domain/${domainID}`);
    assert.deepEqual([row.forceSSL, row.hsts], [true, hsts]);
    assert.equal(problem(await setting('hsts', { hsts: { ...hsts, preload: true } })), 'hsts.preload hstsPreload');
    const year = { enabled: true, maxAge: 31_536_000, includeSubDomains: true, preload: true };
    ok(await setting('hsts', { hsts: year }));
    assert.equal(problem(await setting('hsts', { hsts: { ...year, maxAge: 31_535_999 } })), 'hsts.preload hstsPreload');
  });
});

describe('domains', () => {
  test('show what names them; others are refused with 301001 and the names', async () => {
    const id = await made(shop.chain, shop.key);
    const [bare, below, deep, wild, foreign] = [
      await domainOf('shop.test'),
      await domainOf('a.shop.test'),
      await domainOf('b.a.shop.test'),
      await domainOf('*.shop.test'),
      await domainOf('else.test'),
    ];
    const since = await mark(api);
    ok(await assign(id, bare!, below!, wild!));
    assert.deepEqual(
      (await since.outbox()).map(line => `${line.kind} ${line.entityID}`).sort(),
      [`certificate ${id}`, ...[bare, below, wild].map(one => `domain ${one}`)].sort(),
    );
    assert.deepEqual((await read(id)).domainIDs, [bare, below, wild]);
    const { certificateID, certStatus } = await me.read(`${base}/domain/${bare}`);
    assert.deepEqual([certificateID, certStatus], [id, 'enabled']);
    is(await assign(id, foreign!), 'invalidCertificateName');
    multiple(await assign(id, bare!, deep!, foreign!), ['invalidCertificateName', ['b.a.shop.test', 'else.test']]);
    // who is not named any more shows none
    assert.deepEqual((await read(id)).domainIDs, [bare]);
    assert.equal((await me.read(`${base}/domain/${below}`)).certStatus, 'unset');
    const document = (await load(api.database.pool, 'domain', [bare!])).get(bare!)!;
    assert.equal(compile('domain', document).document.certificate, id);
    ok(await assign(id));
    assert.equal((await me.read(`${base}/domain/${bare}`)).certificateID, null);
  });

  test('have their certificate on nodes; one that no domain shows goes to none', async () => {
    const issued = ca.issue(['one.live.test', 'two.live.test', 'three.live.test']);
    const [id, other] = [await made(issued.chain, issued.key), await made(issued.chain, issued.key)];
    const [one, two, three] = [
      await domainOf('one.live.test'),
      await domainOf('two.live.test'),
      await domainOf('three.live.test'),
    ];
    const written = async (act: () => Promise<unknown>) => {
      const since = await mark(api);
      await act();
      const lines = await since.outbox();
      return lines
        .filter(line => line.kind === 'certificate')
        .map(line => Number(line.entityID))
        .sort();
    };
    const live = async () => [(await documentOf(id)) !== undefined, (await documentOf(other)) !== undefined];
    assert.deepEqual(await live(), [false, false]);
    assert.deepEqual(await written(async () => ok(await assign(id, one))), [id]);
    assert.deepEqual(await live(), [true, false]);
    assert.deepEqual(await written(async () => ok(await assign(other, one))), [id, other].sort());
    assert.deepEqual(await live(), [false, true]);
    assert.deepEqual(await written(async () => ok(await assign(other))), [other]);
    assert.deepEqual(await live(), [false, false]);
    ok(await assign(id, two, three));
    assert.deepEqual(await written(async () => ok(await me.del(`${base}/domains`, { ids: [two] }))), [id]);
    assert.deepEqual(await live(), [true, false]);
    const byName = () => me.del(`${base}/domainsByNames`, { names: ['three.live.test'] });
    assert.deepEqual(await written(async () => ok(await byName())), [id]);
    assert.deepEqual(await live(), [false, false]);
  });

  test('show the new one when it is changed, which has to name them; a certificate alone goes on with its key', async () => {
    const first = ca.issue(['renew.test']);
    const id = await made(first.chain, first.key);
    const domainID = await domainOf('renew.test');
    ok(await assign(id, domainID));
    const put = (body: object) => me.put(`${base}/certificate/${id}`, body);
    const next = ca.issue(['renew.test', 'www.renew.test']);
    assert.equal(problem(await put({ certificate: next.chain })), 'privateKey keyMismatch');
    assert.equal(problem(await put({ privateKey: next.key })), 'certificate required');
    is(await put({ certificate: shop.chain, privateKey: shop.key }), 'invalidCertificateName');
    assert.equal((await read(id)).fingerprint, fingerprint(first.certificate));
    const since = await mark(api);
    ok(await put({ certificate: next.chain, privateKey: next.key, sslName: 'renewed' }));
    assert.deepEqual(
      (await since.outbox()).map(line => `${line.kind} ${line.entityID}`),
      [`certificate ${id}`],
    );
    const told = await read(id);
    assert.deepEqual([told.sslName, told.fingerprint, told.domainIDs], ['renewed', fingerprint(next.certificate), [domainID]]);
    ok(await put({ certificate: next.certificate }));
    assert.equal((await documentOf(id))!.issuers.length, 0);
    ok(await put({ sslName: 'just a name' }));
    assert.equal((await read(id)).fingerprint, fingerprint(next.certificate));
  });

  test('show none any more when it is deleted', async () => {
    const id = await made(shop.chain, shop.key);
    const domainID = await domainOf('gone.shop.test');
    ok(await assign(id, domainID));
    ok(await me.del(`${base}/certificates`, { ids: [id] }));
    assert.deepEqual([(await me.read(`${base}/domain/${domainID}`)).certificateID, await documentOf(id)], [null, undefined]);
  });

  test('that are deleted keep no certificate from being forgotten', async () => {
    const issued = ca.issue(['forgotten.test']);
    const id = await made(issued.chain, issued.key);
    const domainID = await domainOf('forgotten.test');
    ok(await assign(id, domainID));
    ok(await me.del(`${base}/domains`, { ids: [domainID] }));
    ok(await me.del(`${base}/certificates`, { ids: [id] }));
    await sql`insert into certificate ("siteID", "sslName", names, issuer, serial, fingerprint, "keyType", "keyBits", "notBefore", "notAfter", "isWhole", leaf, issuers, "deletedAt")
      select "siteID", "sslName", names, issuer, serial, fingerprint, "keyType", "keyBits", "notBefore", "notAfter", "isWhole", 'x', '[]', now()
      from certificate, generate_series(1, 1000) where id = ${id}`.execute(api.database.db);
    ok(await me.del(`${base}/certificates`, { ids: [await made(issued.chain, issued.key)] }));
    assert.equal(await row(api.database.db, sql`select id from certificate where id = ${id}`), undefined);
  });

  test('have a bounded weight of certificates: one site takes not all the room of the nodes', async () => {
    const b = await api.tenant('certificates-heavy');
    const theirs = by(api, b.user);
    const add = () =>
      theirs.post(`/user/site/${b.siteID}/certificates`, { sslName: 'x', certificate: shop.chain, privateKey: shop.key });
    const [id] = (await add()).body.ids;
    await sql`insert into certificate ("siteID", "sslName", names, issuer, serial, fingerprint, "keyType", "keyBits", "notBefore", "notAfter", "isWhole", leaf, issuers, "privateKey")
      select "siteID", "sslName", names, issuer, serial, fingerprint, "keyType", "keyBits", "notBefore", "notAfter", "isWhole", repeat('x', 60000), issuers, "privateKey"
      from certificate, generate_series(1, 32) where id = ${id}`.execute(api.database.db);
    ok(await add());
    await sql`update certificate set leaf = repeat('x', 64000) where "siteID" = ${b.siteID} and id <> ${id}`.execute(
      api.database.db,
    );
    assert.equal(problem(await add()), 'certificate tooLong');
  });

  test("another site's domains and certificates are unknown", async () => {
    const b = await api.tenant('certificates-b');
    const theirs = by(api, b.user);
    const id = await made(shop.chain, shop.key);
    const domainID = await theirs.make(`/user/site/${b.siteID}/domains`, {
      domains: [{ domainName: 'x.bazaar.test', upstreams: [{ address: '192.0.2.1' }] }],
    });
    broken(await assign(id, domainID), 'domainIDs', 'unknown', 404);
    assert.equal((await theirs.patch(`/user/site/${b.siteID}/certificate/${id}/domains`, { domainIDs: [domainID] })).status, 404);
  });
});
