/** Mail servers that are slow, away or refuse: what waits is sent once, kept while it may be set right, and keeps nobody else's. */
import assert from 'node:assert/strict';
import { createServer, type Server, type Socket } from 'node:net';
import { after, before, beforeEach, test } from 'node:test';
import { sql } from 'kysely';
import { mailLimits } from '#contract/limits.ts';
import { sendMail } from '#server/kit/mail/send.ts';
import { row, rows, type Sql } from '#server/store/db.ts';
import { Mailer } from '#server/work/mailer.ts';
import { ok } from './expect.ts';
import { Api, password, type Person } from './harness.ts';
import { until } from './smtp.ts';

/** A server that answers each command as it is told, when it is told: npm smtp-server has no way to. */
interface Scripted {
  port: number;
  /** commands it was given, `BODY` for a whole mail */
  heard: string[];
  answer: (command: string) => string | Promise<string>;
  stop(): Promise<void>;
}
async function scripted(): Promise<Scripted> {
  const sockets = new Set<Socket>();
  const server: Server = createServer(socket => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    let isBody = false;
    let text = '';
    const say = async (command: string) => {
      state.heard.push(command);
      const line = await state.answer(command);
      if (command === 'DATA' && line.startsWith('354')) isBody = true;
      if (line) socket.write(`${line}\r\n`);
    };
    void say('CONNECT');
    socket.on('data', part => {
      text += part.toString();
      for (;;) {
        const at = text.indexOf(isBody ? '\r\n.\r\n' : '\r\n');
        if (at < 0) return;
        const command = isBody ? 'BODY' : text.slice(0, at).split(/[ :]/)[0]!.toUpperCase();
        text = text.slice(at + (isBody ? 5 : 2));
        isBody = false;
        void say(command);
      }
    });
  });
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done));
  const state: Scripted = {
    port: (server.address() as { port: number }).port,
    heard: [],
    answer: takes,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise(done => server.close(done));
    },
  };
  return state;
}
const takes = (command: string) =>
  ({ CONNECT: '220 here', EHLO: '250 here', DATA: '354 go on', QUIT: '221 bye' })[command] ?? '250 ok';
const but = (command: string, answer: string) => (heard: string) => (heard === command ? answer : takes(heard));

let api: Api;
let mailer: Mailer;
let server: Scripted;
let owner: Person;
const silent: Person[] = [];
const set = (who: Person, port: number, more: object = {}) =>
  api.call('PUT', '/client/setting/email', {
    token: who.token,
    body: {
      ...{
        host: '127.0.0.1',
        port,
        security: 'none',
        username: '',
        fromAddress: 'noreply@house.test',
        fromName: '',
        ownPassword: password,
      },
      ...more,
    },
  });
const send = (operatorID = owner.id, to = 'someone@else.test') =>
  sendMail(api.database.db, api.services, { operatorID, rootID: null, to, language: 'en_US', template: 'test', data: {} });
const waiting = () => rows<{ clientID: number; problem: string | null }>(api.database.db, sql`select * from mail order by id`);
const told = async (who = owner) => (await api.call('GET', '/client/setting/email', { token: who.token })).body;
const bodies = () => server.heard.filter(one => one === 'BODY').length;

