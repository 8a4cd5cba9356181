/** What forms and lists take beyond their first use: lines of a group, the Host of a domain that is there, a domain by its address, purges by host. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { picture, type Visitor } from './browser.ts';
import { demo } from './demo.ts';
import { serious } from './serious.ts';

const stand = demo();
const drawer = '.ant-drawer-open';
const sites = '/client/nodeManage/sitesSetting/1/demo';

async function demoDomain(visitor: Visitor): Promise<string> {
  await visitor.go(`${sites}?tab=domains`);
  return (await visitor.page.locator('.ant-table-row .link').first().innerText()).trim();
}
const save = (visitor: Visitor) => visitor.page.click(`${drawer} .ant-drawer-footer .ant-btn-primary`);

test('the address of a domain opens it in the settings of its site', async () => {
  const visitor = await stand.inside('client');
  const name = await demoDomain(visitor);
  await visitor.go(`${sites}/${name}`);
  await visitor.page.locator(`${drawer} .ant-drawer-title`, { hasText: name }).waitFor();
  assert.match(visitor.page.url(), new RegExp(`keywords=${name}`));
  await picture(visitor.page, 'inputs-domain-by-address');
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});

test('the Host an origin is asked for is changed on a domain that is there, and filters find what is set', async () => {
  const visitor = await stand.inside('client');
  const { page } = visitor;
  const name = await demoDomain(visitor);
  await picture(page, 'inputs-domains');
  await page.locator('.ant-table-row').first().locator('button[aria-label="More actions"]').click();
  await page.locator('.ant-dropdown-menu-item', { hasText: 'Origin Host header' }).click();
  await page.fill(`${drawer} #originHost`, 'origin.example.com');
  await save(visitor);
  await visitor.message('Success');
  await visitor.go(`${sites}?tab=domains&forceSSL=1`);
  await page.getByText('No match').waitFor();
  await visitor.go(`${sites}?tab=domains&forceSSL=0&cnameStatuses=unset&certStatus=unset&createdStart=2020-01-01T00:00:00.000Z`);
  await page.locator('.ant-table-row', { hasText: name }).waitFor();
  await page.locator('.ant-table-row').first().locator('button[aria-label="More actions"]').click();
  await page.locator('.ant-dropdown-menu-item', { hasText: 'Origin Host header' }).click();
  await page.waitForSelector(`${drawer} #originHost`);
  assert.equal(await page.inputValue(`${drawer} #originHost`), 'origin.example.com');
  await page.fill(`${drawer} #originHost`, '');
  await save(visitor);
  await visitor.message('Success');
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});

test('a host is purged from the screen', async () => {
  const visitor = await stand.inside('client');
  const { page } = visitor;
  const name = await demoDomain(visitor);
  await visitor.go(`${sites}?tab=purge`);
  await page.locator('.purge-form .ant-segmented-item', { hasText: 'Host' }).click();
  await page.fill('.purge-form textarea', name);
  await picture(page, 'inputs-purge-host');
  await page.click('.purge-form .ant-btn-primary');
  await page.locator('.ant-table-row', { hasText: name }).first().waitFor();
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});

test('a group gets a line of its own, and nodes answer on it', async () => {
  const visitor = await stand.inside('client');
  const { page } = visitor;
  await visitor.go('/client/nodeManage/resolutionTitle');
  const row = page.locator('.ant-table-row').first();
  const edit = async () => {
    await row.locator('button[aria-label="More actions"]').click();
    await page.locator('.ant-dropdown-menu-item', { hasText: 'Edit' }).click();
    await page.waitForSelector(`${drawer} form #name`);
  };
  await edit();
  await page.getByRole('button', { name: 'Add a line' }).click();
  await page.fill('#lines_0_name', '電信');
  await page.click('#lines_0_cidrs');
  await page.keyboard.type('198.51.100.0/24');
  await page.keyboard.press('Enter');
  await page.click('#lines_0_asns');
  await page.keyboard.type('AS645oo');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  // chips are no lines: the one that is meant is named
  await page.locator(drawer).getByText('AS645oo: ').waitFor();
  assert.deepEqual(await serious(visitor, drawer), []);
  await page.click('#lines_0_asns');
  await page.keyboard.press('Backspace');
  await page.keyboard.type('AS64500');
  await page.keyboard.press('Enter');
  await page.click('#lines_0_places');
  await page.keyboard.type('taiw');
  await page.keyboard.press('Enter');
  await page.keyboard.type('jp-13');
  await page.keyboard.press('Enter');
  await page.keyboard.type('Asia');
  await picture(page, 'inputs-group-lines');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Escape');
  assert.deepEqual(await page.locator(`${drawer} [data-field="lines"] .ant-select-selection-item`).allInnerTexts(), [
    'Taiwan',
    'Japan 13',
    'Asia',
    'AS64500',
    '198.51.100.0/24',
  ]);
  await save(visitor);
  await page.locator('.ant-table-row', { hasText: '電信' }).waitFor();
  await row.locator('button.link').click();
  await page.click(`${drawer} .line-choice`);
  await page.locator('.ant-select-item-option', { hasText: '電信' }).click();
  await page.locator(drawer).getByText('No nodes on the line').waitFor();
  await picture(page, 'inputs-group-line-nodes');
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});

test('what is no number stays and is told, and what is in the wrong form says why, or is mended', async () => {
  const visitor = await stand.inside('client', { language: 'zh_TW' });
  const { page } = visitor;
  const said = (field: string) => page.locator(`[data-field="${field}"] .ant-form-item-explain-error`);
  await visitor.go(`${sites}?tab=domains`);
  await page.locator('[data-create]').first().click();
  await page.waitForSelector(`${drawer} form #domainName`);
  const port = '#upstreams_0_port';
  for (const typed of ['8O80', '80a', '80 80']) {
    await page.fill(port, typed);
    await page.press(port, 'Tab');
    await said('upstreams.0.port').getByText('必須是數字').waitFor();
    assert.equal(await page.inputValue(port), typed, 'nothing typed vanishes');
  }
  await page.fill('#domainName', 'a b');
  await page.press('#domainName', 'Tab');
  await said('domainName').getByText('不可含有空白').waitFor();
  await picture(page, 'inputs-reasons');
  await page.fill(port, '８０８０');
  await page.press(port, 'Tab');
  await said('upstreams.0.port').waitFor({ state: 'detached' });
  assert.equal(await page.inputValue(port), '8080');
  await page.fill('#domainName', '1.2.3.4');
  await page.press('#domainName', 'Tab');
  await said('domainName').getByText('這是 IP 位址').waitFor();
  for (const [field, typed, becomes] of [
    ['#domainName', 'https://Zahlen.網域.tw./x', 'zahlen.xn--cjs139f.tw'],
    ['#originHost', 'https://Shop.Example.com./x', 'shop.example.com'],
    ['#upstreams_0_address', '127.0.0.1:8O', '127.0.0.1:8O'],
    ['#upstreams_0_address', '127.0.0.1:8088', '127.0.0.1'],
  ] as const) {
    await page.fill(field, typed);
    await page.press(field, 'Tab');
    assert.equal(await page.inputValue(field), becomes);
  }
  assert.equal(await page.inputValue(port), '8088');
  await save(visitor);
  await page.locator('.ant-table-row', { hasText: 'zahlen.xn--cjs139f.tw' }).waitFor();

  await visitor.go(`${sites}?tab=whitelists`);
  await page.locator('[data-create]').first().click();
  await page.fill(`${drawer} #ips`, ' ');
  await page.press(`${drawer} #ips`, 'Tab');
  await said('ips').getByText('請至少填寫一個 IP 或網址').waitFor();
  await page.fill(`${drawer} #ips`, '１９２.0.2.7:8080\n\nfe80::1%eth0');
  await page.press(`${drawer} #ips`, 'Tab');
  await said('ips').getByText('第 3 行：不可帶介面名稱').waitFor();
  assert.equal(await page.inputValue(`${drawer} #ips`), '192.0.2.7\n\nfe80::1%eth0');
  await picture(page, 'inputs-whitelist-reasons');
  await page.fill(`${drawer} #ips`, '192.0.2.7');
  await save(visitor);
  await page.locator('.ant-table-row', { hasText: '192.0.2.7' }).waitFor();
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});
