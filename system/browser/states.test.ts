/** What a page says when it has nothing to show: no permission, gone, no session, no server. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { password } from '#system/whole.ts';
import { picture, Visitor } from './browser.ts';
import { demo, fresh } from './demo.ts';

const stand = demo(['--demo'], fresh);

/** Signs in as an account of the operator that may do this and nothing else. */
async function subAccount(name: string, permissionKeys: string[], language?: 'zh_CN'): Promise<Visitor> {
  const token = await stand.whole.signIn('client');
  const made = async (path: string, body: object) => {
    const answer = await stand.whole.call('POST', path, token, body);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body as { id?: number; ids?: number[] };
  };
  const role = await made('/client/role', { name, permissionKeys });
  const email = `${name.toLowerCase()}@breakwater.test`;
  const account = await made('/client/account', { email, name, auth: 'client', role: role.id ?? role.ids?.[0], language });
  const id = account.id ?? account.ids![0]!;
  assert.equal((await stand.whole.call('PUT', '/client/account/password', token, { id, password })).status, 200);
  const visitor = await Visitor.open(stand.browser, stand.whole.origin, language && { language: null });
  await visitor.signIn('client', email, password);
  return visitor;
}

test('a sub-account with one permission sees what it may, and is told of the rest', async () => {
  const visitor = await subAccount('zonesOnly', ['zones.view']);
  const { page } = visitor;
  await page.locator('.page-head').waitFor();
  await visitor.settled();
  await picture(page, 'sub-account-dashboard');
  assert.equal(await page.locator('.skeleton-cell, .chart-skeleton').count(), 0, 'nothing waits for what never comes');
  assert.deepEqual(await page.locator('.menu-entry').allInnerTexts(), [
    'Dashboard',
    'Zones',
    'Accounts',
    'My account',
    'API documentation',
  ]);
  for (const path of [
    'nodeManage/sitesList',
    'nodeManage/nodesList',
    'dataAnalysis/logger',
    'userManagement/users',
    'nodeManage/sitesSetting/1/demo',
  ]) {
    await visitor.go(`/client/${path}`);
    await page.locator('.empty-title', { hasText: 'No permission' }).waitFor();
  }
  await visitor.go('/client/nodeManage/zonesList');
  await page.locator('.empty-title', { hasText: 'Nothing here yet' }).waitFor();
  assert.equal(await page.locator('.ant-btn-primary', { hasText: 'Create' }).count(), 0, 'what may not be done is not offered');
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});

test('a page with two parts opens to whoever may see one of them, and says so of the other', async () => {
  const visitor = await subAccount('limitsOnly', ['systemFrequencies.view']);
  const { page } = visitor;
  await page.locator('.menu-entry', { hasText: 'Error' }).click();
  await page.waitForURL('**/systemManagement/errorSetting');
  await page.locator('.tab').first().waitFor();
  assert.deepEqual(await page.locator('.tab').allInnerTexts(), ['Frequency limits']);
  await page.locator('.empty-title', { hasText: 'Nothing here yet' }).waitFor();
  await visitor.go('/client/systemManagement/errorSetting?tab=errorPages');
  await page.locator('.empty-title', { hasText: 'No permission' }).waitFor();
  assert.equal(await page.locator('.tab[aria-current]').count(), 0, 'no other tab is shown in its place');
  await picture(page, 'tab-locked');
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});

test('where nobody chose a language in the browser, the account that signs in has', async () => {
  const visitor = await subAccount('zonesCn', ['zones.view'], 'zh_CN');
  await visitor.page.locator('.menu-entry', { hasText: '区域' }).waitFor();
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});

test('an unknown site says so and leads back', async () => {
  const visitor = await stand.inside('user', { language: 'zh_TW' });
  await visitor.go('/user/sitesManagement/sitesSetting/999/x');
  await visitor.page.locator('.empty-title', { hasText: '找不到這個項目' }).waitFor();
  await picture(visitor.page, 'gone');
  await visitor.page.locator('.empty-action a').click();
  await visitor.page.waitForURL('**/user/sitesManagement/sites');
  await visitor.close();
});

test('a dead session leads every tab to the form, and back to where it was', async () => {
  const visitor = await stand.inside('user');
  await visitor.go('/user/dashboard');
  const second = await visitor.context.newPage();
  await second.goto(`${stand.whole.origin}/user/dataAnalysis/logger`);
  await second.locator('.page-head').waitFor();
  await visitor.context.clearCookies();
  // A poll of the dashboard may notice before the click does.
  await visitor.page
    .locator('.menu-entry', { hasText: 'Sites' })
    .first()
    .click({ timeout: 5000 })
    .catch(() => {});
  await visitor.page.waitForURL(url => url.pathname === '/user' && url.searchParams.get('next') !== null);
  // What a browser says of a tab that is shown again.
  await second.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
  await second.waitForURL(url => url.pathname === '/user' && url.searchParams.get('next') === '/user/dataAnalysis/logger');
  await second.close();
  await visitor.close();
});

test('the server goes away and comes back: a banner says so, and the page heals by itself', async () => {
  const visitor = await stand.inside('user');
  const { page } = visitor;
  await visitor.go('/user/sitesManagement/sites');
  await visitor.context.setOffline(true);
  await page.keyboard.press('r');
  await page.locator('.network-banner').waitFor();
  await picture(page, 'unreachable');
  assert.equal(await page.locator('.ant-table-row', { hasText: 'demo' }).count(), 1, 'what was there stays');
  await visitor.context.setOffline(false);
  await page.locator('.network-banner').waitFor({ state: 'detached' });
  await visitor.close();
});

