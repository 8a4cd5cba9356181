/** Two people, or one whose session ended, at the same rows: nobody's work is undone by a save that says it went well. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { password } from '#system/whole.ts';
import { picture, type Visitor } from './browser.ts';
import { demo } from './demo.ts';

const stand = demo();
const drawer = '.ant-drawer-open';
const site = '/user/sitesManagement/sitesSetting/1';
const save = ({ page }: Visitor) => page.click(`${drawer} .ant-drawer-footer .ant-btn-primary`);
const closed = ({ page }: Visitor) => page.waitForSelector('.ant-drawer form', { state: 'detached' });
const notice = ({ page }: Visitor, text: RegExp) => page.locator('.notice', { hasText: text }).first().waitFor();

let token = '';
async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  token ||= await stand.whole.signIn('user');
  const answer = await stand.whole.call(method, path, token, body);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body as T;
}
/** A domain with one origin; `standing()`: its origins as they are */
async function domain(name: string) {
  const { ids } = await call<{ ids: number[] }>('POST', '/user/site/1/domains', {
    domains: [{ domainName: name, upstreams: [{ address: '8.8.8.8' }] }],
  });
  const path = `/user/site/1/domain/${ids[0]}/upstreams`;
  return {
    add: (address: string) => call('POST', path, { upstreams: [{ address }] }),
    standing: async () =>
      (await call<{ data: { address: string; weight: number }[] }>('GET', path)).data
        .map(one => `${one.address} ${one.weight}`)
        .sort(),
  };
}
async function open(visitor: Visitor, name: string) {
  await visitor.go(`${site}?tab=domains&keywords=${name}`);
  await visitor.page.locator('.ant-table-row', { hasText: name }).locator('button.link').first().click();
  await visitor.page.waitForSelector(`${drawer} #upstreams_0_address`);
}

test('who saves origins second keeps what the first did, and is told', async () => {
  const one = await domain('two.together.test');
  const [first, second] = [await stand.inside('user'), await stand.inside('user')];
  await open(first, 'two.together.test');
  await open(second, 'two.together.test');
  await first.page.fill('#upstreams_0_address', '1.1.1.1');
  await save(first);
  await closed(first);
  await second.page.fill('#upstreams_0_weight', '9');
  await save(second);
  await notice(second, /Somebody changed this/);
  await picture(second.page, 'origins-rebased');
  assert.equal(await second.page.inputValue('#upstreams_0_address'), '1.1.1.1');
  assert.deepEqual(await one.standing(), ['1.1.1.1 1'], 'nothing was sent yet');
  await save(second);
  await closed(second);
  assert.deepEqual(await one.standing(), ['1.1.1.1 9']);
  await first.close();
  await second.close();
});

test('of a save that went half way what was done is not done again', async () => {
  const one = await domain('half.together.test');
  const visitor = await stand.inside('user');
  const { page } = visitor;
  await open(visitor, 'half.together.test');
  await page
    .getByRole('button', { name: /origin/i })
    .last()
    .click();
  await page.fill('#upstreams_1_address', '8.8.4.4');
  await page.fill('#upstreams_0_address', '169.254.169.254');
  await save(visitor);
  const said = page.locator(`${drawer} .ant-form-item-explain-error`);
  await said.first().waitFor();
  assert.equal(await page.locator(`${drawer} [data-field="upstreams.0.address"] .ant-form-item-explain-error`).count(), 1);
  await page.fill('#upstreams_0_address', '8.8.8.9');
  await save(visitor);
  await closed(visitor);
  assert.deepEqual(await one.standing(), ['8.8.4.4 1', '8.8.8.9 1']);
  await visitor.close();
});

test('a draft that comes back takes nobody’s origin away', async () => {
  const one = await domain('draft.together.test');
  const visitor = await stand.inside('user');
  const { page } = visitor;
  await open(visitor, 'draft.together.test');
  await page.fill('#upstreams_0_weight', '7');
  await visitor.context.addCookies([{ name: 'u_accessToken', value: 'broken', url: stand.whole.origin }]);
  await save(visitor);
  await one.add('9.9.9.9');
  await page.waitForURL(url => url.search.includes('next='));
  await page.fill('input[name=email]', 'user@breakwater.test');
  await page.fill('input[name=password]', password);
  await page.click('button[type=submit]');
  await page.waitForSelector(`${drawer} #upstreams_1_address`);
  assert.equal(await page.inputValue('#upstreams_0_weight'), '7');
  await save(visitor);
  await closed(visitor);
  assert.deepEqual(await one.standing(), ['8.8.8.8 7', '9.9.9.9 1']);
  await visitor.close();
});

test('a form opens with what the last save made of the row, whatever was sorted before', async () => {
  const visitor = await stand.inside('client');
  const { page } = visitor;
  await visitor.go('/client/nodeManage/zonesList');
  const edit = async (memo: string) => {
    await page.locator('.ant-table-row button.link').first().click();
    await page.waitForSelector(`${drawer} form #memo`);
    const before = await page.inputValue('#memo');
    await page.fill('#memo', memo);
    await save(visitor);
    await closed(visitor);
    return before;
  };
  await edit('first');
  await page.locator('th.ant-table-column-has-sorters').first().click();
  await page.waitForURL(/sortBy=|orderBy=|sort=/);
  await edit('second');
  assert.equal(await edit('third'), 'second');
  await visitor.close();
});
