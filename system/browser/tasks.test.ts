/** Tasks on screen: a module copied to many sites, its log as it grows, what could not be done, trying again, and stopping. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { modulesMax } from '#contract/kit/module.ts';
import { type Look, picture, type Visitor } from './browser.ts';
import { demo } from './demo.ts';

const stand = demo();
const drawer = '.ant-drawer-open';
const settings = '/user/sitesManagement/sitesSetting/1/demo';
const many = 60;

async function send(area: 'user' | 'client', method: string, path: string, body?: unknown) {
  const { status, body: answer } = await stand.whole.call(method, path, await stand.whole.signIn(area), body);
  assert.equal(status, 200, `${path} ${JSON.stringify(answer)}`);
  return answer as { ids: number[]; data: { id: number; productID: number; userID: number }[] };
}
const cors = (name: string) => ({
  name,
  allowOrigin: '*',
  allowMethods: ['GET'],
  allowHeaders: [],
  exposeHeaders: [],
  allowCredentials: false,
  maxAge: 60,
});
/** Made once, by whoever asks first. */
let made: Promise<number[]> | undefined;
const shops = () => (made ??= makeShops());
async function makeShops(): Promise<number[]> {
  const { data } = await send('client', 'GET', '/client/sites');
  const { productID, userID } = data.find(site => site.id === 1)!;
  const sites: number[] = [];
  for (let n = 1; n <= many; n++)
    sites.push(...(await send('client', 'POST', '/client/site', { siteName: `shop ${n}`, productID, userID })).ids);
  return sites;
}

async function openMenu({ page }: Visitor, row: string, entry: string) {
  await page.locator('.ant-table-row', { hasText: row }).locator('button[aria-label="More actions"]').click();
  await page.getByRole('menuitem', { name: entry }).click();
  await page.waitForSelector(`${drawer} form`);
}
const state = ({ page }: Visitor, text: string) => page.locator('.task').first().locator('.status', { hasText: text }).waitFor();

test('a copy shows how far it is, says what it could not do, and takes that again', async () => {
  const sites = await shops();
  await send('user', 'POST', '/user/site/1/module/cors', { modules: [cors('Shared')] });
  // no room in the second, and the third has one of that name
  const full = Array.from({ length: modulesMax }, (_, n) => cors(`full ${n}`));
  const there = await send('user', 'POST', `/user/site/${sites[1]}/module/cors`, { modules: full });
  await send('user', 'POST', `/user/site/${sites[2]}/module/cors`, { modules: [cors('Shared')] });
  const visitor = await stand.inside('user');
  const { page } = visitor;
  await visitor.go(`${settings}?tab=cors`);
  await openMenu(visitor, 'Shared', 'Copy to other sites');
  // nothing chosen is nothing to do
  await page.click(`${drawer} .ant-drawer-footer .ant-btn-primary`);
  await page.locator('[data-field="siteIDs"] .ant-form-item-explain-error').waitFor();
  await page.click('#siteIDs');
  // onto itself is no choice
  await page.fill('#siteIDs', 'demo');
  await page.locator('.ant-select-item-option-disabled', { hasText: 'demo · this very site' }).waitFor();
  // of sixty not all are drawn: what is typed is looked for
  for (const name of ['shop 1', 'shop 2', 'shop 3']) {
    await page.fill('#siteIDs', name);
    await page.locator('.ant-select-item-option').getByText(name, { exact: true }).click();
  }
  await page.keyboard.press('Escape');
  await page.click(`${drawer} .ant-drawer-footer .ant-btn-primary`);
  await visitor.message('Copying has begun');
  await page.locator('.task strong', { hasText: 'Copy the module “Shared” to 3 sites' }).waitFor();
  await state(visitor, 'Failed');
  const task = page.locator('.task').first();
  await task.getByText('3 of 3').waitFor();
  await task.getByText('1 could not be done', { exact: true }).waitFor();
  const lines = task.locator('.task-log li');
  await lines.filter({ hasText: 'Ended; 1 could not be done' }).waitFor();
  const said = (await lines.allInnerTexts()).map(text => text.replace(/^\S+ \S+\s+/, ''));
  assert.deepEqual(said, [
    'Started',
    'Copied to shop 1',
    `Not copied to shop 2: Parameter Error: Choose at most ${modulesMax}`,
    'shop 3 has one of this name already: left as it is',
    'Ended; 1 could not be done',
  ]);
  assert.deepEqual(await task.locator('progress').evaluate((bar: HTMLProgressElement) => [bar.value, bar.max]), [3, 3]);
  await picture(page, 'tasks-failed');

  await send('user', 'DELETE', `/user/site/${sites[1]}/module/cors`, { ids: there.ids });
  await task.getByRole('button', { name: 'Try again' }).click();
  await state(visitor, 'Done');
  await lines.filter({ hasText: 'All done' }).waitFor();
  assert.equal(await lines.filter({ hasText: /Copied to shop 2$/ }).count(), 1);
  assert.equal(await task.getByRole('button', { name: 'Try again' }).count(), 0);
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});

