/** Domains as a whole: exported, deleted by pasted names, opened by an address, chosen where a form asks for some. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { password } from '#system/whole.ts';
import { picture, Visitor } from './browser.ts';
import { demo } from './demo.ts';
import { serious } from './serious.ts';

const stand = demo();
const drawer = '.ant-drawer-open';
const site = '/user/sitesManagement/sitesSetting/1';
const many = 1203;
const name = (index: number) => `n${String(index).padStart(4, '0')}.list.test`;
let token = '';

const done = async (method: string, path: string, body?: unknown) => {
  const answer = await stand.whole.call(method, path, token, body);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body;
};
/** More domains than one page of a list and one call by names hold. */
async function make() {
  token = await stand.whole.signIn('user');
  const row = (index: number) => ({ domainName: name(index), upstreams: [{ address: '8.8.8.8' }], tags: ['many'] });
  for (let start = 0; start < many; start += 200)
    await done('POST', '/user/site/1/domains', {
      domains: Array.from({ length: Math.min(200, many - start) }, (_, index) => row(start + index)),
    });
  const [module] = (await done('POST', '/user/site/1/module/urlRedirects', { modules: [{ name: 'old shop' }] })).ids;
  assert.ok(module);
}
let made: Promise<void> | undefined;
const prepared = () => (made ??= make());
const names = async (keyword = ''): Promise<string[]> =>
  ((await done('GET', `/user/site/1/metaDomains?keyword=${keyword}`)) as { name: string }[]).map(one => one.name);

const rowOf = ({ page }: Visitor, text: string) => page.locator('.ant-table-row', { hasText: text });
async function exported(visitor: Visitor, press: () => Promise<void>) {
  const [file] = await Promise.all([visitor.page.waitForEvent('download'), press()]);
  const lines = readFileSync((await file.path())!, 'utf8')
    .trimEnd()
    .split('\r\n');
  return { name: file.suggestedFilename(), lines };
}

test('domains are exported: those that were chosen, those the filter finds, all of them page by page', async () => {
  await prepared();
  const visitor = await stand.inside('user');
  const { page } = visitor;
  await visitor.go(`${site}?tab=domains&keywords=n0000`);
  await rowOf(visitor, name(0)).locator('input[type=checkbox]').check();
  const one = await exported(visitor, () => page.getByRole('button', { name: 'Export', exact: true }).click());
  assert.equal(one.name, 'demo-domains.csv');
  assert.deepEqual(one.lines, ['domainName,status,balance,upstreams,tags', `${name(0)},1,roundRobin,8.8.8.8:80,many`]);
  await visitor.message('Export Success!');

  await visitor.go(`${site}?tab=domains&keywords=n000`);
  const some = await exported(visitor, () => page.getByRole('button', { name: 'Export what matches' }).click());
  assert.equal(some.lines.length, 11);
  await visitor.go(`${site}?tab=domains`);
  const all = await exported(visitor, () => page.getByRole('button', { name: 'Export all' }).click());
  assert.equal(all.lines.length, 1 + many + 1, 'one heading, the many, the demo’s');
  assert.equal(new Set(all.lines).size, all.lines.length);
  await visitor.message('1,204 saved as demo-domains.csv');
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});

