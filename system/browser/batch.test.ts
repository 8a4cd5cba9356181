/** Several rows in one form, and one row that was emptied: what was not chosen stays, and what cannot be taken away says so. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { picture, type Visitor } from './browser.ts';
import { demo } from './demo.ts';

const stand = demo();
const drawer = '.ant-drawer-open';
const site = '/user/sitesManagement/sitesSetting/1';
const names = ['a', 'b', 'c'].map(name => `${name}.batch.test`);
let token = '';
const signIn = async () => (token ||= await stand.whole.signIn('user'));

interface Domain {
  domainName: string;
  tags: string[];
  originHost: string;
  balance: string;
  moduleIDs: Record<string, number>;
}
async function domains(): Promise<Domain[]> {
  const { body } = await stand.whole.call('GET', '/user/site/1/domains?keywords=batch.test&sortBy=domainName&orderBy=asc', token);
  return (body as { data: Domain[] }).data.sort((a, b) => (a.domainName < b.domainName ? -1 : 1));
}
const made = async (path: string, body: unknown) => {
  const answer = await stand.whole.call('POST', path, token, body);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return (answer.body as { ids: number[] }).ids;
};
/** Three domains that differ in tags, Host header and redirects, and have their balance together. */
async function prepare() {
  await signIn();
  const tags = [['blue', 'shop'], ['green'], ['blue', 'shop']];
  const ids = await made('/user/site/1/domains', {
    domains: names.map((domainName, index) => ({
      domainName,
      upstreams: [{ address: '8.8.8.8' }],
      tags: tags[index],
      originHost: index === 1 ? 'other.test' : 'one.test',
      balance: 'ipHash',
    })),
  });
  const [module] = await made('/user/site/1/module/urlRedirects', { modules: [{ name: 'old shop' }] });
  const given = { domainIDs: [ids[0]], moduleID: module };
  assert.equal((await stand.whole.call('PUT', '/user/site/1/domains/module/urlRedirect', token, given)).status, 200);
}

async function open(visitor: Visitor, entry: string) {
  const { page } = visitor;
  await visitor.go(`${site}?tab=domains&keywords=batch.test&pageSize=50`);
  for (const name of names) await page.locator('.ant-table-row', { hasText: name }).locator('input[type=checkbox]').check();
  await page.locator('.toolbar-chosen').getByRole('button', { name: entry, exact: true }).click();
  await page.waitForSelector(`${drawer} form`);
}
const saveButton = ({ page }: Visitor) => page.locator(`${drawer} .ant-drawer-footer .ant-btn-primary`);
const closed = ({ page }: Visitor) => page.waitForSelector(`${drawer} form`, { state: 'detached' });
const said = ({ page }: Visitor, field: string) => page.locator(`${drawer} [data-field="${field}"] .ant-form-item-explain-error`);

test('what the chosen rows have stands in the form; where they differ nothing is sent until somebody overwrites it', async () => {
  await prepare();
  const visitor = await stand.inside('user');
  const { page } = visitor;
  const asIs = await domains();

  for (const [entry, text] of [
    ['Tags', 'blue, shop'],
    ['Origin Host header', 'other.test'],
    ['URL redirects', 'old shop'],
  ] as const) {
    await open(visitor, entry);
    await page.locator(`${drawer} .mixed li`, { hasText: text }).waitFor();
    assert.ok(await saveButton(visitor).isDisabled(), `${entry}: nothing was chosen`);
    await page.keyboard.press('Control+Enter');
    await picture(page, `batch-${entry.replaceAll(' ', '-')}`);
    await page.locator(`${drawer} .ant-drawer-footer .ant-btn`).first().click();
    await closed(visitor);
  }
  await open(visitor, 'Load balancing');
  await page.locator(`${drawer} .ant-segmented-item-selected`, { hasText: /hash/i }).waitFor();
  assert.ok(await saveButton(visitor).isDisabled(), 'all three have the same, and it stands there');
  await page.locator(`${drawer} .ant-drawer-footer .ant-btn`).first().click();
  await closed(visitor);
  // when the house looks where a name leads is its own matter
  const sent = (rows: typeof asIs) =>
    rows.map(row => ({ ...row, cnameCheckedAt: null, cnameSeen: [], zoneServers: [], cnameStatus: null, cnameSince: null }));
  assert.deepEqual(sent(await domains()), sent(asIs), 'nothing was sent');

  await open(visitor, 'URL redirects');
  await page.getByRole('button', { name: 'Overwrite all' }).click();
  await saveButton(visitor).click();
  await said(visitor, 'moduleID').waitFor();
  assert.deepEqual(sent(await domains()), sent(asIs), 'no module is not a choice made by pressing Save');
  await visitor.choose('moduleID', 'old shop');
  await saveButton(visitor).click();
  await closed(visitor);
  const [first, ...others] = await domains();
  assert.ok(first!.moduleIDs['urlRedirect']);
  for (const other of others) assert.deepEqual(other.moduleIDs, first!.moduleIDs);

  await open(visitor, 'Tags');
  await page.getByRole('button', { name: 'Overwrite all' }).click();
  await page.fill(`${drawer} #tags`, 'sale,');
  await saveButton(visitor).click();
  await closed(visitor);
  assert.deepEqual(
    (await domains()).map(one => [one.tags, one.originHost]),
    asIs.map(one => [['sale'], one.originHost]),
  );
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});

test('a field that had a value and was emptied is required: the old value would stay', async () => {
  await signIn();
  await made('/user/site/1/firewall/setting/frequencies', {
    items: [{ urlRegex: '^/emptied', type: 'ip', seconds: 10, times: 50 }],
  });
  await made('/user/site/1/module/cors', {
    modules: [
      {
        ...{ name: 'emptied', allowOrigin: '*', allowMethods: ['GET'], allowHeaders: [], exposeHeaders: [] },
        ...{ allowCredentials: false, maxAge: 600 },
      },
    ],
  });
  const visitor = await stand.inside('user');
  const { page } = visitor;
  const label = (field: string) => page.locator(`${drawer} [data-field="${field}"] label`).innerText();

  await visitor.go(`${site}?tab=frequencies`);
  await page.locator('.ant-table-row .link', { hasText: '^/emptied' }).click();
  await page.fill(`${drawer} #times`, '');
  for (const field of ['urlRegex', 'times', 'seconds', 'priority'])
    assert.doesNotMatch(await label(field), /optional/, `${field} cannot be taken away`);
  await saveButton(visitor).click();
  await said(visitor, 'times').filter({ hasText: 'Required' }).waitFor();
  await picture(page, 'emptied-times');
  await page.fill(`${drawer} #times`, '60');
  await saveButton(visitor).click();
  await closed(visitor);

  await visitor.go(`${site}?tab=cors`);
  await page.locator('.ant-table-row .link', { hasText: 'emptied' }).click();
  await page.fill(`${drawer} #maxAge`, '');
  assert.doesNotMatch(await label('name'), /optional/);
  assert.match(await label('memo'), /optional/);
  assert.match(await label('allowHeaders'), /optional/);
  await saveButton(visitor).click();
  await said(visitor, 'maxAge').filter({ hasText: 'Required' }).waitFor();
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});
