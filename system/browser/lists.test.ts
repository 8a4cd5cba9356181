/** Lists of any resource: what is done in them can be taken back by the browser's own buttons, and rows are chosen over many pages. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { picture, type Visitor } from './browser.ts';
import { demo, fresh } from './demo.ts';
import { serious } from './serious.ts';

const stand = demo(['--demo'], fresh);
const many = 33;
const sites = '/client/nodeManage/sitesList';
const groups = '/client/nodeManage/resolutionTitle';
const name = (index: number) => `many-${String(index).padStart(2, '0')}`;
let token = '';

const done = async (method: string, path: string, body?: unknown, as = token) => {
  const answer = await stand.whole.call(method, path, as, body);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body;
};
interface Site {
  id: number;
  siteName: string;
  status: string;
}
const found = async (keyword = 'many'): Promise<Map<string, Site>> => {
  const { data } = (await done('GET', `/client/sites?siteName=${keyword}&pageSize=500`)) as { data: Site[] };
  return new Map(data.map(site => [site.siteName, site]));
};
async function makeSites(names: string[]) {
  token ||= await stand.whole.signIn('client');
  const { productID, userID } = await done('GET', '/client/site/1');
  for (const siteName of names) await done('POST', '/client/site', { siteName, productID, userID, tags: [] });
}
let made: Promise<void> | undefined;
const prepared = () => (made ??= makeSites(Array.from({ length: many }, (_, index) => name(index))));

const bar = ({ page }: Visitor) => page.locator('.toolbar-chosen');
const count = async (visitor: Visitor, text: string) => bar(visitor).getByText(text, { exact: true }).waitFor();
const tick = ({ page }: Visitor, row: string) =>
  page.locator('.ant-table-row', { hasText: row }).locator('input[type=checkbox]').check();
const tickPage = ({ page }: Visitor) => page.locator('.ant-table-thead input[type=checkbox]').check();
const toPage = async (visitor: Visitor, at: number) => {
  await visitor.page.locator(`.ant-pagination-item-${at}`).click();
  await visitor.page.waitForURL(`**page=${at}*`);
  await visitor.settled();
};
/** Waits for the address to end so. */
const at = ({ page }: Visitor, search: string) => page.waitForFunction(wanted => location.search === wanted, search);

test('pages, order and filters are steps of the history: Back takes them one by one, and the list with them', async () => {
  await prepared();
  const visitor = await stand.inside('client');
  const { page } = visitor;
  await visitor.go(sites);
  await toPage(visitor, 2);
  await toPage(visitor, 3);
  await page.locator('th.ant-table-cell', { hasText: 'Site name' }).first().click();
  await at(visitor, '?sort=siteName');
  await page.fill('.filter-search input', 'many-1');
  await page.keyboard.press('Enter');
  await at(visitor, '?sort=siteName&siteName=many-1');
  await page.locator('.table-footer', { hasText: '10 in total' }).waitFor();
  for (const search of ['?sort=siteName', '?page=3', '?page=2', '']) {
    await page.goBack();
    await at(visitor, search);
  }
  await page.locator('.ant-pagination-item-1.ant-pagination-item-active').waitFor();
  await page.goForward();
  await page.locator('.ant-pagination-item-2.ant-pagination-item-active').waitFor();
  assert.deepEqual(visitor.takeProblems(), []);

  // the last row of the last page went meanwhile: the page corrects that by itself, which is no step
  await visitor.go(`${sites}?siteName=many-1&page=1`);
  await page.goto(`${stand.whole.origin}${sites}?siteName=many-1&page=9`);
  await at(visitor, '?siteName=many-1');
  await page.goBack();
  await at(visitor, '?siteName=many-1&page=1');
  await visitor.close();
});

