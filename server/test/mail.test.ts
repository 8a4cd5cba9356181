/** Mails over a real server: what an operator sets of it, how they wait, and what they look like. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { sendMail, type ToSend } from '#server/kit/mail/send.ts';
import { render } from '#server/kit/mail/render.ts';
import { type MailTemplate, mailTexts } from '#server/kit/mail/texts.ts';
import { languages } from '#contract/kit/text.ts';
import { row, rows } from '#server/store/db.ts';
import { writeSetting } from '#server/system/settings.ts';
import { Mailer } from '#server/work/mailer.ts';
import { broken, is, ok } from './expect.ts';
import { Api, password, type Person } from './harness.ts';
import { htmlOf, type Smtp, startSmtp, textOf, until } from './smtp.ts';

let api: Api;
let smtp: Smtp;
let plain: Smtp;
let owner: Person;
let other: Person;
let mailer: Mailer;
before(async () => {
  [api, smtp, plain] = await Promise.all([Api.start(), startSmtp(), startSmtp({ startTLS: false })]);
  api.services.mail = { ca: smtp.ca };
  owner = await api.account('client', 'owner@test.test');
  other = await api.account('client', 'other@test.test');
  mailer = new Mailer(api.database.url, api.services);
  mailer.start();
});
after(async () => {
  await mailer?.stop();
  await Promise.all([smtp?.stop(), plain?.stop()]);
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

const path = '/client/setting/email';
const own = (more: object = {}) => ({
  host: '127.0.0.1',
  port: smtp.port,
  security: 'starttls',
  username: 'breakwater',
  password: 'smtp secret',
  fromAddress: 'noreply@house.test',
  fromName: '海堤 House',
  ownPassword: password,
  ...more,
});
const put = (body: object, who = owner) => api.call('PUT', path, { token: who.token, body });
const get = async (who = owner) => (await api.call('GET', path, { token: who.token })).body;
const tryIt = (who = owner) => api.call('POST', `${path}/test`, { token: who.token, body: {} });
const send = <T extends MailTemplate>(mail: Partial<ToSend<T>> & Pick<ToSend<T>, 'template' | 'data'>) =>
  sendMail(api.database.db, api.services, {
    operatorID: owner.id,
    rootID: null,
    to: 'someone@else.test',
    language: 'en_US',
    ...mail,
  } as ToSend<T>);
const waiting = () => rows<{ id: number; problem: string | null; attempts: number }>(api.database.db, sql`select * from mail`);

test('nothing is sent, and nothing waits, where no server is set', async () => {
  is(await tryIt(), 'illegalEmailSettings');
  assert.equal(await send({ template: 'test', data: {} }), false);
  assert.deepEqual(await waiting(), []);
  const told = await get();
  assert.deepEqual([told.host, told.passwordIsSet, told.version, told.testedAt, told.byOwner], ['', false, 0, null, false]);
});

test('a server inside the house is refused when it is saved, and again when it is connected to', async () => {
  for (const host of ['169.254.169.254', '::1', '192.168.7.7', '0.0.0.0']) broken(await put(own({ host })), 'host');
  ok(await put(own()));
  // the owner's server sends for others, and for the owner its own is its own
  assert.deepEqual([(await get()).byOwner, (await get(other)).byOwner], [false, true]);
  await writeSetting(api.database.db, null, 'originEnvironment', []);
  is(await tryIt(), 'illegalEmailSettings');
  assert.deepEqual(smtp.mails, []);
  await writeSetting(api.database.db, null, 'originEnvironment', ['127.0.0.0/8']);
});

test('what begins another header or names no address is refused by its field', async () => {
  broken(await put(own({ fromName: 'a\r\nBcc: x@y.test' })), 'fromName', 'wrongFormat');
  broken(await put(own({ username: 'a\nb' })), 'username', 'wrongFormat');
  broken(await put(own({ host: 'mail.test\r\nRCPT' })), 'host', 'wrongFormat');
  broken(await put(own({ fromAddress: 'x@y.test>\r\nRCPT TO:<z@z.test' })), 'fromAddress', 'email');
  broken(await put(own({ fromAddress: '' })), 'fromAddress', 'required');
  broken(await put(own({ port: 0 })), 'port');
});

test('a test goes to whoever asks, encrypted and signed in, and says when it did', async () => {
  ok(await tryIt());
  const mail = await smtp.next(owner.email);
  assert.deepEqual([mail.isSecure, mail.user, mail.from], [true, 'breakwater', 'noreply@house.test']);
  assert.ok((await get()).testedAt);
  // in the language of the asker's browser
  assert.match(textOf(mail), /set up correctly/);
  assert.match(mail.source, /^From: =\?UTF-8\?/m);
});

test('the password is told to nobody, and kept encrypted', async () => {
  const told = await get();
  assert.ok(told.passwordIsSet && !('password' in told));
  const stored = await row<{ password: string }>(api.database.db, sql`select password from "mailServer"`);
  assert.match(stored!.password, /^bw1\./);
  const audit = await rows<{ text: string }>(api.database.db, sql`select body::text || changes::text as text from audit`);
  assert.ok(!audit.some(line => line.text.includes('smtp secret')));
});

test('another server takes the password anew: nobody has it sent to one of their own', async () => {
  for (const more of [{ port: plain.port }, { host: '127.0.0.2' }, { username: 'x' }, { security: 'none' }])
    broken(await put(own({ ...more, password: undefined })), 'password', 'mailPasswordAgain');
  ok(await put(own({ password: undefined, fromName: 'House' })));
  assert.ok((await get()).testedAt, 'another name is no other server');
});

test('what the server says is told, without the password', async () => {
  ok(await put(own({ password: 'another secret' })));
  assert.equal((await get()).testedAt, null);
  const refused = await tryIt();
  is(refused, 'illegalEmailSettings');
  assert.match(refused.body.errorData[0].bounds?.why ?? refused.text, /535/);
  assert.ok(!refused.text.includes('another secret'));
  ok(await put(own()));
  smtp.refuse = { code: 451, text: 'come again later', at: 'data' };
  assert.match((await tryIt()).text, /come again later/);
  smtp.refuse = false;
});

test('a server that offers no encryption is told no password', async () => {
  ok(await put(own({ port: plain.port })));
  is(await tryIt(), 'illegalEmailSettings');
  assert.deepEqual(plain.mails, []);
  ok(await put(own({ port: plain.port, security: 'none' })));
  ok(await tryIt());
  assert.equal((await plain.next(owner.email)).isSecure, false);
  ok(await put(own()));
});

test('a certificate of another name or an unknown authority is refused', async () => {
  api.services.mail = { ca: undefined };
  is(await tryIt(), 'illegalEmailSettings');
  api.services.mail = { ca: smtp.ca };
  ok(await put(own({ host: '127.0.0.2' })));
  is(await tryIt(), 'illegalEmailSettings');
  ok(await put(own()));
});

test('a mail goes out with the change it tells of, and not without', async () => {
  const failed = api.database.writes.transaction().execute(async db => {
    await sendMail(db, api.services, {
      operatorID: owner.id,
      rootID: null,
      to: 'undone@else.test',
      language: 'en_US',
      template: 'test',
      data: {},
    });
    throw new Error('undone');
  });
  await assert.rejects(failed, /undone/);
  assert.ok(await send({ template: 'test', data: {} }));
  await smtp.next('someone@else.test');
  await until(async () => (await waiting()).length === 0 || undefined, 'the queue to be empty');
  assert.ok(!smtp.mails.some(mail => mail.to.includes('undone@else.test')));
});

test('what waits is encrypted, tried again, and arrives once the server is there', async () => {
  await smtp.stop();
  assert.ok(await send({ template: 'loginCode', data: { code: '483920', minutes: 10, ip: '192.0.2.1' } }));
  const stuck = await until(async () => (await waiting()).find(mail => mail.problem !== null), 'a failed try');
  assert.ok(!JSON.stringify(stuck).includes('483920'));
  assert.match((await get()).problem ?? '', /ECONNREFUSED|refused/i);
  assert.equal((await get()).waiting, 1);
  await smtp.begin();
  assert.match(textOf(await smtp.next('someone@else.test')), /483920/);
  await until(async () => (await waiting()).length === 0 || undefined, 'the queue to be empty');
});

test('an address that its server refuses for good is given up; what nobody needs any more is gone', async () => {
  smtp.refuse = { code: 550, text: 'no such user', at: 'rcpt' };
  await send({ template: 'test', data: {} });
  await until(async () => (await waiting()).length === 0 || undefined, 'the mail to be given up');
  smtp.refuse = { code: 451, text: 'later', at: 'rcpt' };
  await send({ template: 'test', data: {}, minutes: 1 });
  await until(async () => (await waiting())[0]?.problem ?? undefined, 'a failed try');
  await sql`update mail set "until" = now() - interval '1 second'`.execute(api.database.db);
  await until(async () => (await waiting()).length === 0 || undefined, 'the mail to be gone');
  smtp.refuse = false;
});

test('two processes send a mail once', async () => {
  const second = new Mailer(api.database.url, api.services);
  second.start();
  const many = Array.from({ length: 30 }, (_, n) => `one-${n}@else.test`);
  for (const to of many) await send({ template: 'test', data: {}, to });
  await until(async () => (await waiting()).length === 0 || undefined, 'the queue to be empty');
  await second.stop();
  assert.deepEqual(
    smtp.mails
      .splice(0)
      .flatMap(mail => mail.to)
      .sort(),
    many.sort(),
  );
});

test('an operator without a server sends through the owner’s; its own takes its place; neither sees the other’s', async () => {
  assert.ok(await send({ template: 'test', data: {}, operatorID: other.id }));
  assert.equal((await smtp.next('someone@else.test')).from, 'noreply@house.test');
  ok(await put(own({ port: plain.port, security: 'none', fromAddress: 'other@house.test' }), other));
  assert.ok(await send({ template: 'test', data: {}, operatorID: other.id }));
  assert.equal((await plain.next('someone@else.test')).from, 'other@house.test');
  assert.equal((await get()).fromAddress, 'noreply@house.test');
  // of the vendor's people
  assert.ok(await send({ template: 'test', data: {}, operatorID: null }));
  assert.equal((await smtp.next('someone@else.test')).from, 'noreply@house.test');
});

test('a server that stands still keeps no other operator’s mails', async () => {
  const { createServer } = await import('node:net');
  const silent = createServer(() => {});
  await new Promise<void>(done => silent.listen(0, '127.0.0.1', done));
  const { port } = silent.address() as { port: number };
  ok(await put(own({ port, security: 'none' }), other));
  for (let n = 0; n < 20; n++) await send({ template: 'test', data: {}, operatorID: other.id, to: `stuck-${n}@else.test` });
  await send({ template: 'test', data: {}, to: 'free@else.test' });
  await smtp.next('free@else.test');
  // that server has not been given up meanwhile
  assert.deepEqual(
    await row(
      api.database.db,
      sql`select count(*)::int as n, count(problem)::int as ended from mail where "clientID" = ${other.id}`,
    ),
    { n: 20, ended: 0 },
  );
  await sql`delete from mail`.execute(api.database.db);
  silent.close();
});

test('a test may be asked for a few times, then waits', async () => {
  let last = await tryIt();
  for (let n = 0; n < 12 && last.status === 200; n++) last = await tryIt();
  assert.equal(last.status, 429, last.text);
});

test('what people wrote is text in a mail, in every language', () => {
  const name = '<img src=x onerror=alert(1)>{link}\r\nBcc: all@test.test';
  for (const language of languages) {
    const { html, text, subject } = render(
      {
        template: 'createPassword',
        language,
        data: { name, link: 'https://console.test/user/verifyMail?token=a&b="c"', hours: 72 },
      },
      'House\r\nX-Evil: 1 <b>',
    );
    assert.ok(!html.includes('<img') && !html.includes('<b>') && html.includes('&lt;img'), html);
    assert.ok(html.includes('token=a&amp;b=%22c%22'));
    assert.ok(!/[\r\n]/.test(subject));
    // a name that names another value stays as it is
    assert.ok(text.includes('{link}'));
  }
  const bad = render(
    { template: 'notice', language: 'en_US', data: { title: 'a\r\nBcc: b', lines: ['x'], link: 'javascript:alert(1)' } },
    'b',
  );
  assert.ok(!bad.html.includes('javascript:') && !bad.text.includes('javascript:'));
  assert.ok(!/[\r\n]/.test(bad.subject));
});

test('each template says all that it is filled with, and nothing that it is not', () => {
  const data = {
    code: '1',
    minutes: 10,
    ip: 'IP',
    name: 'N',
    link: 'https://l.test/',
    hours: 1,
    time: 'T',
    place: '',
    device: 'D',
    by: 'B',
  };
  for (const template of Object.keys(mailTexts) as (keyof typeof mailTexts)[])
    for (const language of languages) {
      const { text, html } = render({ template, language, data } as never, 'House');
      assert.ok(!/\{\w+\}/.test(text) && !/\{\w+\}/.test(html.replace(/style="[^"]*"/g, '')), `${template} ${language}: ${text}`);
    }
});

test('the HTML of a mail that arrived is what was written', async () => {
  await send({ template: 'loginCode', language: 'zh_TW', data: { code: '102030', minutes: 10, ip: '192.0.2.1' } });
  const mail = await smtp.next('someone@else.test');
  assert.match(htmlOf(mail), /<html lang="zh-Hant-TW">[^]*102030/);
  assert.match(textOf(mail), /登入[^]*102030/);
});