before(async () => {
  [api, server] = await Promise.all([Api.start(), scripted()]);
  owner = await api.account('client', 'owner@test.test');
  for (let n = 0; n < 5; n++) silent.push(await api.account('client', `silent-${n}@test.test`));
  mailer = new Mailer(api.database.url, api.services);
  mailer.start();
});
beforeEach(async () => {
  server.answer = takes;
  server.heard.length = 0;
  await sql`delete from mail`.execute(api.database.db);
  ok(await set(owner, server.port));
});
after(async () => {
  await server?.stop();
  await mailer?.stop();
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

test('a refused sender deletes nothing, is told, and goes out once it is set right', async () => {
  server.answer = but('MAIL', '550 5.7.1 sender address not allowed');
  await send();
  await send();
  await until(async () => (await waiting()).some(one => one.problem) || undefined, 'a failed try');
  assert.equal((await waiting()).length, 2);
  assert.match((await told()).problem, /sender address not allowed/);
  server.answer = takes;
  ok(await set(owner, server.port, { fromAddress: 'right@house.test' }));
  await until(async () => (await waiting()).length === 0 || undefined, 'the queue to be empty');
  assert.equal(bodies(), 2);
  assert.equal((await told()).problem, null);
});

test('a server that relays for nobody keeps the mail; a body refused for good is given up', async () => {
  server.answer = but('RCPT', '554 5.7.1 Relay access denied');
  await send();
  await until(async () => (await waiting())[0]?.problem ?? undefined, 'a failed try');
  server.answer = but('BODY', '554 5.6.0 content refused');
  ok(await set(owner, server.port));
  await until(async () => (await waiting()).length === 0 || undefined, 'the mail to be given up');
});

test('a mail under way is not sent again by saving the settings', async () => {
  const answer = Promise.withResolvers<string>();
  server.answer = command => (command === 'BODY' ? answer.promise : takes(command));
  await send();
  await until(() => bodies() || undefined, 'a body');
  ok(await set(owner, server.port));
  // the next mail shows that the mailer looked since
  server.answer = takes;
  await send(owner.id, 'next@else.test');
  await until(async () => (await waiting()).length === 1 || undefined, 'the second to be sent');
  assert.equal(bodies(), 2);
  answer.resolve('250 ok');
  await until(async () => (await waiting()).length === 0 || undefined, 'the first to be sent');
  assert.equal(bodies(), 2);
});

test('a server that takes a mail more slowly than a conversation may last is given it once', async t => {
  api.services.mail = { ca: undefined, timeoutMs: 1000 };
  t.after(() => void delete api.services.mail);
  const answer = Promise.withResolvers<string>();
  server.answer = command => (command === 'BODY' ? answer.promise : takes(command));
  await send();
  await until(() => bodies() || undefined, 'a body');
  // one that began later, with a server that says nothing, is over when its time is
  const still = await scripted();
  still.answer = () => '';
  ok(await set(silent[0]!, still.port));
  await send(silent[0]!.id);
  await until(
    async () => (await waiting()).find(one => one.clientID === silent[0]!.id)?.problem ?? undefined,
    'the later one to end',
  );
  assert.equal((await waiting()).find(one => one.clientID === owner.id)?.problem, null);
  await still.stop();
  for (const table of ['mail', 'mailServer'])
    await sql`delete from ${sql.table(table)} where "clientID" = ${silent[0]!.id}`.execute(api.database.db);
  answer.resolve('250 ok');
  await until(async () => (await waiting()).length === 0 || undefined, 'the mail to be sent');
  assert.equal(bodies(), 1);
});

test('a server that is away is asked by one mail, not by each; the words of the owner’s are told to nobody else', async () => {
  server.answer = but('CONNECT', '554 go away');
  const [guest] = silent;
  for (let n = 0; n < 20; n++) await send(guest!.id, `many-${n}@else.test`);
  await until(async () => (await waiting()).some(one => one.problem) || undefined, 'a failed try');
  assert.ok(!/127\.0\.0\.1|go away/.test(JSON.stringify(await told(guest))), 'told to an operator that goes by it');
  assert.match((await told()).problem, /go away/);
  const tries = server.heard.filter(one => one === 'CONNECT').length;
  assert.ok(tries <= 3, `${tries} tries at once`);
  server.answer = takes;
  ok(await set(owner, server.port));
  await until(async () => (await waiting()).length === 0 || undefined, 'all of them to be sent');
});

test('five operators whose servers stand still keep nobody’s mails', { timeout: 120_000 }, async () => {
  const still = await scripted();
  still.answer = () => '';
  for (const one of silent) ok(await set(one, still.port));
  await sql`update "mailServer" set failures = 1, problem = 'still' where port = ${still.port}`.execute(api.database.db);
  for (const one of silent) for (let n = 0; n < 20; n++) await send(one.id, `stuck-${n}@else.test`);
  await until(() => still.heard.length >= 4 || undefined, 'the servers that stand still to be asked');
  await send();
  await until(() => bodies() || undefined, 'the owner’s mail');
  // none of those conversations has ended meanwhile
  assert.deepEqual(await rows(api.database.db, sql`select distinct failures from "mailServer" where port = ${still.port}`), [
    { failures: 1 },
  ]);
  assert.ok(still.heard.length <= 4, `${still.heard.length} conversations with servers that are known to fail`);
  const held = await row<{ most: number }>(
    api.database.db,
    sql`select max(n)::int as most from (select count(*) n from mail where "leasedUntil" > now() group by "clientID") one`,
  );
  assert.equal(held!.most, 1);
  await still.stop();
});

test('codes of operators whose servers are slow do not keep another’s mail for good', { timeout: 120_000 }, async t => {
  const slow = await scripted();
  t.after(() => slow.stop());
  slow.answer = () => '';
  for (const one of silent) ok(await set(one, slow.port));
  await sql`update "mailServer" set failures = 0, "pausedUntil" = null`.execute(api.database.db);
  const mail = { rootID: null, to: 'someone@else.test', language: 'en_US', template: 'test', data: {} } as const;
  // all at once: whoever looks sees them all
  await api.database.db.transaction().execute(async trx => {
    for (const { id } of silent)
      for (let n = 0; n < 3; n++) await sendMail(trx, api.services, { ...mail, operatorID: id, isUrgent: true });
    await sendMail(trx, api.services, { ...mail, operatorID: owner.id });
  });
  await until(() => bodies() || undefined, 'the owner’s mail');
  assert.ok((await waiting()).length >= 3 * silent.length, 'none of theirs was given up meanwhile');
});

test('servers that take whole mails and do not answer hold no places, and of one operator no more than two mails', async t => {
  const late = await scripted();
  t.after(() => late.stop());
  late.answer = command => (command === 'BODY' ? new Promise<string>(() => {}) : takes(command));
  for (const one of silent) ok(await set(one, late.port));
  await sql`update "mailServer" set failures = 0, "pausedUntil" = null`.execute(api.database.db);
  for (const one of silent) for (let n = 0; n < 4; n++) await send(one.id, `late-${n}@else.test`);
  const taken = () => late.heard.filter(command => command === 'BODY').length;
  await until(() => taken() >= 2 * silent.length || undefined, 'two mails of each');
  await send();
  await until(() => bodies() || undefined, 'the owner’s mail');
  assert.equal(taken(), 2 * silent.length);
});

test('however many operators have codes and slow servers, one place is for what waits longest', async t => {
  const slow = await scripted();
  t.after(() => slow.stop());
  slow.answer = () => '';
  const many = [...silent];
  for (let n = 0; n < 5; n++) many.push(await api.account('client', `slow-${n}@test.test`));
  for (const one of many) ok(await set(one, slow.port));
  await sql`update "mailServer" set failures = 0, "pausedUntil" = null`.execute(api.database.db);
  const mail = { rootID: null, to: 'someone@else.test', language: 'en_US', template: 'test', data: {} } as const;
  // all at once: whoever looks sees them all
  await api.database.db.transaction().execute(async trx => {
    await sendMail(trx, api.services, { ...mail, operatorID: owner.id });
    for (const { id } of many) await sendMail(trx, api.services, { ...mail, operatorID: id, isUrgent: true });
  });
  await until(() => bodies() || undefined, 'the owner’s mail');
  assert.equal((await waiting()).length, many.length, 'none of theirs was given up meanwhile');
});

test('at one server no more than so many mails are under way, however many operators it is for, and none of a process that died', async t => {
  const { db } = api.database;
  const other = await scripted();
  t.after(() => other.stop());
  ok(await set(silent[0]!, other.port));
  const guests: number[] = [];
  for (let n = 0; n < mailLimits.atOnceOfServer / 2 + 2; n++)
    guests.push((await api.account('client', `guest-${n}@test.test`)).id);
  const mail = { rootID: null, to: 'someone@else.test', language: 'en_US', template: 'test', data: {} } as const;
  const twoOfEach = (more: Sql) =>
    db.transaction().execute(async trx => {
      for (const operatorID of [...guests, ...guests]) await sendMail(trx, api.services, { ...mail, operatorID });
      await more.execute(trx);
    });
  await twoOfEach(sql`update mail set "leasedUntil" = now() + interval '10 minutes'`);
  await send();
  await until(() => bodies() || undefined, 'the owner’s mail');

  await sql`delete from mail`.execute(db);
  server.heard.length = 0;
  server.answer = command => (command === 'BODY' ? new Promise<string>(() => {}) : takes(command));
  await twoOfEach(sql`select 1`);
  await until(() => bodies() >= mailLimits.atOnceOfServer || undefined, 'as many as one server is given');
  await send(silent[0]!.id);
  await until(() => other.heard.includes('BODY') || undefined, 'the mail of whoever has a server of its own');
  assert.equal(bodies(), mailLimits.atOnceOfServer);

  // another address is another server
  const next = await scripted();
  t.after(() => next.stop());
  ok(await set(owner, next.port));
  await until(() => next.heard.includes('BODY') || undefined, 'those that wait go there');
});

test('a server that left a mail unanswered and failed since is asked whether it is well', async () => {
  server.answer = command => (command === 'BODY' ? new Promise<string>(() => {}) : takes(command));
  await send();
  await until(() => bodies() || undefined, 'a mail that nobody answers');
  await sql`update "mailServer" set failures = 1, "pausedUntil" = null where port = ${server.port}`.execute(api.database.db);
  server.answer = takes;
  await send();
  await until(() => bodies() > 1 || undefined, 'the next mail');
  await until(async () => (await told()).problem === null || undefined, 'it is well');
});