test('steps of the dashboard and of the log are entries too; the lines of an open drawer are one', async () => {
  const visitor = await stand.inside('client');
  const { page } = visitor;
  await visitor.go('/client/dashboard');
  await page.locator('.ant-segmented-item', { hasText: '30 days' }).click();
  await at(visitor, '?range=days');
  await page.goBack();
  await at(visitor, '');
  await visitor.go('/client/dataAnalysis/logger');
  await page.locator('.ant-segmented-item', { hasText: '24' }).click();
  await at(visitor, '?range=last24h');
  await page.fill('.log-filters input[aria-label="Status"]', '2xx');
  await page.keyboard.press('Enter');
  await at(visitor, '?range=last24h&status=2xx');
  await page.goBack();
  await at(visitor, '?range=last24h');
  assert.equal(await page.inputValue('.log-filters input[aria-label="Status"]'), '');
  await page.goBack();
  await at(visitor, '');
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});

test('rows stay chosen on other pages and in another order, and are forgotten with the filter that found them', async () => {
  await prepared();
  const visitor = await stand.inside('client');
  const { page } = visitor;
  await visitor.go(`${sites}?sort=siteName&siteName=many`);
  await tick(visitor, name(3));
  await tick(visitor, name(7));
  await toPage(visitor, 2);
  await count(visitor, '2 selected');
  await tick(visitor, name(14));
  await count(visitor, '3 selected');
  await page.locator('th.ant-table-cell', { hasText: 'Site name' }).first().click();
  await page.locator('.ant-table-row', { hasText: name(32) }).waitFor();
  await count(visitor, '3 selected');
  await bar(visitor).getByRole('button', { name: 'Pause' }).click();
  await page.locator('.ant-modal .targets-list li').nth(2).waitFor();
  assert.deepEqual((await page.locator('.ant-modal .targets-list li').allTextContents()).sort(), [name(3), name(7), name(14)]);
  await page.locator('.ant-modal .ant-btn-primary').click();
  await bar(visitor).waitFor({ state: 'detached' });
  const now = await found();
  assert.deepEqual(
    [...now.values()]
      .filter(({ status }) => status === 'pause')
      .map(one => one.siteName)
      .sort(),
    [name(3), name(7), name(14)],
  );
  // shown at once as they are now, on whatever page
  await tickPage(visitor);
  await count(visitor, '10 selected');
  await page.goBack();
  await page.goBack();
  await page.goBack();
  await at(visitor, '');
  assert.equal(await bar(visitor).count(), 0);
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});

test('all that match are chosen with one press, their number is typed, and nothing else goes', async () => {
  await prepared();
  await makeSites(Array.from({ length: 24 }, (_, index) => `gone-${index}`));
  const visitor = await stand.inside('client');
  const { page } = visitor;
  const before = await found('');
  await visitor.go(`${sites}?siteName=gone`);
  await tick(visitor, 'gone-23');
  assert.equal(
    await bar(visitor)
      .getByRole('button', { name: /that match/ })
      .count(),
    0,
    'the page is not chosen',
  );
  await tickPage(visitor);
  await count(visitor, '10 selected');
  await bar(visitor).getByRole('button', { name: 'Select all 24 that match' }).click();
  await count(visitor, '24 selected');
  await toPage(visitor, 3);
  await page.waitForFunction(() => document.querySelectorAll('.ant-table-row').length === 4);
  assert.equal(await page.locator('.ant-table-row-selected').count(), 4);
  // one of them goes meanwhile, and one cannot go
  await done('DELETE', '/client/site', { ids: [before.get('gone-5')!.id] });
  const user = await stand.whole.signIn('user');
  const kept = before.get('gone-20')!.id;
  const [domain] = (
    await done(
      'POST',
      `/user/site/${kept}/domains`,
      { domains: [{ domainName: 'kept.lists.test', upstreams: [{ address: '8.8.8.8' }] }] },
      user,
    )
  ).ids;
  await bar(visitor).getByRole('button', { name: 'Delete' }).click();
  const confirm = page.locator('.ant-modal .ant-btn-dangerous');
  assert.ok(await confirm.isDisabled());
  await page.fill('.ant-modal input', '10');
  assert.ok(await confirm.isDisabled(), 'the number of the page is not the number of what goes');
  await page.fill('.ant-modal input', '24');
  await confirm.click();

  const dialog = page.locator('.ant-modal', { hasText: 'Targets' });
  await dialog.getByText('gone-20', { exact: true }).waitFor();
  await dialog.getByText('gone-5', { exact: true }).waitFor();
  await picture(page, 'retry');
  assert.deepEqual(await serious(visitor), []);
  // what is gone is not tried again; what is there is, as often as it takes
  await dialog.getByRole('button', { name: 'Try the failed again (1)' }).click();
  await visitor.message('The Site Has An L7 Domain Name Setting');
  await count(visitor, '1 selected');
  await done('DELETE', `/user/site/${kept}/domains`, { ids: [domain] }, user);
  await bar(visitor).getByRole('button', { name: 'Delete' }).click();
  await page.fill('.ant-modal input', 'gone-20');
  await confirm.click();
  await bar(visitor).waitFor({ state: 'detached' });
  const after = await found('');
  assert.deepEqual(
    [...after.keys()].sort(),
    [...before.keys()].filter(one => !one.startsWith('gone')).sort(),
    'only what matched',
  );
  visitor.takeProblems(); // the browser reports the 400 of 101009
  await visitor.close();
});

