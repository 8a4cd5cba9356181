/** What is done with sites from their lists: until when they are served, and what they are tagged. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../edge/test/harness.ts';
import { picture, type Visitor } from './browser.ts';
import { demo } from './demo.ts';
import { serious } from './serious.ts';

const stand = demo();
const drawer = '.ant-drawer-open';
const host = 'demo.breakwater.test';
const sitesOf = { user: '/user/sitesManagement/sites', client: '/client/nodeManage/sitesList' } as const;

interface Site {
  id: number;
  siteName: string;
  tags: string[];
  expired: string | null;
}
async function sites(): Promise<Record<string, Site>> {
  const answer = await stand.whole.call('GET', '/client/sites?pageSize=50', await stand.whole.signIn('client'));
  return Object.fromEntries((answer.body as { data: Site[] }).data.map(site => [site.siteName, site]));
}
async function make() {
  const token = await stand.whole.signIn('client');
  const { body: site } = await stand.whole.call('GET', '/client/site/1', token);
  for (const [siteName, tags] of [
    ['shop', ['shop', 'asia']],
    ['blog', ['asia']],
  ]) {
    const row = { siteName, tags, productID: site.productID, userID: site.userID };
    assert.equal((await stand.whole.call('POST', '/client/site', token, row)).status, 200);
  }
}
let made: Promise<void> | undefined;
const prepared = () => (made ??= make());

const rowOf = ({ page }: Visitor, site: string) =>
  page.locator('.ant-table-row').filter({ has: page.getByRole('link', { name: site, exact: true }) });
async function open(visitor: Visitor, area: 'user' | 'client', names: string[], entry: string) {
  const { page } = visitor;
  await visitor.go(sitesOf[area]);
  if (names.length > 1) {
    for (const name of names) await rowOf(visitor, name).locator('input[type=checkbox]').check();
    await page.locator('.toolbar-chosen').getByRole('button', { name: entry, exact: true }).click();
  } else {
    await rowOf(visitor, names[0]!).locator('.ant-dropdown-trigger').click();
    await page.locator('.ant-dropdown-menu:visible').getByText(entry, { exact: true }).click();
  }
  await page.waitForSelector(`${drawer} form`);
}
const saveButton = ({ page }: Visitor) => page.locator(`${drawer} .ant-drawer-footer .ant-btn-primary`);
async function save(visitor: Visitor) {
  await saveButton(visitor).click();
  await visitor.page.waitForSelector(`${drawer} form`, { state: 'detached' });
}
const preset = ({ page }: Visitor, name: string) => page.locator(`${drawer} .presets`).getByRole('button', { name }).click();

test('a site ends on the day that is set, answers 904 from then on, and is served again when it is extended', async () => {
  await prepared();
  const visitor = await stand.inside('client');
  const { page } = visitor;
  await open(visitor, 'client', ['demo'], 'Set expiry…');
  await page.getByText('all its domains answer 904').waitFor();
  assert.ok(await saveButton(visitor).isDisabled(), 'nothing was changed');
  await page.fill(`${drawer} #expired`, '2024/02/29 10:00:00');
  await page.press(`${drawer} #expired`, 'Enter');
  await page.locator(`${drawer} .field-warning`, { hasText: 'answers 904 at once' }).waitFor();
  await picture(page, 'expiry-past');
  await save(visitor);
  assert.equal(
    (await sites())['demo']!.expired,
    '2024-02-29T02:00:00.000Z',
    'the year is part of it, in the zone of the browser',
  );
  await rowOf(visitor, 'demo').getByText('Expired').waitFor();
  const status = (wanted: number) =>
    until(`visitors get ${wanted}`, async () => (await stand.whole.visit(host, '/')).status === wanted, 30);
  await status(904);

  await open(visitor, 'client', ['demo'], 'Set expiry…');
  const before = Date.now();
  await preset(visitor, '+1 year');
  await page.locator(`${drawer} .field-warning`).waitFor({ state: 'detached' });
  await preset(visitor, '+1 month');
  await save(visitor);
  const ends = Date.parse((await sites())['demo']!.expired!);
  const days = (ends - before) / 86_400_000;
  assert.ok(days > 391 && days < 398, `a year and a month from now, not from 2024: ${days} days`);
  await status(200);
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});

test('several sites get one expiry: what they had is said, and nothing chosen is not never', async () => {
  await prepared();
  const visitor = await stand.inside('client');
  const { page } = visitor;
  await open(visitor, 'client', ['shop'], 'Set expiry…');
  await preset(visitor, '+1 month');
  await save(visitor);
  const { shop } = await sites();
  await open(visitor, 'client', ['shop', 'blog'], 'Set expiry…');
  await page.locator(`${drawer} .mixed li`, { hasText: 'Never' }).waitFor();
  await page.getByRole('button', { name: 'Overwrite all' }).click();
  await saveButton(visitor).click();
  await page.locator(`${drawer} [data-field=expired] .ant-form-item-explain-error`).waitFor();
  assert.deepEqual((await sites())['shop'], shop, 'nothing was sent');
  await preset(visitor, 'Never');
  await save(visitor);
  const now = await sites();
  assert.deepEqual([now['shop']!.expired, now['blog']!.expired], [null, null]);
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});

test('a customer tags one site or several, from the tags in use or new ones, and finds sites by them', async () => {
  await prepared();
  const visitor = await stand.inside('user');
  const { page } = visitor;
  await open(visitor, 'user', ['blog'], 'Tags');
  await page.fill(`${drawer} #tags`, 'sho');
  await page.locator('.ant-select-item-option', { hasText: 'shop' }).click();
  await save(visitor);
  assert.deepEqual((await sites())['blog']!.tags, ['asia', 'shop']);

  await open(visitor, 'user', ['blog', 'shop', 'demo'], 'Tags');
  await page.locator(`${drawer} .mixed li`, { hasText: 'asia, shop' }).waitFor();
  await page.getByRole('button', { name: 'Overwrite all' }).click();
  await page.fill(`${drawer} #tags`, 'spring sale,');
  // one of them is given another tag meanwhile, which is not thrown away unseen
  const token = await stand.whole.signIn('user');
  const { id } = (await sites())['blog']!;
  assert.equal((await stand.whole.call('PUT', `/user/site/${id}/tags`, token, { tags: ['meanwhile'] })).status, 200);
  await saveButton(visitor).click();
  const dialog = page.locator('.ant-modal', { hasText: 'Changed by somebody else meanwhile' });
  await dialog.getByText('blog', { exact: true }).waitFor();
  assert.deepEqual((await sites())['blog']!.tags, ['meanwhile']);
  await dialog.locator('.button-primary').click();
  await page.keyboard.press('Escape');
  visitor.takeProblems(); // the browser reports the 409
  await open(visitor, 'user', ['blog', 'shop', 'demo'], 'Tags');
  await page.getByRole('button', { name: 'Overwrite all' }).click();
  await page.fill(`${drawer} #tags`, 'spring sale,');
  await save(visitor);
  const tagged = await sites();
  for (const name of ['blog', 'shop', 'demo']) assert.deepEqual(tagged[name]!.tags, ['spring', 'sale'], name);

  await open(visitor, 'user', ['demo'], 'Tags');
  await page.fill(`${drawer} #tags`, 'front,');
  await save(visitor);
  const tag = rowOf(visitor, 'demo').locator('.ant-tag', { hasText: 'front' });
  const colours = await Promise.all(
    [
      tag,
      rowOf(visitor, 'demo').locator('.ant-tag', { hasText: 'sale' }),
      rowOf(visitor, 'blog').locator('.ant-tag', { hasText: 'sale' }),
    ].map(one => one.evaluate(e => getComputedStyle(e).backgroundColor)),
  );
  assert.equal(colours[1], colours[2], 'a tag has one colour');
  assert.notEqual(colours[0], colours[1], 'another tag another one');
  await page.locator('.toolbar .ant-select', { hasText: 'Tags' }).click();
  await page.locator('.ant-select-item-option', { hasText: 'front' }).click();
  await rowOf(visitor, 'blog').waitFor({ state: 'detached' });
  assert.equal(await page.locator('.ant-table-row').count(), 1);
  await page.keyboard.press('Escape');
  assert.match(page.url(), /tags=/);
  await page.reload();
  await visitor.settled();
  assert.equal(await page.locator('.ant-table-row').count(), 1, 'the filter stands in the address');
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});

for (const [theme, width] of [
  ['light', 1440],
  ['dark', 1440],
  ['light', 390],
  ['dark', 390],
] as const)
  test(`expiry and tags stand in zh_TW, ${theme}, ${width} px: nothing serious`, async () => {
    await prepared();
    for (const [area, names, entry] of [
      ['client', ['demo'], '設定到期時間'],
      ['client', ['demo', 'shop'], '設定到期時間'],
      ['user', ['demo'], '標籤'],
    ] as ['user' | 'client', string[], string][]) {
      const visitor = await stand.inside(area, { language: 'zh_TW', theme, width });
      await open(visitor, area, names, entry);
      // what asks for a time is loaded when the first form does
      if (area === 'client' && names.length === 1) await visitor.page.waitForSelector(`${drawer} .presets`);
      await visitor.settled();
      const name = `${entry === '標籤' ? 'tags' : 'expiry'}-${names.length}-${theme}-${width}`;
      await picture(visitor.page, name);
      assert.deepEqual(await serious(visitor), []);
      await visitor.page.locator(`${drawer} .ant-drawer-close`).click();
      await visitor.page.waitForSelector(`${drawer} form`, { state: 'detached' });
      if (names.length === 1) {
        await picture(visitor.page, `${name}-list`);
        assert.deepEqual(await serious(visitor), []);
      }
      assert.deepEqual(visitor.takeProblems(), []);
      await visitor.close();
    }
  });
