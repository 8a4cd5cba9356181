/** Signing in by an operator's identity provider, in a browser: set, linked, signed in by, and a provider that is away. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { type OIDC, startOIDC } from '../../server/test/oidc-provider.ts';
import { password } from '#system/whole.ts';
import { picture, Visitor } from './browser.ts';
import { demo } from './demo.ts';

const stand = demo(['--demo'], async () => ({ BREAKWATER_ORIGIN_ALLOW: '127.0.0.0/8' }));
let oidc: OIDC | undefined;
after(() => oidc?.stop());

/** The provider's own pages: who one is there, and that one agrees. */
async function there(page: Page, login: string): Promise<void> {
  await page.fill('input[name=login]', login);
  await page.fill('input[name=password]', 'any');
  await page.click('button[type=submit]');
  await page.waitForFunction(() => !document.querySelector('input[name=login]'));
  await page.click('button[type=submit]');
}

test('the operator sets a provider; a customer links with it, signs in by it, and is told when it is away', async () => {
  const { origin } = stand.whole;
  oidc = await startOIDC([`${origin}/user/oidc`]);
  const operator = await stand.inside('client', { language: 'zh_TW' });
  await operator.load('/client/systemManagement/systemSetting?tab=oidc');
  const form = operator.page;
  await form.locator('#issuer').fill(oidc.issuer);
  await form.locator('#client').fill(oidc.client);
  await form.locator('#secret').fill(oidc.secret);
  await form.locator('#label').fill('House');
  await form.locator('#enable').click();
  await form.locator('#forCustomers').click();
  await form.locator('#password').fill(password);
  await picture(form, 'oidc-setting');
  await form.locator('.panel.setting .ant-btn-primary').first().click();
  await form.getByText(`${origin}/user/oidc`).waitFor();
  await form.getByRole('button', { name: '測試', exact: true }).click();
  await operator.message('提供者已回應');
  await picture(form, 'oidc-setting-saved');
  assert.deepEqual(operator.takeProblems(), []);
  await operator.close();

  const customer = await stand.inside('user', { language: 'en_US', theme: 'dark', width: 390 });
  const { page } = customer;
  await customer.load('/user/userManagement/userInformation');
  await page.getByRole('button', { name: 'Link House' }).click();
  await page.waitForFunction(() => document.activeElement?.id === 'own-password');
  await picture(page, 'oidc-link');
  // the focus goes back to whence it came
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => document.activeElement?.textContent === 'Link House');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.activeElement?.id === 'own-password');
  await page.keyboard.type(password);
  await page.keyboard.press('Enter');
  await there(page, 'ann@house.test');
  await customer.message('The identity was linked');
  await page.getByText('ann@house.test').first().waitFor();
  assert.equal(new URL(page.url()).search, '');
  await picture(page, 'oidc-linked');

  // somebody else's browser
  const visitor = await Visitor.open(stand.browser, origin, { language: 'zh_CN' });
  // the page that was wanted is there after the way round by the provider
  await visitor.go('/user/userManagement/logOperation');
  await visitor.page.getByRole('button', { name: '使用 House 登录' }).click();
  await picture(visitor.page, 'oidc-login');
  await there(visitor.page, 'ann@house.test');
  await visitor.page.waitForURL('**/user/userManagement/logOperation');
  await visitor.close();

  const stranger = await Visitor.open(stand.browser, origin, { language: 'en_US' });
  await stranger.go('/user');
  await stranger.page.getByRole('button', { name: 'Sign in with House' }).click();
  await there(stranger.page, 'bob@house.test');
  await stranger.message('No account is linked with this identity');
  await picture(stranger.page, 'oidc-unlinked');
  // without having gone from here
  await stranger.go('/user/oidc?code=x&state=y');
  await stranger.message('The sign-in was not finished');
  await stranger.page.waitForURL('**/user');
  await stranger.close();
  await customer.close();
});
