/** Redirects on screen: a module, many lines at once, which of them an address meets, and a domain that has it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { picture, type Visitor } from './browser.ts';
import { demo } from './demo.ts';

const stand = demo();
const drawer = '.ant-drawer-open';
const save = ({ page }: Visitor) => page.click(`${drawer} .ant-drawer-footer .ant-btn-primary`);
const tab = '/user/sitesManagement/sitesSetting/1?tab=urlRedirects';

test('redirects are pasted, tried, mended and given to a domain; a visitor is sent there', async () => {
  const visitor = await stand.inside('user');
  const { page } = visitor;
  await visitor.go(tab);
  await page.locator('.ant-btn-primary').first().click();
  await page.fill(`${drawer} #name`, 'Old shop');
  await save(visitor);
  await page.locator('.ant-table-row a', { hasText: 'Old shop' }).click();

  await page.getByRole('button', { name: 'Paste many' }).first().click();
  await page.fill(`${drawer} textarea`, '/old /new 301\n/shop/* /store/\n\n/a /a\n\n/x nowhere');
  await save(visitor);
  await page.locator('.ant-form-item-explain-error', { hasText: 'ine 6' }).waitFor();
  await page.fill(`${drawer} textarea`, '/old, /new, 301\n/x /y 301 extra words');
  await save(visitor);
  await page.locator('.ant-form-item-explain-error', { hasText: 'Line 2: Cannot make sense of “extra words”' }).waitFor();
  await page.fill(`${drawer} textarea`, '/old /new 301\n/shop/*/x /store/');
  await save(visitor);
  await page.locator('.ant-form-item-explain-error', { hasText: 'Line 2: No * here' }).waitFor();
  await picture(page, 'redirects-paste');
  await page.fill(`${drawer} textarea`, '/old /new 301\n/shop/* /store/\n/a /a');
  await save(visitor);
  await page.locator('.ant-form-item-explain-error', { hasText: 'ine 3' }).waitFor();
  await page.fill(`${drawer} textarea`, '/old, /new, 301\n/shop/* /store/* 302\n~^/p/(\\d+)$ /product?id=$1');
  await save(visitor);
  await page.locator('.ant-table-row', { hasText: '/store/' }).waitFor();

  const answer = page.locator('.redirect-try output');
  await page.fill('.redirect-try input', '/shop/shoes?size=9');
  await page.press('.redirect-try input', 'Enter');
  await answer.filter({ hasText: '302 to /store/shoes?size=9' }).waitFor();
  await picture(page, 'redirects');
  await page.setViewportSize({ width: 390, height: 844 });
  await picture(page, 'redirects-390');
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.fill('.redirect-try input', 'https://demo.test/nothing');
  await page.press('.redirect-try input', 'Enter');
  await answer.filter({ hasText: 'No redirect' }).waitFor();

  // what was refused above
  visitor.takeProblems();
  // an expression that never ends is stopped, and the page goes on meanwhile
  await page.getByRole('button', { name: 'Paste many' }).first().click();
  await page.fill(`${drawer} textarea`, '~^/(a+)+$ /x');
  await save(visitor);
  await page.locator('.ant-table-row', { hasText: '(a+)+' }).waitFor();
  await page.fill('.redirect-try input', `/${'a'.repeat(60)}!`);
  await page.press('.redirect-try input', 'Enter');
  await page.locator('.redirect-try .ant-btn-loading').waitFor();
  await answer.filter({ hasText: 'Stopped' }).waitFor();
  await picture(page, 'redirects-stopped');
  await page.fill('.redirect-try input', '/old');
  await page.press('.redirect-try input', 'Enter');
  await answer.filter({ hasText: '301 to /new' }).waitFor();
  assert.deepEqual(visitor.takeProblems(), [], 'nothing of it is against the policy of the page');

  await page.locator('.ant-table-row .link', { hasText: '/old' }).click();
  await page.fill(`${drawer} #target`, '/old');
  await save(visitor);
  await page.locator('[data-field="target"] .ant-form-item-explain-error').waitFor();
  await page.fill(`${drawer} #target`, '/newer');
  await save(visitor);
  await page.locator('.ant-table-row', { hasText: '/newer' }).waitFor();

  // what was refused above
  visitor.takeProblems();

  await visitor.go('/user/sitesManagement/sitesSetting/1?tab=domains');
  await page.locator('.ant-table-row').first().locator('button[aria-label="More actions"]').click();
  await page.locator('.ant-dropdown-menu-item', { hasText: 'Redirects' }).click();
  await visitor.choose('moduleID', 'Old shop');
  await save(visitor);
  await visitor.message('Success');
  await visitor.go(tab);
  await page.locator('.ant-table-row', { hasText: 'Old shop' }).waitFor();
  assert.deepEqual((await page.locator('.ant-table-row', { hasText: 'Old shop' }).locator('td').allInnerTexts()).slice(2, 4), [
    '4',
    '1',
  ]);
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});
