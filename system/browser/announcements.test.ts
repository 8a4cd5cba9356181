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