test('what goes on is counted in the header, outlives the page, and is stopped there', async () => {
  const sites = await shops();
  const made = await send('user', 'POST', '/user/site/1/module/urlRedirects', { modules: [{ name: 'Old shop' }] });
  const items = Array.from({ length: 2000 }, (_, n) => ({ source: `/old/${n}`, target: `/new/${n}` }));
  await send('user', 'POST', `/user/site/1/module/urlRedirect/${made.ids[0]}/redirects`, { items });
  const visitor = await stand.inside('user');
  const { page } = visitor;
  await send('user', 'POST', '/user/site/1/urlRedirect/copy', { moduleID: made.ids[0], siteIDs: sites });
  await visitor.go('/user/dashboard');
  await page.getByRole('button', { name: 'Tasks: 1 under way' }).click();
  const task = page.locator('.task').first();
  await state(visitor, 'Running');
  await page.waitForFunction(() => {
    const bar = document.querySelector<HTMLProgressElement>('.task progress')!;
    return bar.value > 0 && bar.value < bar.max;
  });
  await picture(page, 'tasks-running');
  await task.getByRole('button', { name: 'Stop' }).click();
  await page.locator('.ant-modal .ant-btn-dangerous, .ant-modal .ant-btn-primary').last().click();
  await state(visitor, 'Stopped');
  await task.getByRole('button', { name: 'Show log' }).click();
  await task.locator('.task-log li', { hasText: 'Stopped' }).waitFor();
  const [done, total] = await task.locator('progress').evaluate((bar: HTMLProgressElement) => [bar.value, bar.max] as const);
  assert.ok(done > 0 && done < total && total === many, `${done} of ${total}`);
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});

for (const look of [
  { theme: 'dark', width: 390, language: 'zh_TW' },
  { theme: 'light', width: 390, language: 'zh_CN' },
  { theme: 'dark', width: 1440, language: 'en_US' },
] as const satisfies Look[])
  test(`in the reader’s language, ${look.theme}, ${look.width}, ${look.language}`, async () => {
    const visitor = await stand.inside('user', look);
    const { page } = visitor;
    await visitor.go('/user/dashboard');
    const title = { zh_TW: '任務', zh_CN: '任务', en_US: 'Tasks' }[look.language];
    await page.getByRole('button', { name: title, exact: true }).click();
    const task = page.locator('.task', { hasText: 'Shared' });
    await task.waitFor();
    await task.locator('.task-foot button').first().click();
    await task.locator('.task-log li').first().waitFor();
    await picture(page, `tasks-${look.theme}-${look.width}-${look.language}`);
    const text = await page.locator(drawer).innerText();
    if (look.language !== 'en_US') assert.doesNotMatch(text, /Copied|Failed|Not copied|taskLine|copyModule/);
    assert.match(
      text,
      {
        zh_TW: /未能複製到 shop 2：[^]*shop 3 已有同名模組，因此略過/,
        zh_CN: /未能复制到 shop 2：[^]*shop 3 已有同名模块，因此略过/,
        en_US: /Not copied to shop 2: [^]*shop 3 has one of this name already/,
      }[look.language],
    );
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    assert.deepEqual(visitor.takeProblems(), []);
    await visitor.close();
  });

test('whoever has none is told what they are', async () => {
  const visitor = await stand.inside('client');
  await visitor.go('/client/dashboard');
  await visitor.page.getByRole('button', { name: 'Tasks', exact: true }).click();
  await visitor.page.getByText('No tasks').waitFor();
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});
