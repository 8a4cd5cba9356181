/** Where addresses are, as people see it: data with whoever made them, an address to try, a preview that says why. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { picture } from './browser.ts';
import { demo } from './demo.ts';

const stand = demo();
const drawer = '.ant-drawer-open';

for (const [language, words] of [
  ['zh_TW', { taiwan: '亞洲 · 台灣 · AS3462', unknown: '不明', drop: '改回內附資料' }],
  ['en_US', { taiwan: 'Asia · Taiwan · AS3462', unknown: 'Unknown', drop: 'Use the included data again' }],
] as const)
  test(`DNS settings tell whose data count, and try an address (${language})`, { timeout: 180_000 }, async () => {
    const visitor = await stand.inside('client', { language });
    const { page } = visitor;
    await visitor.go('/client/systemManagement/dnsSetting');
    const section = page.locator('section[aria-labelledby="geo-data"]');
    // they are made at the first start, when nobody else has work to do
    await section.locator('li').nth(1).waitFor({ timeout: 150_000 });
    await section.getByRole('link', { name: 'DB-IP' }).first().waitFor();
    await section.locator('input.mono, .mono input').first().fill('168.95.1.1');
    await section.getByText(words.taiwan).waitFor();
    await section.scrollIntoViewIfNeeded();
    await picture(page, `places-data-${language}`);
    await section.locator('input.mono, .mono input').first().fill('127.0.0.1');
    await section.getByText(words.unknown).waitFor();
    assert.equal(await section.getByRole('button', { name: words.drop }).count(), 0);
    assert.deepEqual(visitor.takeProblems(), []);
    await visitor.close();
  });

test('a preview says where a visitor is taken to be', { timeout: 120_000 }, async () => {
  const visitor = await stand.inside('client');
  const { page } = visitor;
  await visitor.go('/client/nodeManage/resolutionTitle');
  await page.locator('.ant-table-row button[aria-label="More actions"]').first().click();
  await page.locator('.ant-dropdown-menu-item', { hasText: 'What is answered' }).click();
  await page.getByLabel('A visitor from').fill('Taiwan');
  await page.keyboard.press('Enter');
  await page.locator(drawer).getByText('Asia · Taiwan').waitFor();
  await page.locator(drawer).getByText('Sample address').waitFor();
  await picture(page, 'places-from');
  await page.getByLabel('or the address of a visitor').fill('8.8.8.8');
  await page
    .locator(drawer)
    .getByText('North America · United States')
    .or(page.locator(drawer).getByText('North America · US'))
    .waitFor();
  await picture(page, 'places-preview');
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});
