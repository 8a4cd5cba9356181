/** What a person meets who comes by an old address, comes back after a session, or is refused: each says what it is. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { password } from '#system/whole.ts';
import { picture } from './browser.ts';
import { demo } from './demo.ts';

const stand = demo();
const settings = '/user/sitesManagement/sitesSetting/1';
const drawer = '.ant-drawer-open';

async function api(area: 'user' | 'client', method: string, url: string, body?: unknown) {
  const answer = await stand.whole.call(method, url, await stand.whole.signIn(area), body);
  assert.ok(answer.status < 300, `${method} ${url}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

test('the address of a domain that is gone says so by its name', async () => {
  const { ids } = await api('user', 'POST', '/user/site/1/domains', {
    domains: [{ domainName: 'going.test', upstreams: [{ address: '8.8.8.8' }] }],
  });
  const operator = await stand.inside('client', { language: 'zh_TW' });
  const named = '/client/nodeManage/sitesSetting/1/demo/going.test?tab=domains';
  await operator.go(named);
  await operator.page.locator(drawer).waitFor();
  await api('user', 'DELETE', '/user/site/1/domains', { ids });
  await operator.go(named);
  await operator.message('找不到網域「going.test」');
  await picture(operator.page, 'links-gone');
  assert.equal(await operator.page.locator(drawer).count(), 0);
  await operator.close();
});

test('names pasted to be deleted are there again after the session ended', async () => {
  const visitor = await stand.inside('user');
  const { page } = visitor;
  const open = async () => {
    await visitor.go(`${settings}?tab=domains`);
    await page.getByRole('button', { name: 'Delete by names…' }).click();
    await page.locator(`${drawer} textarea.names-input`).waitFor();
  };
  await open();
  await page.fill(`${drawer} textarea.names-input`, 'one.test\ntwo.test');
  await visitor.context.clearCookies();
  // any call learns it
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
  await page.waitForURL(url => url.pathname === '/user' && url.search.includes('next='));
  await page.fill('input[name=email]', 'user@breakwater.test');
  await page.fill('input[name=password]', password);
  await page.click('button[type=submit]');
  await page.waitForURL(url => url.pathname.includes('sitesSetting'));
  await visitor.settled();
  await open();
  await visitor.message('is back');
  assert.equal(await page.inputValue(`${drawer} textarea.names-input`), 'one.test\ntwo.test');
  await visitor.close();
});

test('a module that cannot be assigned says that, and not that something could not be made', async () => {
  await api('user', 'POST', '/user/site/1/module/urlRedirects', { modules: [{ name: 'refused' }] });
  const visitor = await stand.inside('user', { language: 'zh_TW' });
  const { page } = visitor;
  await visitor.go(`${settings}?tab=urlRedirects`);
  const row = page.locator('.ant-table-row', { hasText: 'refused' });
  await row.locator('.ant-dropdown-trigger').click();
  await page.locator('.ant-dropdown-menu:visible').getByText('指派給網域…').click();
  await visitor.choose('domainIDs', 'demo.breakwater.test');
  await page.keyboard.press('Escape');
  // while the operator holds the account nothing of it can be changed
  const { data } = await api('client', 'GET', '/client/accounts?auth=user');
  const { id } = (data as { id: number; email: string }[]).find(({ email }) => email.startsWith('user@'))!;
  await api('client', 'PUT', '/client/account', { id, status: 'pause' });
  await page.click(`${drawer} .ant-drawer-footer .ant-btn-primary`);
  await page.locator('.notice', { hasText: '指派失敗！' }).waitFor();
  assert.equal(await page.locator('.notice', { hasText: '新增失敗' }).count(), 0);
  await api('client', 'PUT', '/client/account', { id, status: 'normal' });
  await visitor.close();
});

test('sites whose time is over are found by their state, and what was deleted has a button that says so', async () => {
  const visitor = await stand.inside('client', { language: 'zh_TW' });
  const { page } = visitor;
  await visitor.go('/client/nodeManage/sitesList');
  await page.getByRole('button', { name: '已刪除的資料' }).first().waitFor();
  await picture(page, 'links-sites');
  await page.locator('.filter-select', { hasText: '狀態' }).first().click();
  await page.locator('.ant-select-item-option', { hasText: '已到期' }).click();
  await page.waitForURL(/statuses=expired/);
  await page.locator('.empty').waitFor();
  await visitor.close();
});

test('an account is called what it is, and one that cannot sign in yet is not green; a group that nobody uses is not amber', async () => {
  const visitor = await stand.inside('client');
  const { page } = visitor;
  await visitor.go('/client/userManagement/users');
  await page.locator('.ant-btn-primary', { hasText: 'Create' }).click();
  await page.locator('.ant-drawer-title', { hasText: 'New account' }).waitFor();
  await page.fill(`${drawer} #email`, 'later@breakwater.test');
  await page.fill(`${drawer} #name`, 'later');
  await page.click(`${drawer} .ant-drawer-footer .ant-btn-primary`);
  await visitor.message('Create User Successful!');
  const row = page.locator('.ant-table-row', { hasText: 'later@breakwater.test' });
  await row.getByText('No password yet').waitFor();
  assert.deepEqual([await row.locator('.status-dot.warn').count(), await row.locator('.status-dot.good').count()], [1, 0]);
  await picture(page, 'links-accounts');

  const zoneID = (await api('client', 'GET', '/client/metaZones'))[0].id;
  await api('client', 'POST', '/client/group', { name: 'spare', zoneID });
  await visitor.go('/client/nodeManage/resolutionTitle');
  await page.locator('.ant-table-row', { hasText: 'spare' }).getByText('Not in use').waitFor();
  assert.equal(await page.locator('.ant-table-row', { hasText: 'spare' }).locator('.status-dot.warn').count(), 0);
  await picture(page, 'links-groups');
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});
