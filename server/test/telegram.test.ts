/** Notices by Telegram against an endpoint that answers as the Bot API does: 401, 400 for a chat, 429 with a time, and what went well. */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { wayProblem, wayTexts } from '#contract/rules/said.ts';
import { fails, type Check } from '#contract/system/health.ts';
import { nodeTable, productTable } from '#server/node/tables.ts';
import { siteTable } from '#server/site/tables.ts';
import { Notifier } from '#server/system/notifier.ts';
import { NoticeTeller } from '#server/work/notices.ts';
import { Api, type Tenant } from './harness.ts';

let api: Api;
let a: Tenant;
let server: Server;
const token = `123456789:${'A'.repeat(35)}`;
const got: { chat_id: string; text: string }[] = [];
let tooMany = false;
/** what the answer to a message waits for */
let held: ((text: string) => Promise<void> | undefined) | undefined;
/** of a message that arrived */
let arrived = () => {};
/** Telegram is silent from the next message on, until it is told to answer. */
function holdNext(): { comes: Promise<void>; answer: () => void } {
  const comes = new Promise<void>(done => (arrived = done));
  const { promise, resolve } = Promise.withResolvers<void>();
  held = () => promise;
  return {
    comes,
    answer() {
      held = undefined;
      resolve();
    },
  };
}
let found: Check[] = [];
before(async () => {
  server = createServer((request, response) => {
    let text = '';
    request.on('data', part => (text += part));
    request.on('end', () => {
      const answer = (status: number, body: object) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      if (request.url !== `/bot${token}/sendMessage`)
        return answer(401, { ok: false, error_code: 401, description: 'Unauthorized' });
      const body = JSON.parse(text) as (typeof got)[number];
      if (body.chat_id !== '-100123')
        return answer(400, { ok: false, error_code: 400, description: 'Bad Request: chat not found' });
      if (tooMany)
        return answer(429, {
          ok: false,
          error_code: 429,
          description: 'Too Many Requests: retry after 7',
          parameters: { retry_after: 7 },
        });
      got.push(body);
      arrived();
      return (held?.(body.text) ?? Promise.resolve()).then(() => answer(200, { ok: true, result: {} }));
    });
  });
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done));
  // what the house finds is said here; who is told of it is the product's
  const health = { now: () => found } as never;
  api = await Api.start({ telegramAPI: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, health });
  a = await api.tenant('a');
});
after(async () => {
  await api?.stop();
  server?.close();
});

const put = (body: unknown) => api.call('PUT', '/client/setting/tg', { token: a.client.token, body });
const read = async () => (await api.call('GET', '/client/setting/tg', { token: a.client.token })).body;
const tried = () => api.call('POST', '/client/setting/tg/test', { token: a.client.token });

test('a token is kept for nobody to read, and a test says what Telegram said', async () => {
  assert.equal((await tried()).body.code, 101021);
  assert.equal((await put({ enable: true, token: 'nonsense', chatID: '-100123' })).body.code, 101021);
  assert.equal((await put({ enable: true, token: '../x:y', chatID: '-100123' })).body.code, 101021);
  assert.equal((await put({ enable: true, chatID: '-100123' })).status, 400);
  assert.equal((await put({ enable: true, token: `1${token}`, chatID: '-100123' })).status, 200);
  const refused = await tried();
  assert.deepEqual([refused.body.code, refused.body.errorData[0].bounds.why], [101021, 'Unauthorized']);
  assert.equal((await put({ enable: true, token, chatID: '-1' })).status, 200);
  assert.match((await tried()).body.errorData[0].bounds.why, /chat not found/);
  assert.equal((await put({ enable: true, chatID: '-100123' })).status, 200);
  const shown = await read();
  assert.equal(shown.tokenIsSet, true);
  assert.ok(!JSON.stringify(shown).includes(token));
  assert.equal((await tried()).status, 200);
  assert.equal(got.length, 1);
  const stored = await sql<{ token: string }>`select token from telegram`.execute(api.database.db);
  assert.match(stored.rows[0]!.token, /^bw1\./);
  const audit = await sql<{
    n: number;
  }>`select count(*)::int n from audit where body::text like ${`%${token}%`} or changes::text like ${`%${token}%`}`.execute(
    api.database.db,
  );
  assert.equal(audit.rows[0]!.n, 0);
});