test("acting for somebody says so on every page, leaves one's own session alone, and leads back to it", async () => {
  const token = await stand.whole.signIn('client');
  const email = 'acted@breakwater.test';
  const role = await stand.whole.call('POST', '/client/role', token, { name: 'acted', permissionKeys: ['sites.view'] });
  const [roleID] = (role.body as { ids: number[] }).ids;
  const made = await stand.whole.call('POST', '/client/account', token, { email, name: 'acted', auth: 'client', role: roleID });
  assert.equal(made.status, 200, JSON.stringify(made.body));
  const visitor = await stand.inside('client');
  const { page } = visitor;
  for (const [acted, area] of [
    ['user@breakwater.test', 'user'],
    [email, 'client'],
  ] as const) {
    await visitor.go('/client/userManagement/users');
    await page.locator('.ant-table-row', { hasText: acted }).locator('.ant-dropdown-trigger').click();
    await page.locator('.ant-dropdown-menu-item', { hasText: 'Switch to account' }).click();
    const opened = visitor.context.waitForEvent('page');
    await page.locator('.ant-modal').getByRole('button', { name: 'Switch to account' }).click();
    const other = await opened;
    await other.waitForURL(`**/${area}/dashboard`);
    const banner = other.locator('.acting-banner');
    await banner.getByText(`You are acting as ${acted}`).waitFor();
    assert.ok((await banner.innerText()).includes('client@breakwater.test'), await banner.innerText());
    await other.locator('.menu-entry', { hasText: 'My account' }).click();
    await other.waitForURL('**/userManagement/userInformation');
    await banner.waitFor();
    await other.setViewportSize({ width: 1440, height: 900 });
    await picture(other, `acting-${area}`);
    await other.setViewportSize({ width: 390, height: 844 });
    await picture(other, `acting-${area}-390`);
    // whoever opened it is still who they were
    await visitor.go('/client/dashboard');
    assert.equal(await page.locator('.acting-banner').count(), 0);
    await page.locator('.account-mail', { hasText: 'client@breakwater.test' }).waitFor();
    // the tab closes, and who acted is where they came from
    const closed = other.waitForEvent('close');
    await banner.getByRole('button', { name: 'Back to my account' }).click();
    await closed;
    await visitor.go('/client/userManagement/users');
    await page.locator('.ant-table-row', { hasText: acted }).waitFor();
  }
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});

test('who may only look opens a row and reads all of it, is told why it stands there so, and finds no button that saves', async () => {
  const token = await stand.whole.signIn('client');
  const rule = {
    urlRegex: '^/only-read',
    type: 'ipURL',
    seconds: 30,
    times: 1234,
    action: 'drop',
    priority: 7,
    colour: 'green',
    enabled: false,
  };
  assert.equal((await stand.whole.call('POST', '/client/setting/frequency', token, { items: [rule] })).status, 200);
  const visitor = await subAccount('lookOnly', ['systemFrequencies.view']);
  const { page } = visitor;
  await visitor.go('/client/systemManagement/errorSetting');
  assert.equal(await page.locator('.ant-table-selection-column').count(), 0, 'nothing to do with several');
  await page.locator('.ant-table-row button.link', { hasText: '/only-read' }).click();
  const drawer = page.locator('.ant-drawer-open');
  await drawer.getByText('may look at this, but not change it').waitFor();
  const text = await drawer.innerText();
  for (const word of ['^/only-read', '1,234', '30', 'Disabled', 'Green', '7'])
    assert.ok(text.includes(word), `${word} in ${text}`);
  assert.equal(await drawer.locator('form, .ant-btn-primary').count(), 0);
  await picture(page, 'view-only');
  const address = page.url();
  await page.keyboard.press('Escape');
  await drawer.waitFor({ state: 'detached' });
  await page.goto(address);
  await drawer.getByText('may look at this').waitFor();
  await page.setViewportSize({ width: 390, height: 844 });
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.locator('.ant-dropdown-menu-item', { hasText: 'View' }).click();
  await drawer.getByText('may look at this').waitFor();
  await picture(page, 'view-only-390');
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});

test('who may only look at settings of the system reads them, whatever else their form would take', async () => {
  const token = await stand.whole.signIn('client');
  const put = async (path: string, body: object) => {
    const answer = await stand.whole.call('PUT', path, token, body);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
  };
  await put('/client/setting/webhook', { enable: false, url: 'https://1.1.1.1/hooks', kinds: ['nodeOffline'] });
  await put('/client/setting/tg', { enable: false, chatID: '@harbour', kinds: [] });
  const visitor = await subAccount('readsSettings', [
    ...['webhook.view', 'telegram.view', 'emailSetting.view', 'oidc.view', 'databaseBackup.view', 'retention.view'],
  ]);
  const { page } = visitor;
  for (const [tab, ...words] of [
    ['webhook', 'https://1.1.1.1/hooks', 'A node is offline', 'Disabled'],
    ['telegram', '@harbour'],
    ['email', 'STARTTLS', 'Sender address'],
    ['oidc', 'Issuer', 'Disabled'],
    ['databaseBackup', 'Every day', 'Folder'],
    ['retention', 'days'],
  ] as const) {
    await visitor.load(`/client/systemManagement/systemSetting?tab=${tab}`);
    const text = await page.locator('.setting').innerText();
    for (const word of words) assert.ok(text.includes(word), `${tab}: ${word} in ${text}`);
    assert.equal(await page.locator('.setting form').count(), 0, tab);
    await picture(page, `settings-read-${tab}`);
  }
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});
