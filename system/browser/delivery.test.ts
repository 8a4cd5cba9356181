/** What a customer decides about how answers are sent: compressed, and how fast. Both tabs are opened, filled and saved. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { picture } from './browser.ts';
import { demo } from './demo.ts';

const stand = demo();
const at = (tab: string) => `/user/sitesManagement/sitesSetting/1/demo?tab=${tab}`;

test('compression is read, changed and saved', async () => {
  const visitor = await stand.inside('user');
  const { page } = visitor;
  await visitor.go(at('gzip'));
  await page.locator('#minLength').waitFor();
  await picture(page, 'gzip');
  await page.fill('#minLength', '2048');
  await page.fill('#level', '9');
  await page.press('#level', 'Tab');
  await picture(page, 'gzip-form');
  await page.click('.save-bar .ant-btn-primary');
  await page.getByText('HTTP compression set success!').waitFor();
  const token = await stand.whole.signIn('user');
  const { body } = await stand.whole.call('GET', '/user/site/1/setting/gzip', token);
  const { minLength, level, from } = body as { minLength: number; level: number; from: string };
  assert.deepEqual({ minLength, level, from }, { minLength: 2048, level: 9, from: 'site' });
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});

test('a rate is made, changed and removed', async () => {
  const visitor = await stand.inside('user');
  const { page } = visitor;
  await visitor.go(at('rates'));
  await picture(page, 'rates-empty');
  await page.locator('.panel .ant-btn-primary, .ant-btn-primary').first().click();
  await page.waitForSelector('.ant-drawer form #value');
  await page.fill('#value', 'mp4,iso');
  await page.fill('#rate', '250');
  await page.press('#rate', 'Tab');
  await picture(page, 'rates-form');
  await page.click('.ant-drawer-footer .ant-btn-primary');
  await page.waitForSelector('.ant-drawer form', { state: 'detached' });
  const row = page.locator('.ant-table-row', { hasText: 'mp4,iso' });
  await row.getByText('250 K/s').waitFor();
  await picture(page, 'rates');
  await row.getByText('mp4,iso').click();
  await page.waitForSelector('.ant-drawer form #rate');
  await page.fill('#rate', '500');
  await page.press('#rate', 'Tab');
  await page.click('.ant-drawer-footer .ant-btn-primary');
  await page.waitForSelector('.ant-drawer form', { state: 'detached' });
  await row.getByText('500 K/s').waitFor();
  const token = await stand.whole.signIn('user');
  const list = async () =>
    ((await stand.whole.call('GET', '/user/site/1/setting/rates', token)).body as { data: { id: number; rate: number }[] }).data;
  const [made] = await list();
  assert.equal(made!.rate, 500);
  await stand.whole.call('DELETE', '/user/site/1/setting/rates', token, { ids: [made!.id] });
  assert.deepEqual(await list(), []);
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});

for (const look of [
  { theme: 'light', width: 390, language: 'zh_TW' },
  { theme: 'dark', width: 390, language: 'zh_CN' },
  { theme: 'dark', width: 1440, language: 'zh_TW' },
] as const)
  test(`both tabs stand, ${look.theme}, ${look.width}, ${look.language}`, async () => {
    const visitor = await stand.inside('user', look);
    for (const tab of ['gzip', 'rates']) {
      await visitor.go(at(tab));
      await picture(visitor.page, `${tab}-${look.theme}-${look.width}`);
      assert.ok(await visitor.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), tab);
    }
    assert.deepEqual(visitor.takeProblems(), []);
    await visitor.close();
  });
