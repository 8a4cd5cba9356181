/** Passkeys in a browser with an authenticator of Chromium's own: added, signed in by and removed, by keyboard, in each language. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TOTP } from 'otpauth';
import type { CDPSession } from 'playwright-core';
import { password } from '#system/whole.ts';
import { type Area, type Look, picture, Visitor } from './browser.ts';
import { demo } from './demo.ts';
import { focusedIs, press, typeInto } from './keys.ts';

const stand = demo();

const words = {
  en_US: {
    add: 'Add passkey',
    remove: 'Remove',
    enter: 'Sign in with a passkey',
    added: 'The passkey was added',
    none: 'No passkey was used',
    gone: 'The passkey was removed',
    refused: 'Credential',
  },
  zh_TW: {
    add: '新增通行金鑰',
    remove: '移除',
    enter: '使用通行金鑰登入',
    added: '通行金鑰已新增',
    none: '沒有使用通行金鑰',
    gone: '通行金鑰已移除',
    refused: '登入資訊不正確',
  },
  zh_CN: {
    add: '添加通行密钥',
    remove: '移除',
    enter: '使用通行密钥登录',
    added: '通行密钥已添加',
    none: '没有使用通行密钥',
    gone: '通行密钥已移除',
    refused: '登录信息不正确',
  },
} as const;

/** A passkey is bound to a name: this machine's is localhost. */
const named = () => stand.whole.origin.replace('127.0.0.1', 'localhost');

async function inside(area: Area, look: Look): Promise<{ visitor: Visitor; cdp: CDPSession; authenticatorId: string }> {
  const visitor = await Visitor.open(stand.browser, named(), look);
  await visitor.enter(area, await stand.whole.credentials(area));
  const cdp = await visitor.context.newCDPSession(visitor.page);
  await cdp.send('WebAuthn.enable');
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return { visitor, cdp, authenticatorId };
}
for (const [area, look] of [
  ['client', { language: 'zh_TW' }],
  ['user', { language: 'zh_CN', theme: 'dark', width: 390, height: 844 }],
  ['admin', { language: 'en_US', theme: 'dark' }],
] as const)
  test(`${area}: by keyboard one is added, signs in, signs in nowhere else, and is removed`, async () => {
    const say = words[look.language];
    const { visitor, cdp, authenticatorId } = await inside(area, look);
    const { page } = visitor;
    const held = async () => (await cdp.send('WebAuthn.getCredentials', { authenticatorId })).credentials;
    const type = async () => {
      await page.locator('#passkey-password').waitFor();
      await page.keyboard.type(password);
      await picture(page, `passkeys-form-${area}-${look.language}`);
      await page.keyboard.press('Enter');
    };

    await visitor.load(`/${area}/userManagement/userInformation`);
    await press(page, 'button', say.add);
    await page.locator('#passkey-password').waitFor();
    await page.waitForFunction(() => document.activeElement?.id === 'passkey-password');
    await type();
    await visitor.message(say.added);
    const [made, ...others] = await held();
    assert.deepEqual([made!.rpId, made!.isResidentCredential, others.length], ['localhost', true, 0]);
    await page.getByText('localhost').first().waitFor();
    await focusedIs(page, page.getByRole('button', { name: say.add }));
    await picture(page, `passkeys-${area}-${look.language}`);

    // the same authenticator holds no second one
    await press(page, 'button', say.add);
    await page.waitForFunction(() => document.activeElement?.id === 'passkey-password');
    await type();
    await page.locator('.notice').first().waitFor();
    assert.equal((await held()).length, 1);
    await page.keyboard.press('Escape');
    await focusedIs(page, page.getByRole('button', { name: say.add }));

    // nobody touches it: the browser offers it in the e-mail's field, and waits
    const touch = (enabled: boolean) => cdp.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled });
    const byButton = async (of: Area) => {
      await touch(false);
      await visitor.go(`/${of}`);
      await press(page, 'button', say.enter);
      await touch(true);
    };
    await visitor.context.clearCookies();
    await touch(false);
    await visitor.go(`/${area}`);
    await picture(page, `passkeys-login-${area}-${look.language}`);
    await press(page, 'button', say.enter);
    await touch(true);
    await page.waitForURL(`**/${area}/dashboard`);
    assert.ok((await held())[0]!.signCount > made!.signCount);

    // as the browser offers it, without a button
    await visitor.context.clearCookies();
    await page.goto(`${named()}/${area}`);
    await page.waitForURL(`**/${area}/dashboard`);

    // another area knows nothing of it
    const other = area === 'user' ? 'client' : 'user';
    await byButton(other);
    await visitor.message(say.refused);
    assert.match(page.url(), new RegExp(`/${other}$`));

    // nobody is seen: nothing is sent
    await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
    await byButton(other);
    await visitor.message(say.none);
    await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true });

    await visitor.load(`/${area}/userManagement/userInformation`);
    await press(page, 'button', say.remove, `section:has(h2):has-text("localhost")`);
    await page.waitForFunction(() => document.activeElement?.id === 'passkey-password');
    await page.keyboard.type(password);
    await picture(page, `passkeys-remove-${area}-${look.language}`);
    await page.keyboard.press('Enter');
    await visitor.message(say.gone);
    // its row is gone, and the button that removed it: what is left is the button that adds one
    await focusedIs(page, page.getByRole('button', { name: say.add }));
    await visitor.context.clearCookies();
    await byButton(area);
    await visitor.message(say.refused);
    await visitor.close();
  });

test('at an address, where there can be none, the sign-in offers none and one’s own page says why', async () => {
  const visitor = await stand.inside('client', { language: 'en_US' });
  await visitor.load('/client/userManagement/userInformation');
  await visitor.page.getByText('No passkey can be used at this address').waitFor();
  assert.equal(await visitor.page.getByRole('button', { name: 'Add passkey' }).count(), 0);
  await visitor.context.clearCookies();
  await visitor.go('/client');
  assert.equal(await visitor.page.getByRole('button', { name: 'passkey' }).count(), 0);
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});

test('an authenticator is set on the same page, by a code of it, and the session stays', async () => {
  const visitor = await stand.inside('user', { language: 'en_US' });
  const { page } = visitor;
  await visitor.load('/user/userManagement/userInformation');
  await press(page, 'button', /^Change$/);
  await typeInto(page, '#factor-password', password);
  await page.keyboard.press('Enter');
  const secret = await page.locator('.ant-drawer-body code').textContent();
  await typeInto(page, '#factor-code', '000000');
  await page.keyboard.press('Enter');
  await page.locator('.ant-form-item-explain-error').waitFor();
  await typeInto(page, '#factor-code', new TOTP({ secret: secret! }).generate());
  await page.keyboard.press('Enter');
  await page.getByText('each of these signs you in once').waitFor();
  await visitor.close();
});