test('an address of a page or of a site that is not there says so and leads on', async () => {
  await prepared();
  const visitor = await stand.inside('client');
  const { page } = visitor;
  await visitor.go(`${sites}?page=1000000000&siteName=many`);
  await page.locator('.ant-table-row', { hasText: 'many' }).first().waitFor();
  await at(visitor, '?page=4&siteName=many');
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.go('/client/dataAnalysis/logger?sites=99999');
  await page.locator('.empty').getByRole('link', { name: 'Clear filters' }).click();
  await at(visitor, '');
  await page.locator('.log-filters').waitFor();
  await visitor.settled();
  assert.equal(await page.locator('.empty').getByRole('link').count(), 0);
  await visitor.close();
});

test('the drawer of a row asks for that row alone, and the list for no more; one that is not there is said to be gone', async () => {
  await prepared();
  const visitor = await stand.inside('client');
  const { page } = visitor;
  const asked: string[] = [];
  page.on('request', request => {
    if (/\/client\/(sites?|accounts)\b/.test(request.url())) asked.push(request.url().replace(/.*\/client/, ''));
  });
  const { id } = (await found()).get(name(20))!;
  await visitor.go(`${sites}?siteName=none.such&edit=${id}`);
  await page.locator('.ant-drawer-open .ant-drawer-title', { hasText: name(20) }).waitFor();
  assert.deepEqual(
    asked.filter(path => /pageSize=500/.test(path)),
    [],
  );
  assert.deepEqual(asked.filter(path => path === `/site/${id}`).length, 1);
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.go(`${sites}?edit=987654321`);
  await visitor.message('no longer exists');
  visitor.takeProblems(); // the browser reports the 404

  // a list whose rows have no call of their own is asked for the row
  const { data: accounts } = await done('GET', '/client/accounts');
  const [account] = accounts as { id: number; email: string }[];
  asked.length = 0;
  const users = '/client/userManagement/users';
  await visitor.go(`${users}?name=none.such&edit=${account!.id}`);
  await page.locator('.ant-drawer-open .ant-drawer-title', { hasText: account!.email }).waitFor();
  const byID = () =>
    asked.filter(path => path.startsWith('/accounts')).map(path => new URLSearchParams(path.split('?')[1]).get('ids'));
  assert.deepEqual(byID().sort(), [String(account!.id), null].sort());
  asked.length = 0;
  await visitor.go(`${users}?edit=987654321`);
  await visitor.message('no longer exists');
  assert.deepEqual(byID().filter(Boolean), ['987654321']);
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});

