/** Modules in a browser: filled in, saved, given to a domain, and what visitors then get. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../edge/test/harness.ts';
import { type Look, picture, type Visitor } from './browser.ts';
import { demo } from './demo.ts';

const stand = demo();
const drawer = '.ant-drawer-open';
const host = 'demo.breakwater.test';
const settings = '/user/sitesManagement/sitesSetting/1/demo';

const save = (visitor: Visitor) => visitor.page.click(`${drawer} .ant-drawer-footer .ant-btn-primary`);
const gone = (visitor: Visitor) => visitor.page.waitForSelector(`${drawer} form`, { state: 'detached' });
async function add(visitor: Visitor, tab: string, name: string) {
  const { page } = visitor;
  await visitor.go(`${settings}?tab=${tab}`);
  await page.locator('.ant-btn-primary').first().click();
  await page.fill(`${drawer} #name`, name);
}
/** Opens one of the entries of the domain's menu. */
async function ofDomain(visitor: Visitor, entry: string) {
  const { page } = visitor;
  await visitor.go(`${settings}?tab=domains`);
  await page.locator('.ant-table-row', { hasText: host }).locator('button[aria-label="More actions"]').click();
  await page.getByRole('menuitem', { name: entry, exact: true }).click();
  await page.waitForSelector(`${drawer} form`);
}
async function give(visitor: Visitor, entry: string, field: string, module: string) {
  await ofDomain(visitor, entry);
  await visitor.choose(field, module);
  await save(visitor);
  await gone(visitor);
}
/** What a visitor is answered, once it is so. */
const served = (path: string, wanted: (answer: Awaited<ReturnType<typeof stand.whole.visit>>) => boolean) =>
  until(`served as set: ${path}`, async () => wanted(await stand.whole.visit(host, path)), 30);
const said = (visitor: Visitor, field: string) =>
  visitor.page.locator(`${drawer} [data-field="${field}"] .ant-form-item-explain-error`);

test('a CORS module is filled in, given to a domain, and stands on its answers', async () => {
  const visitor = await stand.inside('user');
  const { page } = visitor;
  await add(visitor, 'cors', 'shop');
  await page.fill('#allowOrigin', 'shop.test');
  await page.press('#allowOrigin', 'Tab');
  await said(visitor, 'allowOrigin').waitFor();
  await page.fill('#allowOrigin', 'https://*.shop.test');
  await page.fill('#maxAge', '86401');
  await page.press('#maxAge', 'Tab');
  await said(visitor, 'maxAge').waitFor();
  await page.fill('#maxAge', '600');
  await save(visitor);
  await gone(visitor);
  await page.locator('.ant-table-row', { hasText: 'https://*.shop.test' }).waitFor();
  await give(visitor, 'CORS', 'corsID', 'shop');
  await served('/', ({ headers }) => /\bOrigin\b/.test(headers.vary ?? ''));
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});

test('headers of a module and of one domain; a name that stands twice is refused where it stands', async () => {
  const visitor = await stand.inside('user');
  const { page } = visitor;
  const row = async (index: number, name: string, value: string) => {
    await page.locator(`${drawer} [data-field="response"]`).getByRole('button', { name: 'Add a header' }).click();
    await page.fill(`#response_${index}_name`, name);
    await page.fill(`#response_${index}_value`, value);
  };
  await add(visitor, 'customHeaders', 'security');
  await row(0, 'X-Frame-Options', 'DENY');
  await row(1, 'x-frame-options', 'SAMEORIGIN');
  await page.press('#response_1_value', 'Tab');
  await save(visitor);
  await said(visitor, 'response.1.name').waitFor();
  assert.match(await said(visitor, 'response.1.name').innerText(), /Duplicate/);
  await picture(page, 'modules-header-twice');
  await page.fill('#response_1_name', 'X-Site');
  await said(visitor, 'response.1.name').waitFor({ state: 'detached' });
  await save(visitor);
  await gone(visitor);
  await give(visitor, 'Custom headers', 'moduleID', 'security');

  await ofDomain(visitor, 'Headers of this domain');
  await row(0, 'X-Site', 'domain');
  await row(1, 'Content-Length', '1');
  await save(visitor);
  await said(visitor, 'response.1.name').waitFor();
  await page.fill('#response_1_name', 'X-Second');
  await save(visitor);
  await gone(visitor);
  await served('/', ({ headers }) => headers['x-frame-options'] === 'DENY' && headers['x-site'] === 'domain');
  await ofDomain(visitor, 'Headers of this domain');
  assert.equal(await page.inputValue('#response_1_name'), 'X-Second', 'what was saved is there again');
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});

test('a rewrite is filled in, given to a domain, and the origin is asked for another path', async () => {
  const visitor = await stand.inside('user');
  const { page } = visitor;
  assert.notEqual((await stand.whole.visit(host, '/moved/')).status, 200);
  await add(visitor, 'proxyRewrites', 'moved');
  await page.fill('#rules_0_source', 'moved');
  await page.fill('#rules_0_target', 'http://elsewhere.test/');
  await save(visitor);
  await said(visitor, 'rules.0.source').waitFor();
  await said(visitor, 'rules.0.target').waitFor();
  await page.fill('#rules_0_source', '/moved/');
  await page.fill('#rules_0_target', '/');
  await save(visitor);
  await gone(visitor);
  await page.locator('.ant-table-row', { hasText: '/moved/ → /' }).waitFor();
  await give(visitor, 'Origin rewrites', 'moduleID', 'moved');
  await served('/moved/', ({ status }) => status === 200);
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});

const looks: Look[] = [
  { language: 'zh_TW', width: 1440 },
  { language: 'zh_CN', theme: 'dark', width: 1440 },
  { language: 'en_US', theme: 'dark', width: 390, height: 844 },
  { language: 'zh_TW', width: 390, height: 844 },
];
for (const look of looks) {
  const name = `${look.language}-${look.theme ?? 'light'}-${look.width}`;
  test(`their lists and forms fit their window: ${name}`, async () => {
    const visitor = await stand.inside('user', look);
    const { page } = visitor;
    for (const tab of ['cors', 'customHeaders', 'proxyRewrites']) {
      await visitor.go(`${settings}?tab=${tab}`);
      await picture(page, `modules-${tab}-${name}`);
      await page.locator('.ant-table-row .link, .card .link, .ant-list-item .link').first().click();
      await page.waitForSelector(`${drawer} form #name`);
      await picture(page, `modules-${tab}-form-${name}`);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.ok(wide <= 0, `${tab}: ${wide} pixels beyond the window`);
      const inside = await page.locator(`${drawer} .ant-drawer-body`).evaluate(body => body.scrollWidth - body.clientWidth);
      assert.ok(inside <= 0, `${tab}: the form is ${inside} pixels too wide`);
    }
    assert.deepEqual(visitor.takeProblems(), []);
    await visitor.close();
  });
}