test('names are pasted, each line says what becomes of it, the number is typed, and what was not deleted stays', async () => {
  await prepared();
  const visitor = await stand.inside('user');
  const { page } = visitor;
  await visitor.go(`${site}?tab=domains`);
  await page.getByRole('button', { name: 'Delete by names…' }).click();
  const pasted = [...Array.from({ length: 1100 }, (_, index) => name(100 + index)), name(100), 'elsewhere.test', 'not a name'];
  await page.fill(`${drawer} textarea`, `HTTPS://${name(99).toUpperCase()}/x\n\n${pasted.join('\n')}`);
  const sum = page.locator(`${drawer} .names-sum`);
  for (const text of ['1,101 to be deleted', '1 not on this site', '1 no domain name', '1 named twice'])
    await sum.getByText(text).waitFor();
  await page.locator(`${drawer} .names-lines li`, { hasText: 'elsewhere.test' }).getByText('not on this site').waitFor();
  await picture(page, 'names-many');
  await page.getByRole('button', { name: 'Delete 1,101 domains' }).click();
  const confirm = page.locator('.ant-modal .ant-btn-dangerous');
  assert.ok(await confirm.isDisabled());
  await page.fill('.ant-modal input', '1100');
  assert.ok(await confirm.isDisabled(), 'another number than there are');
  await page.fill('.ant-modal input', '1101');
  await confirm.click();
  await visitor.message('1,101 domains deleted.');
  assert.equal(await page.inputValue(`${drawer} textarea`), `${name(100)}\nelsewhere.test\nnot a name`);
  assert.equal((await names('list.test')).length, many - 1101);
  assert.ok((await names()).includes('demo.breakwater.test'), 'what was not named stays');
  await page.fill(`${drawer} textarea`, name(0));
  await page.getByRole('button', { name: 'Delete 1 domain' }).click();
  await page.fill('.ant-modal input', name(0));
  await confirm.click();
  await page.waitForSelector(drawer, { state: 'detached' });
  assert.ok(!(await names('list.test')).includes(name(0)));
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});

test('the address of a drawer opens one domain by its id, wherever in the list it stands; one that is gone says so', async () => {
  await prepared();
  const { data } = await done('GET', '/user/site/1/domains?sortBy=createdAt&orderBy=asc&pageSize=10');
  const { id, domainName } = (data as { id: number; domainName: string }[])[0]!;
  const visitor = await stand.inside('user');
  const { page } = visitor;
  const lists: string[] = [];
  page.on('request', request => {
    if (/\/domains\?/.test(request.url())) lists.push(request.url());
  });
  await visitor.go(`${site}?tab=domains&keywords=none.such&edit=${id}`);
  await page.locator(`${drawer} .ant-drawer-title`, { hasText: domainName }).waitFor();
  assert.equal(lists.length, 1, 'no list is searched for it');
  await page.goBack();
  await visitor.go(`${site}?tab=domains`);
  await page.locator('.ant-table-row .link').first().click();
  await page.locator(`${drawer} .ant-drawer-title`).waitFor();
  assert.match(page.url(), /edit=\d+/);
  await page.goBack();
  await page.waitForSelector(`${drawer} form`, { state: 'detached' });
  assert.deepEqual(visitor.takeProblems(), []);

  await visitor.go(`${site}?tab=domains&edit=987654321`);
  await visitor.message('no longer exists');
  await page.waitForFunction(() => !location.search.includes('edit='));
  await visitor.close();
});

test('a purge by host and a module’s domains are chosen among the domains of the site', async () => {
  await prepared();
  const visitor = await stand.inside('user');
  const { page } = visitor;
  await visitor.go(`${site}?tab=purge`);
  await page.locator('.purge-form .ant-segmented-item', { hasText: 'Host' }).click();
  await page.locator('.purge-form [role=combobox]').fill('demo');
  await page.locator('.ant-select-item-option', { hasText: 'demo.breakwater.test' }).click();
  assert.equal(await page.inputValue('.purge-form textarea'), 'demo.breakwater.test');
  await picture(page, 'purge-host');
  await page.locator('.purge-form .ant-btn-primary').click();
  await rowOf(visitor, 'demo.breakwater.test').first().waitFor();

  await visitor.go(`${site}?tab=urlRedirects`);
  await rowOf(visitor, 'old shop').locator('.ant-dropdown-trigger').click();
  await page.locator('.ant-dropdown-menu:visible').getByText('Assign to domains…').click();
  await page.fill(`${drawer} #domainIDs`, 'demo.');
  await page.locator('.ant-select-item-option', { hasText: 'demo.breakwater.test' }).click();
  await page.keyboard.press('Escape');
  await picture(page, 'module-assign');
  await page.click(`${drawer} .ant-drawer-footer .ant-btn-primary`);
  await page.waitForSelector(`${drawer} form`, { state: 'detached' });
  const { data } = await done('GET', '/user/site/1/domains?keywords=demo.breakwater');
  assert.ok(data[0].moduleIDs.urlRedirect);
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});

