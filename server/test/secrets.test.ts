/** Secrets: what is marked is encrypted at rest and stands nowhere else; what looks like one is marked, or somebody said why not. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { sql } from 'kysely';
import { groups } from '#contract/index.ts';
import { calls as declare, type Mounted, mounted } from '#contract/kit/call.ts';
import { crud } from '#contract/kit/crud.ts';
import { obj, str } from '#contract/kit/schema.ts';
import { hidden, hiddenOther } from '#contract/kit/hidden.ts';
import { confidential, confidentialNames, secret } from '#contract/kit/secret.ts';
import { settingOf } from '#contract/kit/setting.ts';
import * as rules from '#contract/rules.ts';
import { history } from '#contract/system/history.ts';
import { implementations, sharedParams } from '#server/calls.ts';
import { Keys } from '#server/kit/crypto.ts';
import { crudOf, implement } from '#server/kit/implement.ts';
import { resealed, Sealing } from '#server/kit/sealed.ts';
import { col, declaredTables, type Table, table } from '#server/kit/table.ts';
import { row, rows } from '#server/store/db.ts';
import { historyCalls } from '#server/system/history.ts';
import { bodySecretProblems, answerSecretProblems, columnProblems, looksSecret } from './guards/secrets.ts';
import { nodeGate, pathOf, queryText, Rig, type World } from './guards/world.ts';
import { Api } from './harness.ts';

const clean = (problems: string[]) => assert.deepEqual(problems, []);
const all = [...mounted(groups)];
let api: Api;
let rig: Rig;
let world: World;
before(async () => {
  const gate = await nodeGate(() => api);
  api = await Api.start({ nodes: gate });
  rig = new Rig(api, { groups, implementations, params: sharedParams }, gate);
  world = await rig.world('mike');
});
after(() => api?.stop());

const columnsOf = () =>
  rows<{ table: string; column: string }>(
    api.database.db,
    sql`select table_name as "table", column_name as "column" from information_schema.columns where table_schema = 'public' order by 1, 2`,
  );

describe('what looks like a secret', () => {
  test('sample: names', () => {
    for (const name of ['password', 'apiToken', 'clientSecret', 'privateKey', 'key', 'vcode', 'credentials', 'hash'])
      assert.ok(looksSecret(name), name);
    for (const name of ['name', 'keyword', 'monkey', 'keys', 'permissionKeys', 'cacheKeyMode', 'tokenIsSet'])
      assert.ok(!looksSecret(name), name);
  });
  test('sample: a column nobody marked, one that is answered, a field of a body that is kept', () => {
    const bad = table<{ id: number }>()({
      table: 'bad',
      scope: { tenant: [], owner: () => sql`true` },
      sealed: ['pin'],
      sort: ['pin'],
    });
    assert.equal(
      columnProblems([{ table: 'bad', column: 'apiToken' }], [bad], {}).length,
      3,
      'unmarked, not a column, sorted by',
    );
    clean(columnProblems([{ table: 'bad', column: 'apiToken' }], [], { 'bad.apiToken': 'public' }));
    assert.equal(columnProblems([], [], { 'bad.gone': 'a reason for what is gone' }).length, 1);
    declaredTables.pop();
    const group = declare(
      { base: '/client/bad', resource: 'zones' },
      {
        'POST /bad': {
          body: obj({ apiToken: str(9), deep: obj({ secret: confidential(str(9)) }) }),
          answer: obj({ pin: str(9) }),
        },
      },
    );
    const made = [...mounted([group])];
    assert.deepEqual(bodySecretProblems(made, {}), ['POST /client/bad/bad: apiToken looks like a secret and is not marked']);
    assert.deepEqual(answerSecretProblems(made, ['pin'], {}), ['POST /client/bad/bad answers pin']);
  });

  test('every column that looks like one is marked, or a reason says why not', async () => {
    clean(columnProblems(await columnsOf(), declaredTables, columnReasons));
  });
  test('every field of an input that looks like one is marked, or a reason says why not', () => {
    clean(bodySecretProblems(all, bodyReasons));
  });
  test('no answer has a field that is marked as a column, nor one that looks like a secret without a reason', () => {
    const columns = declaredTables.flatMap(({ secret: hashed = [], sealed = [] }) => [...hashed, ...sealed]);
    assert.ok(columns.length > 0);
    clean(answerSecretProblems(all, columns, answerReasons));
  });
  test('a setting, which is answered whole, takes none', () => {
    const options = { name: 'mail', fields: { password: secret(200) }, defaults: { password: null }, levels: {} };
    assert.throws(() => settingOf(options as never), /holds no secret/);
  });
});

const columnReasons: Record<string, string> = {
  'acmeChallenge.token': 'public: an authority gave it, and anybody may ask a node for it',
  'login.code': 'SHA-256 of the code and of a random key that only the person has',
  'login.hash': 'SHA-256 of a random key',
  'login.secret': 'sealed (account/second-factor.ts): a row of minutes, which no list answers',
  'mailLink.hash': 'SHA-256 of a random token',
  'nodeOffer.hash': 'of what a machine of ours has for nodes, to see whether all have the same',
  'passkey.publicKey': 'proves what somebody else’s private key signed, and signs nothing',
  'oidcFlow.hash': 'SHA-256 of a random key',
  'passkeyChallenge.hash': 'SHA-256 of a random challenge',
  'portUpstream.hash': 'what binds visitors to an origin: one of three words',
  'published.hash': 'of a document, to see whether it changed',
  'session.previousHash': 'SHA-256 of a random token',
  'session.refreshHash': 'SHA-256 of a random token',
  'setting.key': 'the name of a setting',
  'site.cnameKey': 'stands in a name that all the world resolves',
  'upstream.hash': 'what binds visitors to an origin: one of three words',
};
const bodyReasons: Record<string, string> = {
  'POST /node/join publicKey': 'public',
  'POST /node/join boxKey': 'public: the zone’s key is put into a box for it',
  'POST /node/credentials boxKey': 'public: the same',
  'POST /node/join memberKey': 'public: it is certified for the nodes of its zone',
  'POST /node/credentials memberKey': 'public: the same',
};
const answerReasons: Record<string, string> = {
  'POST /{area}/apiToken token': 'told once to whoever made it; the marked column is the bot’s of Telegram',
  'POST /client/nodes/joinToken token': 'told once to whoever made it; the marked column is the bot’s of Telegram',
  'GET /{area}/site/{siteID}/applied message': 'what a node says of a change; the marked column is a mail that waits',
  'GET /{area}/site/{siteID}/applied/stream message': 'the same',
  verifyKey: 'the public half, which other installations are told to trust',
  accessToken: 'a session is opened by it',
  refreshToken: 'a session is opened by it',
  allowCredentials: 'public: names of the passkeys that the person who asks has, for them alone',
  excludeCredentials: 'public: names of the passkeys that the person who asks has, without which nothing is signed',
  onePassKey: 'the first half of a sign-in',
  flowKey: 'kept by the page that went to a provider, and spent when it comes back',
  vcode: 'the second half, where nothing more is asked',
  key: 'what tells rows of figures apart, and troubles of one check',
  documentKey: 'public: what a node checks signatures with',
  zoneKey: 'in a box that the node alone opens: it opens the private keys of its zone’s certificates',
};

test('no GET answers a stored hash or a sealed value', async () => {
  let asked = 0;
  for (const call of all.filter(one => one.method === 'GET' && one.area && one.def.as !== 'sse')) {
    const { ids, query } = await rig.request(call, world);
    const reply = await api.call('GET', pathOf(call, ids) + queryText(query), { token: world.people[call.area!].token });
    assert.ok(!/\$argon2id\$|bw1\.[0-9a-f]{8}\./.test(reply.text), `${call.path}: ${reply.text.slice(0, 300)}`);
    asked++;
  }
  assert.ok(asked > 80, `only ${asked}`);
});

test('passwords and tokens of a body stand in no audit line, by the mark of their field', async () => {
  const { client } = world.people;
  const id = await rig.at(world, 'account');
  const reply = await api.call('PUT', '/client/account/password', {
    token: client.token,
    body: { id, password: 'find me nowhere 1' },
  });
  assert.equal(reply.status, 200, reply.text);
  const refused = await api.call('PATCH', '/client/password', {
    token: client.token,
    body: { oldPassword: 'find me nowhere 2', password: 'find me nowhere 3' },
  });
  assert.notEqual(refused.status, 200);
  const { text } = (await row<{ text: string }>(api.database.db, sql`select string_agg(a::text, ' ') as text from audit a`))!;
  assert.ok(text.includes('/client/account/password') && !text.includes('find me nowhere'), 'the audit holds a password');
});

describe('a sealed column', () => {
  const tokens = declare(
    { base: '/client', areas: ['client'], resource: 'zones' },
    crud('/vault', {
      fields: { name: str(40), apiToken: secret(200, rules.zodRule(rules.password)) },
    }),
  );
  let vaultTable: Table;
  let own: Api;
  const value = `s3cret-${randomBytes(8).toString('hex')}`;
  const token = () => world.people.client.token;
  const list = async () => (await own.call('GET', '/client/vault?pageSize=500', { token: token() })).body.data;
  const stored = async (id: number) =>
    (await row<{ apiToken: string | null; rowVersion: number }>(
      own.database.db,
      sql`select "apiToken", "rowVersion" from vault where id = ${id}`,
    ))!;
  const put = (body: object, headers: Record<string, string> = {}) =>
    own.call('PUT', '/client/vault', { token: token(), body, headers });
  let id: number;

  before(async () => {
    await sql`create table vault (id bigint generated always as identity primary key, "clientID" bigint not null, name text not null, "apiToken" text,
      "rowVersion" int not null default 1, "createdAt" timestamptz not null default now(), "updatedAt" timestamptz not null default now(),
      "deletedAt" timestamptz)`.execute(api.database.db);
    vaultTable = table<Record<string, unknown>>()({
      table: 'vault',
      scope: { tenant: [['clientID']], owner: (actor, a) => sql`${col('clientID', a)} = ${actor.rootID}` },
      sealed: ['apiToken'],
    });
    const implementation = implement(
      tokens,
      crudOf('/vault', vaultTable, {
        group: tokens as never,
        before: async (ctx, given) => {
          if (!('id' in given)) given['clientID'] = ctx.actor.rootID;
        },
      }) as never,
    );
    own = await Api.start(
      {},
      { groups: [tokens, history], implementations: [implementation, historyCalls([implementation], {})], params: {} },
      api.database.url,
    );
    // the same installation: what one process sealed the other opens
    Object.assign(own.services, { sealing: api.services.sealing });
    Object.assign(world.people, {
      client: { ...world.people.client, token: (await own.sessions.open(own.database.db, world.people.client.id)).accessToken },
    });
    const made = await own.call('POST', '/client/vault', { token: token(), body: { items: [{ name: 'one', apiToken: value }] } });
    assert.equal(made.status, 200, made.text);
    id = made.body.ids[0];
  });
  after(async () => {
    declaredTables.splice(declaredTables.indexOf(vaultTable), 1);
    await own?.stop();
  });

  test('is stored sealed, each time otherwise; an answer says whether it is set', async () => {
    const first = (await stored(id)).apiToken!;
    assert.match(first, /^bw1\.[0-9a-f]{8}\.[\w-]{40,}$/);
    const twin = await own.call('POST', '/client/vault', { token: token(), body: { items: [{ name: 'two', apiToken: value }] } });
    assert.notEqual((await stored(twin.body.ids[0])).apiToken, first);
    const found = (await list()).find((one: { id: number }) => one.id === id);
    assert.deepEqual([found.name, found.apiTokenIsSet, 'apiToken' in found], ['one', true, false]);
    assert.equal(api.services.sealing.open('vault.apiToken', first), value);
  });

  test('left out it stays, given it is another, null or empty it is gone', async () => {
    const before = (await stored(id)).apiToken;
    assert.equal((await put({ id, name: 'renamed' })).status, 200);
    assert.equal((await stored(id)).apiToken, before);
    for (const nothing of [null, '']) {
      assert.equal((await put({ id, apiToken: nothing })).status, 200);
      assert.equal((await stored(id)).apiToken, null);
      assert.equal((await list()).find((one: { id: number }) => one.id === id).apiTokenIsSet, false);
      assert.equal((await put({ id, apiToken: `${value}-again` })).status, 200);
      assert.equal(api.services.sealing.open('vault.apiToken', (await stored(id)).apiToken!), `${value}-again`);
    }
    const short = await put({ id, apiToken: 'short' });
    assert.deepEqual([short.status, short.body.errorData[0].rule, short.text.includes('"short"')], [400, 'tooShort', false]);
  });

  test('of two who change it one is told, and what the other wrote is not', async () => {
    const { rowVersion } = await stored(id);
    const seen = { 'if-match': `"${rowVersion}"` };
    assert.equal((await put({ id, apiToken: `${value}-first` }, seen)).status, 200);
    const late = await put({ id, apiToken: `${value}-second` }, seen);
    assert.deepEqual([late.status, late.body.errorData], [409, [{ path: 'apiToken', rule: 'stale' }]]);
    assert.ok(!late.text.includes(value) && !late.text.includes('bw1.'), late.text);
    assert.equal(api.services.sealing.open('vault.apiToken', (await stored(id)).apiToken!), `${value}-first`);
  });

  test('the history says that it changed, never what it held; nothing else holds it', async () => {
    assert.equal((await put({ id, apiToken: null })).status, 200);
    const reply = await own.call('GET', `/client/history?resource=/vault&id=${id}`, { token: token() });
    const of = reply.body.data.map((one: { fields: { name: string; before: unknown; after: unknown }[] }) =>
      one.fields.filter(field => field.name === 'apiToken').map(({ before, after }) => [before, after]),
    );
    assert.deepEqual([of[0], of[1], of.at(-1)], [[[hidden, null]], [[hidden, hiddenOther]], [[null, hidden]]]);
    await put({ id, apiToken: value });
    await own.call('DELETE', '/client/vault', { token: token(), body: { ids: [id] } });
    const removed = await own.call('GET', '/client/history/removed?resource=/vault', { token: token() });
    assert.deepEqual(removed.body.data[0].values, { name: 'renamed', apiToken: hidden });
    const audit = await row<{ text: string }>(own.database.db, sql`select string_agg(a::text, ' ') as text from audit a`);
    for (const text of [reply.text, removed.text, audit!.text, own.failures.join(' ')])
      assert.ok(!text.includes(value) && !text.includes('bw1.'), text.slice(0, 500));
  });

  test('what stood in the open, or was sealed with a former key, is sealed at the start; another key opens nothing', async () => {
    const { db } = own.database;
    const [former, present] = [new Keys(randomBytes(32)), new Keys(randomBytes(32))];
    await sql`delete from vault`.execute(db);
    // those of the world, sealed with the server's own key
    await sql`delete from "siteDNS"`.execute(db);
    const add = (token: string) =>
      sql`insert into vault ("clientID", name, "apiToken", "deletedAt") values (1, 'old', ${token}, now())`.execute(db);
    for (let n = 0; n < 450; n++) await add(`open ${n}`);
    await add(new Sealing([former]).seal('vault.apiToken', 'of the former key'));
    await add('');
    const sealing = new Sealing([present, former]);
    assert.equal(await resealed(db, sealing), 452);
    assert.equal(await resealed(db, sealing), 0, 'once is enough');
    const held = await rows<{ apiToken: string | null }>(db, sql`select "apiToken" from vault order by id`);
    assert.ok(held.every(({ apiToken }) => apiToken === null || apiToken.startsWith(sealing.prefix)));
    const open = (text: string) => new Sealing([present]).open('vault.apiToken', text);
    assert.deepEqual(
      [open(held[7]!.apiToken!), open(held[450]!.apiToken!), held[451]!.apiToken],
      ['open 7', 'of the former key', null],
    );
    // a copy of another column, another key, a damaged one: none tells what it held
    const sealed = held[7]!.apiToken!;
    assert.throws(() => new Sealing([present]).open('vault.other', sealed), /not sealed there, or is damaged/);
    assert.throws(() => new Sealing([former]).open('vault.apiToken', sealed), /not here: restore secret\.key/);
    assert.throws(() => new Sealing([present]).open('vault.apiToken', `${sealed.slice(0, -4)}AAAA`), /damaged/);
    await assert.rejects(resealed(db, new Sealing([former])), /not here: restore secret\.key/);
    await sql`delete from vault`.execute(db);
  });
});

test('names of confidential fields are found at whatever depth', () => {
  const call = all.find((one: Mounted) => one.key === 'PATCH /{area}/password')!;
  assert.deepEqual([...confidentialNames(call.def.body)].sort(), ['oldPassword', 'password']);
});
