/** Every way to sign in, in each language, by the keyboard alone, on a telephone's width. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { TOTP } from 'otpauth';
import { contextual, errors } from '#contract/errors.ts';
import { session as limits } from '#contract/limits.ts';
import type { Language } from '#contract/kit/text.ts';
import { reasonText } from '#contract/states.ts';
import { type OIDC, startOIDC } from '../../server/test/oidc-provider.ts';
import { type Received, type Smtp, startSmtp, textOf, until } from '../../server/test/smtp.ts';
import { password } from '#system/whole.ts';
import { picture, Visitor } from './browser.ts';
import { demo } from './demo.ts';
import { serious } from './serious.ts';
import { textsOf, Typist } from './typist.ts';

const stand = demo(['--demo'], async () => ({ BREAKWATER_ORIGIN_ALLOW: '127.0.0.0/8' }));
let oidc: OIDC | undefined;
let smtp: Smtp | undefined;
let token = '';
/** A passkey is bound to a name: this machine's is localhost. */
const origin = () => stand.whole.origin.replace('127.0.0.1', 'localhost');

async function done(method: string, path: string, body: unknown): Promise<unknown> {
  const answer = await stand.whole.call(method, `/client${path}`, token, body);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body;
}
/** Once, whichever test comes first: the operator has a provider and a mail server. */
async function begin(): Promise<void> {
  if (token) return;
  [oidc, smtp, token] = await Promise.all([
    startOIDC([`${origin()}/user/oidc`]),
    startSmtp({ startTLS: false }),
    stand.whole.signIn('client'),
  ]);
  const { issuer, client, secret } = oidc;
  const whom = { label: 'House', enable: true, forOperator: false, forCustomers: true, byEmail: true };
  await done('PUT', '/setting/system/oidc', { issuer, client, secret, ...whom, password });
  const server = { host: '127.0.0.1', port: smtp.port, security: 'none', username: '' };
  await done('PUT', '/setting/email', { ...server, fromAddress: 'noreply@house.test', fromName: 'House', ownPassword: password });
  // it is asked for by a setting below, which wants to know that it takes mails
  await done('POST', '/setting/email/test', {});
}
after(async () => {
  await oidc?.stop();
  await smtp?.stop();
});

async function customer(email: string, language: Language, more: object = {}): Promise<number> {
  const made = await done('POST', '/account', { email, name: 'Ann', auth: 'user', language, ...more });
  return (made as { ids: [number] }).ids[0];
}
/** The next mail to somebody that holds this. */
const mailed = <T extends string>(to: string, holds: RegExp): Promise<T> =>
  until(() => {
    const fits = (mail: Received) => mail.to.includes(to) && holds.test(textOf(mail));
    const at = smtp!.mails.findIndex(fits);
    return at < 0 ? undefined : (holds.exec(textOf(smtp!.mails.splice(at, 1)[0]!))![1] as T);
  }, `a mail to ${to} (${holds})`);
const codeFor = (to: string) => mailed(to, /(?<!\d)(\d{6})(?!\d)/);
const another = (code: string) => (code === '000000' ? '000001' : '000000');
const asked = (enabled: boolean) => done('PUT', '/setting/system/accountVerify', { enabled });

/** An authenticator of Chromium's own; `touch`: its person is there. */
async function device({ visitor: { context, page } }: Typist): Promise<{ touch(enabled: boolean): Promise<unknown> }> {
  const cdp = await context.newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  const own = { protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true } as const;
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', { options: { ...own, isUserVerified: true } });
  return { touch: enabled => cdp.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled }) };
}

