/** Sites shown to sub-accounts: who chooses them sees what follows, and they see a site from then on, until it is withdrawn. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { password } from '#system/whole.ts';
import { type Area, picture, Visitor } from './browser.ts';
import { demo } from './demo.ts';
import { serious } from './serious.ts';

const stand = demo();
const drawer = '.ant-drawer-open';
const sitesOf = { user: '/user/sitesManagement/sites', client: '/client/nodeManage/sitesList' } as const;
const [editor, guest] = ['editor@share.test', 'guest@share.test'];
const people: Record<string, number> = {};

const done = async (area: 'user' | 'client', method: string, path: string, body?: unknown) => {
  const answer = await stand.whole.call(method, `/${area}${path}`, await stand.whole.signIn(area), body);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body;
};

/** Two sub-accounts of the customer, and sites beside the demo's; one of them another customer's. */
async function make() {
  for (const [email, permissionKeys] of [
    [editor, ['sites.view', 'sites.edit', 'domains.view', 'accounts.view']],
    [guest, ['sites.view', 'domains.view']],
  ] as const) {
    const role = (await done('user', 'POST', '/role', { name: email.split('@')[0], permissionKeys })).ids[0];
    const [id] = (await done('user', 'POST', '/account', { email, name: email.split('@')[0], auth: 'user', role })).ids;
    await done('user', 'PUT', '/account/password', { id, password });
    people[email] = id;
  }
  const site = (await done('client', 'GET', '/site/1')) as { productID: number; userID: number };
  for (const siteName of ['shop', 'blog'])
    await done('client', 'POST', '/site', { siteName, productID: site.productID, userID: site.userID });
  const [userID] = (await done('client', 'POST', '/account', { email: 'other@share.test', name: 'other', auth: 'user' })).ids;
  await done('client', 'POST', '/site', { siteName: 'foreign', productID: site.productID, userID });
}
let made: Promise<void> | undefined;
const prepared = () => (made ??= make());

async function as(email: string): Promise<Visitor> {
  const visitor = await Visitor.open(stand.browser, stand.whole.origin);
  await visitor.signIn('user', email, password);
  return visitor;
}
const rowOf = ({ page }: Visitor, site: string) => page.locator('.ant-table-row', { hasText: site });
async function menuOf(visitor: Visitor, site: string) {
  await rowOf(visitor, site).locator('.ant-dropdown-trigger').click();
  await visitor.page.locator('.ant-dropdown-menu:visible').waitFor();
  return visitor.page.locator('.ant-dropdown-menu:visible');
}
async function openDrawer(visitor: Visitor, area: 'user' | 'client', sites: readonly string[], entry = 'Share…') {
  const { page } = visitor;
  await visitor.go(sitesOf[area]);
  for (const site of sites.length > 1 ? sites : []) await rowOf(visitor, site).locator('input[type=checkbox]').check();
  if (sites.length > 1) await page.locator('.toolbar-chosen').getByRole('button', { name: entry }).click();
  else await (await menuOf(visitor, sites[0]!)).getByText(entry, { exact: true }).click();
  await page.waitForSelector(`${drawer} form.inline-form`);
}
async function choose({ page }: Visitor, ...emails: string[]) {
  await page.locator(`${drawer} [role=combobox]`).first().click();
  for (const email of emails) await page.locator('.ant-select-item-option', { hasText: email }).click();
  await page.keyboard.press('Escape');
}
const give = ({ page }: Visitor) => page.locator(`${drawer} form.inline-form .ant-btn-primary`).first();
const member = ({ page }: Visitor, email: string) => page.locator(`${drawer} .members li`, { hasText: email });
/** What the account sees in its own list. */
async function sees(visitor: Visitor): Promise<string[]> {
  await visitor.go(sitesOf.user);
  return (await visitor.page.locator('.ant-table-row .ant-table-cell-fix-start a').allInnerTexts()).sort();
}

test('a sub-account sees a site once it was shared with it, by whoever may, and no longer once it was withdrawn', async () => {
  await prepared();
  const [owner, its] = [await stand.inside('user'), await as(guest)];
  assert.deepEqual(await sees(its), []);

  await openDrawer(owner, 'user', ['demo']);
  await owner.page.getByText('only the main account sees it').waitFor();
  await owner.page.getByText('without a role it sees nothing').waitFor();
  await choose(owner, guest!);
  // chosen and not given yet: closing asks first
  await owner.page.locator(`${drawer} .ant-drawer-close`).click();
  await owner.page.locator('.ant-modal').getByRole('button', { name: 'Cancel' }).click();
  await give(owner).click();
  await owner.message('Assign Site Success !');
  await member(owner, guest!).waitFor();
  assert.deepEqual(await sees(its), ['demo'], 'shared: it stands in its list');
  await its.go('/user/sitesManagement/sitesSetting/1/demo');
  await its.page.locator('.page-title', { hasText: 'demo' }).waitFor();

  // who has it cannot be chosen again, and the row says how many have it
  await owner.page.locator(`${drawer} [role=combobox]`).click();
  await owner.page.locator('.ant-select-item-option-disabled', { hasText: `${guest} · already shared` }).waitFor();
  await owner.page.keyboard.press('Escape');
  await owner.page.locator(`${drawer} .ant-drawer-close`).click();
  await rowOf(owner, 'demo').getByRole('button', { name: '1', exact: true }).click();
  await member(owner, guest!)
    .getByRole('button', { name: `Withdraw: ${guest}` })
    .click();
  await owner.message('Withdrawn.');
  await member(owner, guest!).waitFor({ state: 'detached' });
  assert.deepEqual(await sees(its), [], 'withdrawn: it is gone from its list');
  await its.go('/user/sitesManagement/sitesSetting/1/demo');
  await its.page.getByText('This no longer exists').waitFor();
  its.takeProblems(); // the browser reports the 404 of the page that is gone
  for (const visitor of [owner, its]) {
    assert.deepEqual(visitor.takeProblems(), []);
    await visitor.close();
  }
});

