/** What whoever makes and manages accounts may cause: links, mails, room; what ends with a password; and of what its person hears. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { accountLimits, deviceMailsMax, mailLimits } from '#contract/limits.ts';
import { renewPassword } from '#server/by-machine.ts';
import { sendMail } from '#server/kit/mail/send.ts';
import type { Tokens } from '#server/kit/session.ts';
import { row, rows } from '#server/store/db.ts';
import { choiceOf } from '#server/system/notices.ts';
import { Mailer } from '#server/work/mailer.ts';
import { broken, by, is, ok } from './expect.ts';
import { Api, password, type Person, type Tenant } from './harness.ts';
import { type Mailing, startMailing } from './mailing.ts';
import { textOf, until } from './smtp.ts';

let api: Api;
let mailing: Mailing;
let a: Tenant;
let op: ReturnType<typeof by>;
before(async () => {
  api = await Api.start();
  mailing = await startMailing(api);
  // who waits goes on waiting for as long as the tests take
  const begun = Date.now();
  api.sessions.tries.now = () => begun;
  a = await api.tenant('a');
  op = by(api, a.client);
  await mailing.serve(a);
});
after(async () => {
  await mailing?.stop();
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

let serial = 0;
const mailbox = () => `bounds-${++serial}@test.test`;
const customer = () => api.account('user', mailbox(), { parentClient: a.client.id });
const post = (path: string, body: unknown, token?: string) => api.call('POST', path, { body, ...(token ? { token } : {}) });
const linkTo = async (email: string) => /verifyMail\?token=(\w+)/.exec(textOf(await mailing.smtp.next(email, 'verifyMail')))![1]!;
const roleOf = (who: Person) => by(api, who).make('/user/role', { name: `r${++serial}`, permissionKeys: ['sites.view'] });
const sub = (role: number, more: object = {}) => ({ email: mailbox(), name: 'x', auth: 'user', role, ...more });

test('a password link ends with the next password, whoever sets it, and so does a sign-in that waits', async () => {
  const ways: ((person: Person) => Promise<unknown>)[] = [
    async person => ok(await op.put('/client/account/password', { id: person.id, password: 'set by the operator' })),
    async person => ok(await by(api, person).patch('/user/password', { oldPassword: password, password: 'chosen anew 1' })),
    person => renewPassword({ database: api.database, sealing: api.services.sealing }, { email: person.email, area: 'user' }),
  ];
  for (const way of ways) {
    const person = await customer();
    ok(await op.post('/client/account/resendEmail', { id: person.id }));
    const token = await linkTo(person.email);
    assert.equal((await post('/token/check', { token })).body.valid, true);
    await sql`insert into login (hash, "accountID", code, kind, type, "expiredAt") values
      (decode(md5(random()::text), 'hex'), ${person.id}, 'x', 'login', 1, now() + interval '5 minutes')`.execute(api.database.db);
    await way(person);
    assert.equal((await post('/token/check', { token })).body.problem, 'replaced');
    is(await post('/register/password', { token, password: 'of a stranger 1' }), 'invalidToken');
    assert.deepEqual(await rows(api.database.db, sql`select 1 from login where "accountID" = ${person.id}`), []);
  }
});

test('a new password is mailed of: by whom it was set, or from where its person changed it', async () => {
  const person = await customer();
  ok(await op.put('/client/account/password', { id: person.id, password: 'set by the operator' }));
  assert.match(textOf(await mailing.smtp.next(person.email)), new RegExp(`${a.client.email} 為您的帳號設定了新密碼`));
  const other = await customer();
  const own = { oldPassword: password, password: 'chosen anew 1' };
  ok(
    await api.call('PATCH', '/user/password', {
      token: other.token,
      body: own,
      headers: { 'x-forwarded-for': '198.51.100.4' },
    }),
  );
  assert.match(textOf(await mailing.smtp.next(other.email)), /從 198\.51\.100\.4 變更了密碼/);
});

test('one customer has so many links mailed, to one mailbox and in all, then waits; another does not', async () => {
  const [one, two] = [await customer(), await customer()];
  const its = by(api, one);
  const role = await roleOf(one);
  const email = mailbox();
  for (let i = 0; i < accountLimits.linksFreeOfMailbox; i++) {
    const made = ok(await its.post('/user/account', sub(role, { email }))).body;
    assert.equal(made.isMailed, true);
    ok(await its.del('/user/account', { ids: made.ids }));
  }
  const refused = await its.post('/user/account', sub(role, { email: email.toUpperCase() }));
  broken(refused, 'email', 'tooManyTries', 429);
  assert.ok(Number(refused.headers['retry-after']) > 0);
  const made = ok(await its.post('/user/account', sub(role))).body.ids[0];
  const used = accountLimits.linksFreeOfMailbox + 1;
  for (let i = used; i < accountLimits.linksFreeOfRoot; i++)
    api.sessions.tries.count([{ kind: 'account', key: `links of ${one.id}`, free: accountLimits.linksFreeOfRoot }]);
  broken(await its.post('/user/account', sub(role)), 'email', 'tooManyTries', 429);
  broken(await its.post('/user/account/resendEmail', { id: made }), 'id', 'tooManyTries', 429);
  // what is not mailed is made all the same
  ok(await its.post('/user/account', sub(role, { password: 'a first password' })));
  assert.equal(ok(await by(api, two).post('/user/account', sub(await roleOf(two)))).body.isMailed, true);
});

test('what is not mailed counts no link, and what is made again counts once; who waits gets on', async () => {
  const one = await customer();
  const { db } = api.database;
  const { tries } = api.sessions;
  const role = await roleOf(one);
  const make = () => by(api, one).post('/user/account', sub(role));
  const links = {
    kind: 'account',
    key: `links of ${one.id}`,
    free: accountLimits.linksFreeOfRoot,
    halvesMs: accountLimits.linksHalveMinutes * 60_000,
  } as const;
  for (let i = 1; i < links.free; i++) tries.count([links]);
  await sql`insert into mail ("clientID", message, until, "nextAt", "rootID")
    select ${a.client.id}, 'x', now() + interval '1 day', now() + interval '1 hour', ${one.id}::bigint
    from generate_series(1, ${mailLimits.waitingOfOneMax}::int)`.execute(db);
  let last = 0;
  for (let i = 0; i < 2; i++) {
    const made = ok(await make()).body;
    assert.equal(made.isMailed, false);
    last = made.ids[0];
  }
  is(await by(api, one).post('/user/account/resendEmail', { id: last }), 'illegalEmailSettings');
  await sql`delete from mail where "rootID" = ${one.id}`.execute(db);
  // PostgreSQL undoes it twice, before the account is there and after its link is
  const asks = { kind: 'account', key: `asks ${one.id}`, free: accountLimits.takenFreeOfRoot } as const;
  for (let i = 1; i < asks.free; i++) tries.count([asks]);
  await sql`create sequence tangles`.execute(db);
  await sql`create function tangle() returns trigger language plpgsql as
    $$ begin if nextval('tangles') in (1, 3) then raise exception using errcode = '40P01'; end if; return new; end $$`.execute(
    db,
  );
  for (const name of ['account', 'mailLink'])
    await sql`create trigger tangle after insert on ${sql.table(name)} for each row execute function tangle()`.execute(db);
  try {
    assert.equal(ok(await make()).body.isMailed, true);
  } finally {
    await sql`drop function tangle cascade`.execute(db);
    await sql`drop sequence tangles`.execute(db);
  }
  broken(await make(), 'email', 'tooManyTries', 429);
  // as long as it is told to wait, and then it may again and again
  const { now } = tries;
  try {
    for (let i = 0; i < 20; i++) {
      const seconds = tries.waits([links])?.seconds ?? 0;
      assert.ok(seconds <= 60, String(seconds));
      const before = tries.now();
      tries.now = () => before + seconds * 1000;
      assert.equal(ok(await make()).body.isMailed, true);
    }
  } finally {
    tries.now = now;
  }
});

test('links that wait keep no code, and no other customer’s, from having room; codes go before them', async () => {
  const [one, two] = [await customer(), await customer()];
  const { db } = api.database;
  const fill = (rootID: number | null, n: number) =>
    sql`insert into mail ("clientID", message, until, "nextAt", "rootID")
      select ${a.client.id}, 'x', now() + interval '1 day', now() + interval '1 hour', ${rootID}::bigint from generate_series(1, ${n}::int)`.execute(
      db,
    );
  await fill(one.id, mailLimits.waitingOfOneMax);
  const isMailed = async (who: Person) => ok(await by(api, who).post('/user/account', sub(await roleOf(who)))).body.isMailed;
  assert.equal(await isMailed(one), false);
  assert.equal(await isMailed(two), true);
  await fill(null, mailLimits.waitingMax);
  assert.equal(await isMailed(two), false);
  await sql`update account set "twoFactor" = 0 where id = ${two.id}`.execute(db);
  ok(await post('/user/verify', { email: two.email, password }));
  await mailing.smtp.next(two.email, '輸入驗證碼');
  await sql`delete from mail`.execute(db);
  // one place alone, for which three links came first
  await mailing.stop();
  mailing = await startMailing(api, false);
  await sql`update "mailServer" set port = ${mailing.smtp.port}, failures = 1, "pausedUntil" = null`.execute(db);
  const link = { operatorID: a.client.id, rootID: null, language: 'en_US', template: 'test', data: {} } as const;
  for (let i = 0; i < 3; i++) await sendMail(db, api.services, { ...link, to: `link-${i}@test.test` });
  await sendMail(db, api.services, { ...link, to: 'code@test.test', isUrgent: true });
  for (let i = 0; i < 20; i++)
    await sendMail(db, api.services, { ...link, to: `code-${i}@test.test`, isUrgent: true, rootID: one.id });
  await sendMail(db, api.services, { ...link, to: 'code-of-two@test.test', isUrgent: true, rootID: two.id });
  const mailer = new Mailer(api.database.url, api.services);
  mailer.start();
  try {
    await until(() => mailing.smtp.mails.length >= 25 || undefined, 'all mails');
  } finally {
    await mailer.stop();
  }
  assert.deepEqual(mailing.smtp.mails[0]!.to, ['code@test.test']);
  const place = mailing.smtp.mails.findIndex(({ to }) => to.includes('code-of-two@test.test'));
  assert.ok(place > 0 && place < 12, `codes of one customer do not stand before another’s: ${place}`);
  mailing.smtp.mails.length = 0;
  await mailing.stop();
  mailing = await startMailing(api);
  await mailing.serve(a);
});

test('mails about passwords of one customer take no more room than its links', async () => {
  const [one, two] = [await customer(), await customer()];
  const { db } = api.database;
  await sql`insert into mail ("clientID", message, until, "nextAt", "rootID")
    select ${a.client.id}, 'x', now() + interval '1 day', now() + interval '1 hour', ${one.id}::bigint
    from generate_series(1, ${mailLimits.waitingOfOneMax}::int)`.execute(db);
  try {
    const role = await roleOf(one);
    const body = sub(role, { password: 'a first password' });
    const below = await by(api, one).make('/user/account', body);
    ok(await by(api, one).put('/user/account/password', { id: below, password: 'set by its root' }));
    ok(await op.put('/client/account/password', { id: two.id, password: 'set by the operator' }));
    await mailing.smtp.next(two.email);
    const isSent = async () => {
      const { n } = (await row<{ n: number }>(db, sql`select count(*)::int as n from mail`))!;
      return n === mailLimits.waitingOfOneMax || undefined;
    };
    await until(isSent, 'all that may go');
    assert.ok(!mailing.smtp.mails.some(({ to }) => to.includes(body.email)));
  } finally {
    await sql`delete from mail where "rootID" = ${one.id}`.execute(db);
  }
});

test('a root account has so many sub-accounts', async () => {
  const one = await customer();
  const role = await roleOf(one);
  await sql`insert into account (email, name, auth, "isRoot", grade, "rootID", "parentID", "parentClient")
    select 'many-' || n || '@test.test', 'x', 'user', false, 1, ${one.id}, ${one.id}, ${a.client.id}
    from generate_series(1, ${accountLimits.subsOfRootMax - 1}::int) n`.execute(api.database.db);
  const last = await by(api, one).make('/user/account', sub(role, { password: 'a first password' }));
  broken(await by(api, one).post('/user/account', sub(role)), 'email', 'tooManyAccounts');
  ok(await by(api, one).del('/user/account', { ids: [last] }));
  ok(await by(api, one).post('/user/account', sub(role)));
});

test('whoever asks after e-mails that are taken waits, with a password and without; who makes accounts does not', async () => {
  const [one, two] = [await customer(), await customer()];
  const role = await roleOf(one);
  const taken = { email: a.user.email };
  for (let i = 0; i < accountLimits.takenFreeOfRoot; i++)
    is(await by(api, one).post('/user/account', sub(role, { ...taken, ...(i % 2 ? { password } : {}) })), 'duplicateEmail');
  for (const more of [taken, { ...taken, password }, {}])
    broken(await by(api, one).post('/user/account', sub(role, more)), 'email', 'tooManyTries', 429);
  const free = await roleOf(two);
  for (let i = 0; i < accountLimits.takenFreeOfRoot + 1; i++)
    ok(await by(api, two).post('/user/account', sub(free, { expired: '2030-01-01T00:00:00Z' })));
});

test('an API token has no link mailed to an account of its own tree; a person does', async () => {
  const one = await customer();
  const role = await roleOf(one);
  const keys = ['sites.view', 'accounts.view', 'accounts.edit'];
  const { token } = ok(await by(api, one).post('/user/apiToken', { name: 't', permissionKeys: keys })).body;
  const body = sub(role);
  const made = ok(await post('/user/account', body, token)).body;
  assert.equal(made.isMailed, false);
  assert.deepEqual(await rows(api.database.db, sql`select 1 from "mailLink" where "accountID" = ${made.ids[0]}`), []);
  assert.equal((await post('/user/account/resendEmail', { id: made.ids[0] }, token)).status, 403);
  ok(await by(api, one).post('/user/account/resendEmail', { id: made.ids[0] }));
  await linkTo(body.email);
  // a customer is another tree: what sells makes it by a program
  const sells = ok(await op.post('/client/apiToken', { name: 's', permissionKeys: ['accounts.view', 'accounts.edit'] })).body;
  const sold = { email: mailbox(), name: 'x', auth: 'user' };
  const its = await post('/client/account', sold, sells.token);
  assert.equal(its.status === 200 && its.body.isMailed, true, its.text);
});

test('a refresh token that comes again is told: a line with its reason and address, the inbox, a mail', async () => {
  const ip = '203.0.113.77';
  const refresh = ({ accessToken, refreshToken }: Pick<Tokens, 'accessToken' | 'refreshToken'>) =>
    api.call('PATCH', '/user', { body: { accessToken, refreshToken }, headers: { 'x-forwarded-for': ip } });
  const heard = async (who: Person, name: string) => {
    const line = { reason: 'tokenCopied', status: 401, ip, method: 'PATCH', url: '/api/v1/user' };
    const { data } = (await op.post('/client/auditLogs', { method: 'PATCH' })).body as { data: Record<string, unknown>[] };
    const found = data.filter(one => one['reason'] === 'tokenCopied' && one['accountName'] === who.email);
    assert.deepEqual(
      found.map(one => Object.fromEntries(Object.keys(line).map(key => [key, one[key]]))),
      [line],
    );
    const told = await row(
      api.database.db,
      sql`select "rootID", detail from "noticeEvent" where kind = 'tokenCopied' and "accountID" = ${who.id}`,
    );
    assert.deepEqual(told, { rootID: who.id, detail: name ? `${name}, ${ip}` : ip });
    assert.ok(textOf(await mailing.smtp.next(who.email, ip)).includes(name));
  };
  const person = await customer();
  const first = person.tokens;
  ok(await refresh(first));
  await sql`update session set "previousUntil" = now() - interval '1 second' where "accountID" = ${person.id}`.execute(
    api.database.db,
  );
  // a guess tells nothing
  is(await refresh({ ...first, refreshToken: `${first.refreshToken.split('.')[0]}.${'A'.repeat(44)}` }), 'refreshTokenFailed');
  is(await refresh(first), 'refreshTokenFailed');
  is(await refresh(first), 'refreshTokenFailed');
  await heard(person, '');

  const other = await customer();
  const pair = ok(await by(api, other).post('/user/apiToken', { name: 'robot', permissionKeys: ['sites.view'] })).body;
  const old = { accessToken: pair.token, refreshToken: pair.refreshToken };
  ok(await refresh(old));
  await sql`update "apiToken" set "previousUntil" = now() - interval '1 second' where "accountID" = ${other.id}`.execute(
    api.database.db,
  );
  is(await refresh(old), 'refreshTokenFailed');
  await heard(other, 'robot');

  // who is mailed no more finds it in the inbox
  const often = await customer();
  for (let i = 0; i < deviceMailsMax; i++)
    api.sessions.tries.count([{ kind: 'account', key: `copied ${often.id}`, free: deviceMailsMax }]);
  ok(await refresh(often.tokens));
  await sql`update session set "previousUntil" = now() - interval '1 second' where "accountID" = ${often.id}`.execute(
    api.database.db,
  );
  is(await refresh(often.tokens), 'refreshTokenFailed');
  const found = await rows(
    api.database.db,
    sql`select 1 from "noticeEvent" where kind = 'tokenCopied' and "accountID" = ${often.id}`,
  );
  assert.equal(found.length, 1);
  // nobody is offered to silence it, and who has is told
  assert.equal(choiceOf({ tokenCopied: { inbox: false, mail: false } }, 'tokenCopied').inbox, true);
  const { choices } = await by(api, other).read('/user/notices/choices');
  assert.ok(!choices.some(({ kind }: { kind: string }) => kind === 'tokenCopied'));
});

test('a password for an account that is not there counts nowhere', async () => {
  const { size } = api.sessions.tries;
  for (let id = 900_000; id < 900_010; id++)
    assert.equal((await op.put('/client/account/password', { id, password: 'another one' })).status, 404);
  assert.equal(api.sessions.tries.size, size);
});
