/** How often and how fast a site may be asked: both lists are filled in a browser, and a visitor meets what they say. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { picture } from './browser.ts';
import { demo } from './demo.ts';

const stand = demo();
const at = (tab: string) => `/user/sitesManagement/sitesSetting/1/demo?tab=${tab}`;

test('a frequency is made, and the visitor who asks too often is refused', async () => {
  const visitor = await stand.inside('user');
  const { page } = visitor;
  await visitor.go(at('frequencies'));
  await page.getByText('Visitors who send too many').first().waitFor();
  await picture(page, 'frequencies-empty');
  await page.locator('.ant-btn-primary').first().click();
  await page.waitForSelector('.ant-drawer form #urlRegex');
  await page.fill('#urlRegex', '^/often');
  await page.fill('#times', '0');
  await page.press('#times', 'Tab');
  await page.locator('.ant-drawer .ant-form-item-explain-error').first().waitFor();
  await page.fill('#times', '2');
  await page.fill('#seconds', '3600');
  await page.press('#seconds', 'Tab');
  await picture(page, 'frequencies-form');
  await page.click('.ant-drawer-footer .ant-btn-primary');
  await page.waitForSelector('.ant-drawer form', { state: 'detached' });
  await page.locator('.ant-table-row', { hasText: '^/often' }).getByText('2 in 3,600 s').waitFor();
  await picture(page, 'frequencies');
  let last = 0;
  for (let n = 0; n < 200 && last !== 929; n++) last = (await stand.whole.visit('demo.breakwater.test', '/often')).status;
  assert.equal(last, 929);
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});

for (const look of [
  { theme: 'light', width: 390, language: 'zh_TW' },
  { theme: 'dark', width: 1440, language: 'zh_CN' },
] as const)
  test(`request limits stand, ${look.theme}, ${look.width}, ${look.language}`, async () => {
    const token = await stand.whole.signIn('user');
    const item = { urlRegex: `^/api/${look.width}`, rate: 10, burst: 20, type: 'ipURL' };
    await stand.whole.call('POST', '/user/site/1/firewall/setting/limitReqs', token, { items: [item] });
    const visitor = await stand.inside('user', look);
    await visitor.go(at('limitReqs'));
    await visitor.page.locator('.ant-table-row', { hasText: item.urlRegex }).waitFor();
    await picture(visitor.page, `limitReqs-${look.theme}-${look.width}`);
    await visitor.go(at('frequencies'));
    await visitor.page.locator('.ant-table-row').first().waitFor();
    await picture(visitor.page, `frequencies-${look.theme}-${look.width}`);
    assert.ok(await visitor.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    assert.deepEqual(visitor.takeProblems(), []);
    await visitor.close();
  });