test('the operator shares several sites at once, each with accounts of its own customer alone', async () => {
  await prepared();
  const [operator, its] = [await stand.inside('client'), await as(guest!)];
  await openDrawer(operator, 'client', ['shop', 'blog', 'foreign']);
  const ofCustomer = (email: string) => operator.page.locator(`${drawer} .share`, { hasText: email });
  await ofCustomer('other@share.test').locator('[role=combobox]').click();
  await operator.page.getByText('no sub-account to share with').waitFor();
  await operator.page.keyboard.press('Escape');
  const mine = ofCustomer('user@breakwater.test');
  await mine.locator('[role=combobox]').fill('guest');
  // the server searches: who does not match is not offered any more
  await operator.page.locator('.ant-select-item-option', { hasText: editor! }).waitFor({ state: 'detached' });
  await operator.page.locator('.ant-select-item-option', { hasText: guest! }).click();
  await operator.page.keyboard.press('Escape');
  await mine.locator('.ant-btn-primary').click();
  await operator.message('Assign Site Success !');
  assert.deepEqual(await sees(its), ['blog', 'shop']);
  await operator.page.locator(`${drawer} .ant-drawer-close`).click();

  // of several sites it says how many, and withdraws all of them
  await openDrawer(operator, 'client', ['demo', 'shop', 'blog']);
  await member(operator, guest!).getByText('2 of the 3 chosen sites').waitFor();
  await member(operator, guest!).getByRole('button').click();
  await operator.message('Withdrawn.');
  assert.deepEqual(await sees(its), []);
  for (const visitor of [operator, its]) {
    assert.deepEqual(visitor.takeProblems(), []);
    await visitor.close();
  }
});

test('who may not share finds no entry; who may, but not with everybody, is told why', async () => {
  await prepared();
  await done('user', 'POST', '/site/users', { siteIDs: [1], userIDs: [people[editor!], people[guest!]] });
  const reader = await as(guest!);
  await reader.go(sitesOf.user);
  assert.doesNotMatch(await (await menuOf(reader, 'demo')).innerText(), /Share/);
  const writer = await as(editor!);
  await openDrawer(writer, 'user', ['demo']);
  await member(writer, guest!).getByText('Only accounts below yours').waitFor();
  assert.ok(await member(writer, guest!).getByRole('button').isDisabled());
  assert.ok(await member(writer, editor!).getByText('This is your own account').isVisible());
  for (const visitor of [reader, writer]) {
    assert.deepEqual(visitor.takeProblems(), []);
    await visitor.close();
  }
});

test('whose accounts are below whom stands in a list of its own', async () => {
  await prepared();
  const operator = await stand.inside('client');
  await operator.go('/client/userManagement/users?auth=user');
  await (await menuOf(operator, 'user@breakwater.test')).getByText('Show sub-accounts').click();
  await rowOf(operator, editor!).waitFor();
  await operator.page.getByText('Below user@breakwater.test').waitFor();
  assert.equal(await operator.page.locator('.ant-table-row').count(), 2);
  await operator.page.fill('.filter-search input', 'guest');
  await operator.page.keyboard.press('Enter');
  await rowOf(operator, editor!).waitFor({ state: 'detached' });
  await rowOf(operator, guest!).waitFor();
  await picture(operator.page, 'share-below');
  assert.deepEqual(operator.takeProblems(), []);
  await operator.close();
});

const looks = [
  { theme: 'light', width: 1440 },
  { theme: 'dark', width: 1440 },
  { theme: 'light', width: 390 },
  { theme: 'dark', width: 390 },
] as const;
for (const { theme, width } of looks)
  test(`sharing stands in zh_TW, ${theme}, ${width} px: nothing serious, nothing cut off`, async () => {
    await prepared();
    await done('user', 'POST', '/site/users', { siteIDs: [1], userIDs: [people[editor!], people[guest!]] });
    for (const [area, sites] of [
      ['user', ['demo']],
      ['client', ['demo', 'shop', 'foreign']],
    ] as [Exclude<Area, 'admin'>, string[]][]) {
      const visitor = await stand.inside(area, { language: 'zh_TW', theme, width, height: 900 });
      await openDrawer(visitor, area, sites, '指派帳號');
      await member(visitor, guest!).waitFor();
      await visitor.settled();
      await picture(visitor.page, `share-${area}-${theme}-${width}`);
      assert.deepEqual(await serious(visitor), []);
      const box = await visitor.page.locator(`${drawer} .ant-drawer-body`).evaluate(e => [e.scrollWidth, e.clientWidth]);
      assert.ok(box[0]! <= box[1]!, `${box}`);
      await visitor.page.locator(`${drawer} .ant-drawer-close`).click();
      await picture(visitor.page, `share-${area}-list-${theme}-${width}`);
      assert.deepEqual(visitor.takeProblems(), []);
      await visitor.close();
    }
  });