test('rows that cannot be asked for anew say of when they are and why, and one press asks again', async () => {
  await prepared();
  const visitor = await stand.inside('client');
  const { page } = visitor;
  await visitor.go(`${sites}?siteName=many`);
  const strip = page.locator('.stale');
  assert.equal(await strip.count(), 0);
  const lists = /\/client\/sites\?/;
  const json = { isError: true, code: 101008, message: 'Account Is Not Enabled' };
  await page.route(lists, route => route.fulfill({ status: 403, json }));
  await page.getByRole('button', { name: 'Refresh' }).click();
  await strip.getByText(/Could not be refreshed: what you see is of 20.*Account Is Not Enabled/).waitFor();
  assert.ok(await page.locator('.ant-table-row').count(), 'what is there stays');
  await picture(page, 'lists-stale');
  assert.deepEqual(await serious(visitor), []);
  await page.unroute(lists);
  await strip.getByRole('button').click();
  await strip.waitFor({ state: 'detached' });
  visitor.takeProblems(); // the browser reports the 403
  await visitor.close();
});

test('a node is put on a line by a name that the server looks for', async () => {
  const visitor = await stand.inside('client');
  const { page } = visitor;
  const searched: string[] = [];
  page.on('request', request => {
    if (/nodes\/initialized\?.*keyword=/.test(request.url())) searched.push(request.url());
  });
  const { data } = (await done('GET', '/client/nodes/initialized')) as { data: { name: string; zoneID: number }[] };
  const node = data[0]!.name;
  // the demo's own line has it already
  await done('POST', '/client/group', { zoneID: data[0]!.zoneID, name: 'empty-line' });
  await visitor.go(groups);
  await page.locator('.ant-table-row .link', { hasText: 'empty-line' }).first().click();
  const choice = page.getByRole('combobox', { name: 'Choose nodes to add' });
  await choice.click();
  await choice.fill(node.slice(0, 4));
  await page.waitForResponse(response => /keyword=/.test(response.url()));
  await page.locator('.ant-select-item-option', { hasText: node }).click();
  await page.keyboard.press('Escape');
  await page.locator('.line-add .ant-btn-primary').click();
  await page.locator('.line-nodes .line-name', { hasText: node }).waitFor();
  await page.locator('.line-add', { hasText: 'All nodes of this zone are on the line' }).waitFor();
  assert.ok(searched.length > 0);
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});

const words = {
  zh_TW: ['選取符合條件的全部 33 筆', '已選 33 項'],
  zh_CN: ['选取符合条件的全部 33 条', '已选 33 项'],
  en_US: ['Select all 33 that match', '33 selected'],
} as const;
for (const [language, theme, width] of [
  ['zh_TW', 'light', 1440],
  ['zh_CN', 'dark', 1440],
  ['zh_TW', 'dark', 390],
  ['en_US', 'light', 390],
] as const)
  test(`rows of many pages are chosen in ${language}, ${theme}, ${width} px: nothing serious, and no column is hidden`, async () => {
    await prepared();
    const visitor = await stand.inside('client', { language, theme, width });
    const { page } = visitor;
    await visitor.go(`${sites}?siteName=many`);
    await picture(page, `lists-${language}-${theme}-${width}`);
    if (width === 1440) {
      const [needed, there] = await page.locator('.ant-table-content').evaluate(e => [e.scrollWidth, e.clientWidth]);
      assert.ok(needed! <= there!, `the columns need ${needed} px of ${there}`);
    }
    await tickPage(visitor);
    const [press, said] = words[language];
    await picture(page, `lists-page-${language}-${theme}-${width}`);
    await bar(visitor).getByRole('button', { name: press }).click();
    await count(visitor, said);
    await picture(page, `lists-all-${language}-${theme}-${width}`);
    assert.deepEqual(await serious(visitor), []);
    assert.deepEqual(visitor.takeProblems(), []);
    await visitor.close();
  });
