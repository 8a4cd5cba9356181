/** Two people edit one row: who saves second sees both states and chooses; nothing is lost without a word. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Look, picture, type Visitor } from './browser.ts';
import { demo } from './demo.ts';

const stand = demo();
const zones = '/client/nodeManage/zonesList';

async function openZone(visitor: Visitor) {
  const { page } = visitor;
  await visitor.go(zones);
  await page.locator('.ant-table-row button.link').first().click();
  await page.waitForSelector('.ant-drawer form #memo');
}
const save = ({ page }: Visitor) => page.click('.ant-drawer-footer .ant-btn-primary');
const closed = ({ page }: Visitor) => page.waitForSelector('.ant-drawer form', { state: 'detached' });
const side = ({ page }: Visitor, name: string) => page.locator('.conflict-field', { hasText: name });

for (const look of [
  { theme: 'light', width: 1440, language: 'en_US' },
  { theme: 'dark', width: 390, language: 'zh_TW' },
] as const satisfies Look[])
  test(`who saves second sees both, and chooses field by field, ${look.width}`, async () => {
    const first = await stand.inside('client');
    const second = await stand.inside('client', look);
    const memo = `of the first ${look.width}`;
    await openZone(first);
    await openZone(second);
    const name = await second.page.inputValue('#name');
    await first.page.fill('#memo', memo);
    await save(first);
    await closed(first);

    await second.page.fill('#memo', 'of the second');
    await second.page.fill('#name', `${name}-b`);
    await save(second);
    const panel = second.page.locator('.conflict');
    await panel.waitFor();
    await picture(second.page, `conflict-${look.width}`);
    assert.match(await panel.innerText(), /client@breakwater\.test/);
    const both = side(second, memo);
    assert.match(await both.innerText(), /of the second/);
    // what only the second touched is the second's, without a question
    assert.equal(await side(second, `${name}-b`).count(), 0);
    assert.ok(await second.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));

    // a look back at the form keeps what was typed, and saving asks again
    await panel.locator('footer button').first().click();
    assert.equal(await second.page.inputValue('#memo'), 'of the second');
    await save(second);
    await both.locator('.ant-segmented-item').first().click();
    await panel.locator('footer .ant-btn-primary').click();
    await closed(second);
    await first.go(zones);
    const row = await first.page.locator('.ant-table-row').first().innerText();
    assert.ok(row.includes(memo) && row.includes(`${name}-b`), row);
    // refused saves are all that the browser complains of
    assert.deepEqual(
      [...new Set(second.takeProblems())].filter(line => !line.includes('409')),
      [],
    );
    assert.deepEqual(first.takeProblems(), []);
    await first.close();
    await second.close();
  });
