/** Code of the console that does not come, because the line dropped or another release has taken its place: no form and no page is lost. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { picture, type Visitor } from './browser.ts';
import { demo, fresh } from './demo.ts';

const stand = demo(['--demo'], fresh);
const zones = '/client/nodeManage/zonesList';
const failed = '.piece-failed';
const chunk = (name: string) => new RegExp(`/assets/${name}-[^/]*\\.js$`);

/** The chunk cannot be had until the answered function is called. */
async function without({ page }: Visitor, name: string) {
  await page.route(chunk(name), route => route.abort());
  return () => page.unroute(chunk(name));
}
/** What the browser says of a request that failed is expected here; an error of the page is not. */
const noErrors = (visitor: Visitor) =>
  assert.deepEqual(
    visitor.takeProblems().filter(line => line.startsWith('error:')),
    [],
  );
/** The server of the next release: its page names another script. */
const nextRelease = ({ page }: Visitor) =>
  page.route('**/client', (route, request) =>
    request.resourceType() === 'fetch' ? route.fulfill({ contentType: 'text/html', body: '<html></html>' }) : route.fallback(),
  );
async function typing(visitor: Visitor, memo: string) {
  const { page } = visitor;
  await visitor.go(zones);
  await page.locator('.ant-table-row button.link').first().click();
  await page.waitForSelector('.ant-drawer form #memo');
  await page.fill('#memo', memo);
}

test('a side of a form that does not come leaves what was typed, and comes when it is asked for again', async () => {
  const visitor = await stand.inside('client', { language: 'zh_TW', width: 390 });
  const { page } = visitor;
  await typing(visitor, 'typed while the line dropped');
  const back = await without(visitor, 'history');
  await page.locator('.form-sides .ant-segmented-item').last().click();
  await page.locator(failed).waitFor();
  await picture(page, 'missing-history-390');
  await page.locator(`${failed} button`).click();
  await page.locator(failed).waitFor();
  await back();
  await page.locator(`${failed} button`).click();
  await page.locator('.ant-drawer .history, .ant-drawer .empty').first().waitFor();
  await page.locator('.form-sides .ant-segmented-item').first().click();
  assert.equal(await page.inputValue('#memo'), 'typed while the line dropped');
  noErrors(visitor);
  await visitor.close();
});

test('a calendar that does not come leaves the field and the form', async () => {
  const visitor = await stand.inside('user');
  const { page } = visitor;
  const back = await without(visitor, 'time-input');
  await visitor.go('/user/sitesManagement/sitesSetting/1/demo?tab=blacklists');
  await page.locator('.panel .ant-btn-primary', { hasText: 'Create' }).first().click();
  await page.waitForSelector('.ant-drawer form #ips');
  await page.fill('#ips', '203.0.113.9');
  await page.focus('#expiredAt');
  await page.locator(failed).waitFor();
  await picture(page, 'missing-calendar');
  assert.equal(await page.inputValue('#ips'), '203.0.113.9');
  await back();
  await page.locator(`${failed} button`).click();
  await page.locator('.ant-picker #expiredAt').waitFor();
  assert.equal(await page.inputValue('#ips'), '203.0.113.9');
  noErrors(visitor);
  await visitor.close();
});

test('a page, a tab and a chart that do not come say so in their place, and come by themselves when the line is back', async () => {
  const visitor = await stand.inside('client');
  const { page } = visitor;
  await visitor.go('/client/dashboard');
  await visitor.context.setOffline(true);
  await page.locator('.side-menu a[href$="/statistic/logger"], a[href$="/logger"]').first().click();
  await page.locator(`.shell-content ${failed}`).waitFor();
  assert.ok(await page.locator('.shell-head').isVisible(), 'the frame stands');
  await picture(page, 'missing-page');
  await visitor.context.setOffline(false);
  await page.locator('.shell-content .page-head').waitFor();
  await page.locator(failed).waitFor({ state: 'detached' });

  const back = await without(visitor, 'log-detail');
  await page.locator('.ant-table-row button.link').first().click();
  await visitor.message('could not be loaded');
  assert.ok(await page.locator('.ant-table-row').first().isVisible());
  await back();
  await page.locator('.ant-table-row button.link').first().click();
  await page.locator('.ant-drawer').waitFor();
  noErrors(visitor);
  await visitor.close();
});

test('another release: a page on which nothing is typed is loaded anew by itself, any other asks and gives back what was typed', async () => {
  const visitor = await stand.inside('client');
  const { page } = visitor;
  await typing(visitor, 'typed under the old release');
  await page.evaluate(() => Object.assign(window, { isOld: true }));
  await nextRelease(visitor);
  const back = await without(visitor, 'history');
  await page.locator('.form-sides .ant-segmented-item').last().click();
  const notice = page.locator('.notice', { hasText: 'has been updated' });
  await notice.waitFor();
  await picture(page, 'missing-release');
  assert.ok(await page.evaluate(() => 'isOld' in window), 'nothing was taken from under the person');
  await back();
  await notice.locator('.notice-action').click();
  await page.waitForFunction(() => !('isOld' in window));
  await visitor.message('is back');
  assert.equal(await page.inputValue('#memo'), 'typed under the old release');
  noErrors(visitor);
  await visitor.close();

  const idle = await stand.inside('client');
  await idle.go('/client/dashboard');
  let loads = 0;
  idle.page.on('load', () => void loads++);
  await nextRelease(idle);
  await without(idle, 'access-log');
  await Promise.all([idle.page.waitForEvent('load'), idle.page.locator('a[href$="/logger"]').first().click()]);
  // the fresh page does not find it either: it says so, and does not go round in a circle
  await idle.page.locator(failed).waitFor();
  await idle.page.locator('.notice', { hasText: 'has been updated' }).waitFor();
  assert.equal(loads, 1);
  noErrors(idle);
  await idle.close();
});

test('a console that does not come at all is no blank page, and a form without the rules asks for them again', async () => {
  const visitor = await stand.inside('client', { language: 'zh_TW' });
  const { page } = visitor;
  const back = await without(visitor, 'client');
  await page.goto(`${visitor.origin}/client/dashboard`);
  await page.locator('h1', { hasText: '無法載入控制台' }).waitFor();
  await picture(page, 'missing-all');
  await back();
  await page.locator('.button-primary').click();
  await page.locator('.shell-content .page-head').waitFor();

  await visitor.go(zones);
  const rules = await without(visitor, 'contract');
  await page.locator('.ant-table-row button.link').first().click();
  await page.locator('.ant-drawer .empty').waitFor();
  await rules();
  await page.locator('.ant-drawer .empty button').click();
  await page.waitForSelector('.ant-drawer form #memo');
  noErrors(visitor);
  await visitor.close();
});
