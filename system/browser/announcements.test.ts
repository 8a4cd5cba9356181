/** Announcements in a browser: the operator writes one and sees it as it will be read; a customer reads it, and dismisses it for good. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { picture } from './browser.ts';
import { demo } from './demo.ts';

const stand = demo();

test('the operator writes an announcement beside its preview; HTML is shown as it is typed', async () => {
  const visitor = await stand.inside('client', { language: 'zh_TW' });
  const { page } = visitor;
  await visitor.go('/client/userManagement/announcementSetting');
  await page.locator('[data-create]').first().click();
  await page.fill('.ant-drawer form #title', '維護通知');
  const text =
    '## 週六凌晨\n\n- **停機** 10 分鐘\n- 說明見 [狀態頁](https://status.test/)\n\n<b onclick=alert(1)>x</b> [y](javascript:alert`1`)';
  await page.fill('.ant-drawer form textarea', text);
  const preview = page.locator('.markdown-preview');
  await preview.locator('strong', { hasText: '停機' }).waitFor();
  assert.equal(await preview.locator('a').count(), 1);
  assert.deepEqual(
    await preview
      .locator('a')
      .evaluate(link => [link.getAttribute('href'), link.getAttribute('rel'), link.getAttribute('target')]),
    ['https://status.test/', 'noopener noreferrer nofollow', '_blank'],
  );
  assert.equal(await preview.locator('b').count(), 0);
  await picture(page, 'announcement-form');
  await page.click('.ant-drawer-footer .ant-btn-primary');
  await page.locator('.ant-table-row', { hasText: '維護通知' }).waitFor();
  await page.waitForSelector('.ant-drawer form', { state: 'detached' });
  await picture(page, 'announcements');
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});

for (const look of [
  { theme: 'light', width: 390, language: 'zh_TW' },
  { theme: 'dark', width: 1440, language: 'en_US' },
] as const)
  test(`a customer reads it above every page, and what was dismissed stays away, ${look.width}`, async () => {
    const visitor = await stand.inside('user', look);
    const { page } = visitor;
    await visitor.go('/user/dashboard');
    const strip = page.locator('.announcement');
    await strip.locator('.announcement-title', { hasText: '維護通知' }).waitFor();
    await strip.locator('[aria-expanded]').click();
    await strip.locator('.announcement-text strong', { hasText: '停機' }).waitFor();
    await picture(page, `announcement-${look.width}`);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    await visitor.go('/user/sitesManagement/sites');
    await strip.locator('button', { hasText: '×' }).click();
    await strip.waitFor({ state: 'detached' });
    await visitor.go('/user/dashboard');
    assert.equal(await strip.count(), 0);
    assert.deepEqual(visitor.takeProblems(), []);
    await visitor.close();
  });

for (const [theme, width] of [
  ['light', 1440],
  ['dark', 390],
] as const)
  test(`one’s own devices are listed, and one is signed out from afar, ${width}`, async () => {
    const visitor = await stand.inside('client', { theme, width, language: 'zh_TW' });
    const { page } = visitor;
    const elsewhere = await stand.whole.signIn('client');
    await visitor.go('/client/userManagement/userInformation');
    const devices = page.locator('section', { hasText: '登入中的裝置' }).locator('li');
    await devices.filter({ hasText: '這個裝置' }).waitFor();
    const before = await devices.count();
    assert.ok(before >= 2);
    await devices.first().scrollIntoViewIfNeeded();
    await picture(page, `devices-${width}`);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    // the newest after one's own
    await devices.nth(1).getByRole('button').click();
    await visitor.message('已登出該裝置');
    await page.waitForFunction(wanted => document.querySelectorAll('.members li').length === wanted, before - 1);
    assert.equal((await stand.whole.call('GET', '/client/account/self', elsewhere)).status, 401);
    assert.deepEqual(visitor.takeProblems(), []);
    await visitor.close();
  });

test('an operator’s root assigns a zone to a sub-account', async () => {
  const visitor = await stand.inside('client', { language: 'zh_TW' });
  const { page } = visitor;
  const token = await stand.whole.signIn('client');
  const made = async (path: string, body: object) => {
    const reply = await stand.whole.call('POST', path, token, body);
    assert.equal(reply.status, 200, JSON.stringify(reply.body));
    return (reply.body as { ids: number[] }).ids[0]!;
  };
  const role = await made('/client/role', { name: 'looks', permissionKeys: ['zones.view'] });
  const id = await made('/client/account', { email: 'clerk@test.test', name: 'clerk', auth: 'client', role });
  await visitor.go('/client/userManagement/users?auth=client');
  const line = page.locator('.ant-table-row', { hasText: 'clerk@test.test' });
  await line.getByRole('button', { name: '更多操作' }).click();
  await page.getByRole('menuitem', { name: '指派區域' }).click();
  await page.locator('.ant-drawer form #zoneIDs').click();
  await page.locator('.ant-select-item-option').first().click();
  await picture(page, 'assign-zones');
  await page.click('.ant-drawer-footer .ant-btn-primary');
  await visitor.message('已更新可見的區域');
  const { body } = await stand.whole.call('GET', `/client/${id}/zones`, token);
  assert.equal((body as unknown[]).length, 1);
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});