test('what is new is told once, in one message, again after 429, and that it is over', async () => {
  got.length = 0;
  const notifier = new Notifier(api.services);
  const { db } = api.database;
  const now = () => sql`update telegram set "nextAt" = now()`.execute(db);
  const look = async () => {
    await now();
    await notifier.look();
  };
  await look();
  assert.equal(got.length, 0, 'nothing is wrong');
  const since = new Date().toISOString();
  found = [
    { ...fails('bus.away', {}), since },
    { ...fails('ingest.away', {}), since },
  ] as Check[];
  tooMany = true;
  await look();
  assert.equal(got.length, 0);
  assert.match((await read()).problem, /Too Many Requests/);
  const waits = await sql<{ s: number }>`select extract(epoch from "nextAt" - now())::int s from telegram`.execute(db);
  assert.ok(waits.rows[0]!.s <= 7 && waits.rows[0]!.s >= 1, `${waits.rows[0]!.s}`);
  tooMany = false;
  await look();
  await look();
  assert.equal(got.length, 1);
  assert.equal(got[0]!.text.split('\n').filter(line => line.startsWith('•')).length, 2, got[0]!.text);
  assert.equal((await read()).problem, null);
  found = [];
  await look();
  await look();
  assert.equal(got.length, 2);
  await put({ enable: false, chatID: '-100123' });
  found = [{ ...fails('bus.away', {}), since }] as Check[];
  await look();
  assert.equal(got.length, 2, 'switched off');
});

/** Something happens to what a's people look after, and is put where chats are told from. */
const happens = async (teller: NoticeTeller, kind: string, name: string, detail = '') => {
  await sql`insert into "noticeEvent" ("rootID", kind, name, detail) values (${a.client.id}, ${kind}, ${name}, ${detail})`.execute(
    api.database.db,
  );
  await teller.look();
};
const tellerOf = () => new NoticeTeller(api.services, { node: nodeTable, site: siteTable, product: productTable });
/** What the chat is told by one look. */
const lookOf = async (notifier: Notifier) => {
  got.length = 0;
  await sql`update telegram set "nextAt" = now(), told = '[]'`.execute(api.database.db);
  await notifier.look();
  return got.map(({ text }) => text);
};

test('events go to the chat by its own choice, many of a kind as one line, and none twice', async () => {
  const { db } = api.database;
  const notifier = new Notifier(api.services);
  const teller = tellerOf();
  const look = () => lookOf(notifier);
  found = [{ ...fails('bus.away', {}), since: new Date().toISOString() }] as Check[];
  // one that stood before there was a choice hears what it heard
  await sql`update telegram set kinds = default`.execute(db);
  assert.deepEqual((await read()).kinds, ['state']);
  await put({ enable: true, chatID: '-100123' });
  await happens(teller, 'nodeOffline', 'edge-1');
  assert.doesNotMatch((await look()).join(), /edge-1/);
  await put({ enable: true, chatID: '-100123', kinds: ['nodeOffline', 'backupFailed', 'nodeOffline'] });
  assert.deepEqual((await read()).kinds, ['nodeOffline', 'backupFailed']);
  assert.equal((await put({ enable: true, chatID: '-100123', kinds: ['nobodyKnows'] })).status, 400);
  for (let i = 1; i <= 8; i++) await happens(teller, 'nodeOffline', `edge-${i}`);
  await happens(teller, 'nodeBack', 'edge-9');
  await happens(teller, 'backupFailed', 'backup', 'The disk is full.');
  const [text, ...others] = await look();
  assert.deepEqual(others, []);
  // neither the banner nor what was not chosen; the chat reads in its owner's language, the reason too
  assert.deepEqual(text!.split('\n').slice(1), [
    '• 8 個節點離線：edge-1、edge-2、edge-3、edge-4、edge-5等',
    '• 系統備份失敗 (磁碟已滿。)',
  ]);
  assert.deepEqual(await look(), []);
  tooMany = true;
  await happens(teller, 'backupFailed', 'backup', 'who knows why');
  assert.deepEqual(await look(), []);
  tooMany = false;
  assert.match((await look()).join(), /who knows why/);
  await put({ enable: true, chatID: '-100123', kinds: [] });
  await happens(teller, 'backupFailed', 'backup');
  assert.deepEqual(await look(), []);
});

test('what happens while a message is under way is named by the next, and by that alone', async () => {
  const [notifier, teller] = [new Notifier(api.services), tellerOf()];
  await put({ enable: true, chatID: '-100123', kinds: ['nodeOffline', 'backupFailed'] });
  for (let i = 1; i <= 5; i++) await happens(teller, 'nodeOffline', `early-${i}`);
  const { comes, answer } = holdNext();
  const first = lookOf(notifier);
  await comes;
  await happens(teller, 'nodeOffline', 'meanwhile');
  answer();
  const [told] = await first;
  assert.match(told!, /early-5/);
  assert.doesNotMatch(told!, /meanwhile/);
  const [next] = await lookOf(notifier);
  assert.match(next!, /meanwhile/);
  assert.doesNotMatch(next!, /early/);
  assert.deepEqual(await lookOf(notifier), []);
});

