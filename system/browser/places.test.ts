/** Where addresses are, as people see it: data with whoever made them, an address to try, a preview that says why. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { poll } from '#server/store/engine-process.ts';
import { cityOf, mmdb } from '../../server/test/geo-files.ts';
import { picture } from './browser.ts';
import { demo } from './demo.ts';
import { serious } from './serious.ts';

let reply = (_: IncomingMessage, response: ServerResponse): void => void response.end();
const source = createServer((request, response) => reply(request, response));
const stand = demo(undefined, async () => {
  source.listen(0, '127.0.0.1');
  await once(source, 'listening');
  return { BREAKWATER_ORIGIN_ALLOW: '127.0.0.0/8' };
});
after(() => source.close());
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

test(
  'the owner has data fetched from a source, sees why it fails, and goes back to the included data',
  { timeout: 300_000 },
  async () => {
    const visitor = await stand.inside('client');
    const { page } = visitor;
    await visitor.go('/client/systemManagement/dnsSetting');
    const data = page.locator('section[aria-labelledby="geo-data"]');
    const card = page.locator('section[aria-labelledby="geo-source"]');
    const now = card.getByRole('button', { name: 'Refresh now' });
    await card.locator('#url').waitFor();
    assert.equal(await now.count(), 0, 'there is nothing to ask yet');
    await card.locator('#url').fill(`http://127.0.0.1:${(source.address() as AddressInfo).port}/city.mmdb`);
    await card.locator('#header').fill('Bearer a-licence-key');
    await page.getByRole('button', { name: 'Save' }).click();
    await now.waitFor();
    await card.getByText('A value is set; left empty it stays').waitFor();
    // what was typed stands there no longer than it takes to save it
    assert.ok(await poll(async () => (await card.locator('#header').inputValue()) === '', 10_000, 50));

    // whoever makes them gives way to everybody else
    const timeout = 120_000;
    let key: string | undefined;
    reply = ({ headers }, response) => {
      key = headers.authorization;
      response.end(mmdb({ '198.51.100.0/24': cityOf('AS', 'TW') }));
    };
    const refresh = async (line: string) => {
      await now.click();
      // the task's own lines, while it is on its way and after
      await page.getByText(line).first().waitFor({ timeout });
      await page.keyboard.press('Escape');
      await now.waitFor();
    };
    await refresh('They count now');
    assert.equal(key, 'Bearer a-licence-key');
    await data.getByText('your own').waitFor();
    await card.getByText(/last taken .*data as of 2026/).waitFor();
    const address = data.locator('input.mono, .mono input').first();
    await address.fill('198.51.100.7');
    await data.getByText('Asia · Taiwan').waitFor();

    reply = (_, response) => void response.writeHead(403).end();
    await refresh('The present data stay');
    const alert = card.getByRole('alert');
    await alert
      .getByText(/^Not refreshed since .*; the present data stay: The source answered HTTP 403 instead of a file$/)
      .waitFor();
    assert.deepEqual(await serious(visitor, 'section[aria-labelledby="geo-source"]'), []);
    await card.scrollIntoViewIfNeeded();
    await picture(page, 'places-source-failed');

    await data.getByRole('button', { name: 'Use the included data again' }).click();
    await page.locator('.ant-modal').getByRole('button', { name: 'Use the included data again' }).click();
    await data.getByText('your own').waitFor({ state: 'detached', timeout });
    await data.getByRole('link', { name: 'DB-IP' }).first().waitFor();
    assert.equal(await data.getByRole('button', { name: 'Use the included data again' }).count(), 0);
    assert.ok(!(await page.content()).includes('a-licence-key'));
    assert.deepEqual(visitor.takeProblems(), []);
    await visitor.close();
  },
);
