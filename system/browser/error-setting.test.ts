/** Error pages and frequencies of the operator and error pages of a site: each list is filled in a browser and keeps what was saved. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Look, picture, type Visitor } from './browser.ts';
import { demo } from './demo.ts';

const stand = demo();
const setting = '/client/systemManagement/errorSetting';

async function save({ page }: Visitor, field: string, value: string) {
  await page.locator('.ant-btn-primary').first().click();
  await page.waitForSelector(`.ant-drawer form ${field}`);
  await page.fill(field, value);
  await page.click('.ant-drawer-footer .ant-btn-primary');
  await page.waitForSelector('.ant-drawer form', { state: 'detached' });
  await page.locator('.ant-table-row', { hasText: value }).waitFor();
}

/** Above a list with rows too: whose pages and frequencies count. */
const says = ({ page }: Visitor, text: string) => page.locator('.list-note', { hasText: text }).waitFor();

test('the operator makes an error page and a frequency for every site, and changes the page', async () => {
  const visitor = await stand.inside('client');
  const { page } = visitor;
  await visitor.go(setting);
  await says(visitor, 'where a site has its own page for a status, that one counts');
  await save(visitor, '#content', '<h1>Not now</h1>');
  await page.locator('.ant-table-row button.link', { hasText: '400' }).click();
  await page.waitForSelector('.ant-drawer form #content');
  // whoever goes into it gets the editor, with what was selected until then: what is typed next replaces that
  await page.locator('#content').selectText();
  await page.locator('.code-editor .tok-typeName', { hasText: 'h1' }).first().waitFor();
  await page.keyboard.insertText('<h1>Later</h1>');
  assert.equal(await page.locator('.cm-line').textContent(), '<h1>Later</h1>');
  await picture(page, 'error-setting-form');
  await page.click('.ant-drawer-footer .ant-btn-primary');
  await page.locator('.ant-table-row', { hasText: '<h1>Later</h1>' }).waitFor();
  await visitor.go(`${setting}?tab=frequencies`);
  await says(visitor, "beside the sites' own");
  await save(visitor, '#urlRegex', '^/everywhere');
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});

for (const look of [
  { theme: 'light', width: 390, language: 'zh_TW' },
  { theme: 'dark', width: 1440, language: 'en_US' },
] as const satisfies Look[])
  test(`a customer makes an error page of a site, ${look.width}`, async () => {
    const visitor = await stand.inside('user', look);
    await visitor.go('/user/sitesManagement/sitesSetting/1/demo?tab=errorPages');
    if (look.width === 390) await save(visitor, '#content', '<h1>Own page</h1>');
    else await visitor.page.locator('.ant-table-row', { hasText: '<h1>Own page</h1>' }).waitFor();
    await picture(visitor.page, `error-pages-${look.width}`);
    await says(visitor, look.language === 'zh_TW' ? '站點沒有的狀態碼使用營運商的頁面' : "the operator's page does");
    assert.ok(await visitor.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    assert.deepEqual(visitor.takeProblems(), []);
    await visitor.close();
  });

test('a status that has its page is not offered again; a page that was deleted elsewhere is said to be gone', async () => {
  const token = await stand.whole.signIn('user');
  const page504 = { code: 504, type: 'content', content: '<h1>Too late</h1>' };
  const { status, body } = await stand.whole.call('POST', '/user/site/1/errorPage', token, page504);
  assert.equal(status, 200, JSON.stringify(body));
  const visitor = await stand.inside('user');
  const { page } = visitor;
  await visitor.go('/user/sitesManagement/sitesSetting/1/demo?tab=errorPages');
  await page.locator('.ant-btn-primary').first().click();
  await page.waitForSelector('.ant-drawer form #content');
  await page.click('#code');
  await page.locator('.ant-select-item-option', { hasText: '929' }).waitFor();
  const offered = await page.locator('.ant-select-item-option').allInnerTexts();
  assert.deepEqual(
    offered.filter(code => ['504', '903'].includes(code)),
    [],
    'one page for a status, and 903 is the operator’s',
  );
  await picture(page, 'error-pages-offered');
  await visitor.go('/user/sitesManagement/sitesSetting/1/demo?tab=errorPages');
  assert.deepEqual(visitor.takeProblems(), []);

  await page.locator('.ant-table-row .link', { hasText: '504' }).click();
  await page.waitForSelector('.ant-drawer form #content');
  await stand.whole.call('DELETE', '/user/site/1/errorPages', token, { ids: (body as { ids: number[] }).ids });
  await page.fill('#content', '<h1>Later</h1>');
  await page.click('.ant-drawer-footer .ant-btn-primary');
  await visitor.message('no longer exists');
  await page.waitForSelector('.ant-drawer form', { state: 'detached' });
  await page.locator('.ant-table-row', { hasText: '504' }).waitFor({ state: 'detached' });
  await visitor.close();
});