test('who may only look exports, and finds nothing that deletes or assigns', async () => {
  await prepared();
  const [role] = (
    await done('POST', '/user/role', { name: 'looker', permissionKeys: ['sites.view', 'domains.view', 'modules.view'] })
  ).ids;
  const [id] = (await done('POST', '/user/account', { email: 'looker@list.test', name: 'looker', auth: 'user', role })).ids;
  await done('PUT', '/user/account/password', { id, password });
  await done('POST', '/user/site/users', { siteIDs: [1], userIDs: [id] });
  const visitor = await Visitor.open(stand.browser, stand.whole.origin);
  await visitor.signIn('user', 'looker@list.test', password);
  await visitor.go(`${site}?tab=domains`);
  await visitor.page.getByRole('button', { name: 'Export all' }).waitFor();
  assert.equal(await visitor.page.getByRole('button', { name: 'Delete by names…' }).count(), 0);
  await rowOf(visitor, 'list.test').first().locator('.link').click();
  // as anywhere else: rows to be read, not a form that is grey
  await visitor.page.locator(`${drawer} .view-list td`, { hasText: '8.8.8.8' }).waitFor();
  assert.equal(await visitor.page.locator(`${drawer} input`).count(), 0);
  assert.equal(await visitor.page.locator(`${drawer} .ant-drawer-footer .ant-btn-primary`).count(), 0);
  await visitor.go(`${site}?tab=urlRedirects`);
  await rowOf(visitor, 'old shop').waitFor();
  await rowOf(visitor, 'old shop').locator('.ant-dropdown-trigger').click();
  await visitor.page.locator('.ant-dropdown-menu-item').first().waitFor();
  assert.deepEqual(await visitor.page.locator('.ant-dropdown-menu-item').allInnerTexts(), ['View']);
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});

for (const [theme, width] of [
  ['light', 1440],
  ['dark', 1440],
  ['light', 390],
  ['dark', 390],
] as const)
  test(`deleting by names and one domain stand in zh_TW, ${theme}, ${width} px: nothing serious`, async () => {
    await prepared();
    const visitor = await stand.inside('user', { language: 'zh_TW', theme, width });
    const { page } = visitor;
    await visitor.go(`${site}?tab=domains`);
    await picture(page, `domains-${theme}-${width}`);
    assert.deepEqual(await serious(visitor), []);
    // a long menu stays in the window, and its ends can be reached
    await page.locator('.ant-table-row').first().locator('button[aria-label]').last().click();
    for (const item of [page.getByRole('menuitem').first(), page.getByRole('menuitem').last()]) await item.click({ trial: true });
    await page.keyboard.press('Escape');
    await page.getByRole('menuitem').first().waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: '依名稱刪除…' }).click();
    await page.fill(`${drawer} textarea`, `demo.breakwater.test\n${name(1)}\n${name(1)}\nelsewhere.test\n不是 網域`);
    await page.locator(`${drawer} .names-sum`).waitFor();
    await visitor.settled();
    await picture(page, `names-${theme}-${width}`);
    assert.deepEqual(await serious(visitor), []);
    const [needed, there] = await page.locator(`${drawer} .ant-drawer-body`).evaluate(e => [e.scrollWidth, e.clientWidth]);
    assert.ok(needed! <= there!, `${needed} px in ${there}`);
    await page.fill(`${drawer} textarea`, '');
    await page.locator(`${drawer} .ant-drawer-close`).click();
    await page.waitForSelector(drawer, { state: 'detached' });
    await page.locator('.ant-table-row .link').first().click();
    await page.waitForSelector(`${drawer} form`);
    await picture(page, `domain-${theme}-${width}`);
    assert.deepEqual(await serious(visitor), []);
    assert.deepEqual(visitor.takeProblems(), []);
    await visitor.close();
  });