for (const language of ['zh_TW', 'zh_CN', 'en_US'] as const)
  test(`${language}: by keyboard, by password, passkey, provider, mailed link, code of a mail, of an app, and recovery code`, async () => {
    await begin();
    await asked(false);
    const texts = await textsOf(language);
    const visitor = await Visitor.open(stand.browser, origin(), {
      language,
      width: 390,
      height: 844,
      theme: language === 'zh_CN' ? 'dark' : 'light',
    });
    const ann = new Typist(visitor, language, texts);
    const { page } = visitor;
    const email = `ann.${language.toLowerCase()}@house.test`;
    const id = await customer(email, language);

    // the link of a mail: a password is set
    const link = () => mailed(email, /(\/user\/verifyMail\?token=\S+)/);
    await visitor.go(await link());
    await ann.at('createPassword.title', ['password.new', 'password.repeat', 'createPassword.submit', 'verify.back']);
    // what it must be is said before anything is typed, and what is so by now while it is
    const rule = page.locator('.field-rules li', {
      hasText: ann.say('password.least', { min: String(limits.passwordLengthMin) }),
    });
    await rule.and(page.locator(':not(.is-met)')).waitFor();
    await ann.type('password', 'long enough');
    await rule.and(page.locator('.is-met')).waitFor();
    // eight as people count them: each of these is two to a program
    await ann.type('password', '🔐🔐🔐🔐');
    await rule.and(page.locator(':not(.is-met)')).waitFor();
    await ann.type('password', 'short');
    await ann.enter();
    await ann.wrong('password', ann.say('password.least', { min: String(limits.passwordLengthMin) }));
    await picture(page, `sign-in-link-${language}`);
    await ann.type('password', 'the first one of all');
    await ann.press(ann.say('login.showPassword'), { key: 'Space' });
    await page.keyboard.press('Tab');
    await ann.type('again', 'another');
    await ann.enter();
    await ann.wrong('again', ann.say('password.mismatch'));
    await ann.type('again', 'the first one of all');
    await ann.enter();
    await visitor.message(ann.say('message.createPasswordSuccess'));
    await ann.at('login.title', []);
    assert.deepEqual(visitor.takeProblems(), []);

    // forgotten: whoever manages the account mails another link; the one before is none any more
    await done('POST', '/account/resendEmail', { id });
    const first = await link();
    await done('POST', '/account/resendEmail', { id });
    await visitor.go(first);
    await visitor.message(ann.say('message.mailLinkInvalid'));
    await ann.in('email');
    await visitor.go(await link());
    await ann.at('createPassword.title', []);
    await ann.type('password', password);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await ann.type('again', password);
    await ann.press(ann.say('createPassword.submit'), { key: 'Space' });
    await visitor.message(ann.say('message.createPasswordSuccess'));

    // the password
    await ann.login();
    await ann.in('email');
    await ann.enter();
    await ann.wrong('email', ann.say('login.required'));
    await ann.type('email', 'nobody');
    await ann.enter();
    await ann.wrong('email', ann.say('login.wrongFormat'));
    await ann.credentials(email, 'not the password');
    await ann.refused(errors.credentialFailed.text[language], 'password');
    await picture(page, `sign-in-refused-${language}`);
    assert.deepEqual(await serious(visitor), []);
    // by the button: the focus is not lost there either
    await ann.type('password', 'not that one');
    await ann.press(ann.say('login.submit'), { key: 'Space' });
    await ann.refused(errors.credentialFailed.text[language], 'password');
    await ann.type('password', password);
    await ann.enter();
    await ann.inside();

    // a passkey, added by whoever is inside
    const key = await device(ann);
    await key.touch(true);
    await visitor.load('/user/userManagement/userInformation');
    await ann.press(ann.say('passkeys.add'));
    await ann.type('passkey-password', password);
    await ann.enter();
    await visitor.message(ann.say('passkeys.added'));
    await key.touch(false);
    await ann.login();
    await ann.press(ann.say('login.passkey'));
    await key.touch(true);
    await ann.inside();
    await key.touch(false);

    // the provider
    await ann.login();
    await ann.press(ann.say('login.provider', { label: 'House' }));
    await ann.there(`stranger.${language}@house.test`);
    await visitor.message(ann.say('oidc.unlinked'));
    await ann.in('email');
    visitor.takeProblems();
    await ann.login();
    await ann.press(ann.say('login.provider', { label: 'House' }));
    await ann.there(email);
    await page.waitForURL('**/user/dashboard');
    // the provider's own pages ask for fonts elsewhere
    visitor.takeProblems();
    await ann.inside();

    // the operator asks everybody for a second factor: a code by mail
    await asked(true);
    await ann.login();
    await ann.credentials(email);
    await ann.at('verify.title', ['verify.code', 'verify.submit', 'verify.again', 'verify.back']);
    const code = await codeFor(email);
    await ann.type('vcode', '12');
    await ann.enter();
    await ann.wrong('vcode', ann.say('verify.digits'));
    await ann.type('vcode', another(code));
    await ann.enter();
    await ann.refused(contextual.invalidToken[language], 'vcode');
    await picture(page, `sign-in-code-${language}`);
    await ann.press(ann.say('verify.again'));
    await visitor.message(ann.say('message.checkMail'));
    const next = await codeFor(email);
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Shift+Tab');
    // as it is pasted out of a mail
    await ann.type('vcode', ` ${next.slice(0, 3)} ${next.slice(3)}`);
    await ann.enter();
    await ann.inside();

    // and an app is set in its place
    await visitor.load('/user/userManagement/userInformation');
    await ann.press(ann.say('factor.change'));
    await ann.type('factor-password', password);
    await ann.enter();
    await ann.in('factor-code');
    const app = new TOTP({ secret: (await page.locator('.ant-drawer-body code').textContent())! });
    await ann.fits();
    await picture(page, `sign-in-app-${language}`);
    await ann.type('factor-code', another(app.generate()));
    await page.keyboard.press('Tab');
    // what is asked for now vouches for what is to be
    await ann.type('factor-present', await codeFor(email));
    await ann.enter();
    await page.locator('.ant-form-item-explain-error').waitFor();
    await ann.type('factor-code', app.generate());
    await ann.enter();
    await visitor.message(ann.say('factor.isOn'));
    const codes = (await page.locator('.secret-value code').innerText()).split('\n');
    await ann.fits();
    await picture(page, `sign-in-recovery-${language}`);
    await ann.press(ann.say('secret.kept'), { key: 'Space', role: 'checkbox' });
    await ann.press(ann.say('action.close'), { within: '.secret' });
    await page.locator('.ant-drawer').waitFor({ state: 'detached' });
    visitor.takeProblems();

    // a code of the app: that of a minute that is to come, for this one's was used
    await ann.login();
    await ann.credentials(email);
    await ann.at('verify.title', ['verify.google', 'verify.code']);
    assert.equal(await page.getByRole('button', { name: ann.say('verify.again') }).count(), 0);
    await ann.type('vcode', 'abc');
    await ann.enter();
    await ann.wrong('vcode', ann.say('verify.google'));
    await ann.type('vcode', another(app.generate()));
    await ann.enter();
    await ann.refused(contextual.invalidToken[language], 'vcode');
    await ann.type('vcode', app.generate({ timestamp: Date.now() + 30_000 }));
    await ann.enter();
    await ann.inside();

    // the app is lost: a code that was written down, once
    for (const isFirst of [true, false]) {
      await ann.login();
      await ann.credentials(email);
      await ann.at('verify.title', ['verify.google']);
      await ann.type('vcode', codes[0]!);
      await ann.enter();
      if (isFirst) await ann.inside();
      else await ann.refused(contextual.invalidToken[language], 'vcode');
    }
    await asked(false);

    // a sign-in on hold serves so many tries: after that the right code is none, and one begins anew
    const spent = `bob.${language.toLowerCase()}@house.test`;
    const bob = await customer(spent, language, { password });
    await asked(true);
    await ann.login();
    await ann.credentials(spent);
    await ann.at('verify.title', []);
    const late = await codeFor(spent);
    for (let n = 0; n < limits.codeTriesMax; n++) {
      await ann.type('vcode', another(late));
      await ann.enter();
      await visitor.message(contextual.invalidToken[language]);
    }
    await ann.type('vcode', late);
    await ann.enter();
    await ann.refused(contextual.tokenExpired[language], 'vcode');
    await ann.press(ann.say('verify.back'));
    await ann.at('login.title', []);
    await ann.in('email');
    await asked(false);

    // a paused account is told so
    await done('PUT', '/account', { id: bob, status: 'pause' });
    await ann.credentials(spent);
    await ann.refused(reasonText('accountPaused', language), 'password');
    await visitor.close();
  });