test('what did not arrive is told with what came since; an event of now does not go with those of yesterday', async () => {
  const { db } = api.database;
  const [notifier, teller] = [new Notifier(api.services), tellerOf()];
  await happens(teller, 'nodeOffline', 'first');
  tooMany = true;
  assert.deepEqual(await lookOf(notifier), []);
  await happens(teller, 'nodeOffline', 'second');
  await happens(teller, 'backupFailed', 'backup', 'The disk is full.');
  assert.deepEqual(await lookOf(notifier), []);
  tooMany = false;
  assert.deepEqual((await lookOf(notifier))[0]!.split('\n').slice(1), [
    '• 2 個節點離線：first、second',
    '• 系統備份失敗 (磁碟已滿。)',
  ]);
  tooMany = true;
  await happens(teller, 'nodeOffline', 'yesterday');
  assert.deepEqual(await lookOf(notifier), []);
  await sql`update "telegramNotice" set "createdAt" = now() - interval '25 hours'`.execute(db);
  // it is back among those that wait when another comes
  assert.deepEqual(await lookOf(notifier), []);
  await happens(teller, 'nodeOffline', 'now');
  await teller.scan();
  tooMany = false;
  assert.match((await lookOf(notifier)).join(), /now/);
  tooMany = true;
  await happens(teller, 'nodeOffline', 'yesterday');
  await sql`update "telegramNotice" set "createdAt" = now() - interval '25 hours'`.execute(db);
  await happens(teller, 'nodeOffline', 'now');
  await teller.scan();
  tooMany = false;
  assert.match((await lookOf(notifier)).join(), /yesterday、now/);
  assert.deepEqual(await lookOf(notifier), []);
});

test('a chat whose answer is awaited, and one whose token nobody can unseal, keep none of the others from being told', async () => {
  const { db } = api.database;
  const b = await api.tenant('b');
  const c = await api.tenant('c');
  for (const one of [b, c])
    await api.call('PUT', '/client/setting/tg', {
      token: one.client.token,
      body: { enable: true, token, chatID: '-100123', kinds: ['state'] },
    });
  await put({ enable: true, chatID: '-100123', kinds: ['state'] });
  await sql`update telegram set token = 'bw1.nonsense' where "accountID" = ${b.client.id}`.execute(db);
  found = [{ ...fails('bus.away', {}), since: new Date().toISOString() }] as Check[];
  // the one that comes first is answered when the other one was told
  let both!: () => void;
  const second = new Promise<void>(done => (both = done));
  let messages = 0;
  held = () => {
    if (++messages === 2) both();
    return second;
  };
  const notifier = new Notifier(api.services);
  try {
    assert.equal((await lookOf(notifier)).length, 2);
    // neither waited until it was too late; of the third its people read that it stays silent, and it is not tried again at once
    const late = await sql<{ accountID: number; problem: string; s: number }>`
      select "accountID", problem, extract(epoch from "nextAt" - now())::int s from telegram where problem is not null`.execute(
      db,
    );
    assert.deepEqual(
      late.rows.map(({ accountID, problem }) => [accountID, wayProblem(problem, 'zh_TW')]),
      [[b.client.id, wayTexts.notSent.zh_TW]],
    );
    assert.ok(late.rows[0]!.s > 250, `${late.rows[0]!.s}`);
  } finally {
    held = undefined;
  }
});

test('whoever is told is nobody else’s meanwhile, however long that takes, and is looked at soon again', async () => {
  const { db } = api.database;
  const [notifier, teller] = [new Notifier(api.services), tellerOf()];
  await put({ enable: true, chatID: '-100123', kinds: ['nodeOffline'] });
  await happens(teller, 'nodeOffline', 'slow');
  const seconds = async () => {
    const told = sql<{
      s: number;
    }>`select extract(epoch from "nextAt" - now())::int s from telegram where "accountID" = ${a.client.id}`;
    return (await told.execute(db)).rows[0]!.s;
  };
  const { comes, answer } = holdNext();
  const told = lookOf(notifier);
  await comes;
  assert.ok((await seconds()) > 60, `${await seconds()}`);
  answer();
  await told;
  assert.ok((await seconds()) <= 20, `${await seconds()}`);
});

test('why Telegram is not reached is read in the language of who reads it', async () => {
  const [notifier, teller] = [new Notifier(api.services), tellerOf()];
  const { telegramAPI } = api.services;
  const why = async (url: string) => {
    api.services.telegramAPI = url;
    await happens(teller, 'nodeOffline', 'edge');
    assert.deepEqual(await lookOf(notifier), []);
    return wayProblem((await read()).problem, 'zh_TW');
  };
  try {
    assert.equal(await why('http://127.0.0.1:9'), '127.0.0.1:9 拒絕連線');
    assert.equal(await why('http://169.254.169.254'), '不允許連線到 169.254.169.254:80（雲端主機的中繼資料位址）');
    assert.equal(await why('http://nobody.invalid'), '找不到 nobody.invalid 的位址');
    assert.equal((await tried()).body.errorData[0].bounds.why, 'nobody.invalid has no address');
  } finally {
    api.services.telegramAPI = telegramAPI;
  }
});
