/** The other side of a row's drawer: what became of it, in the words of its form; older values go back through the form, and nothing unseen is lost. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Look, picture, type Visitor } from './browser.ts';
import { demo } from './demo.ts';

const stand = demo();
const blacklists = '/user/sitesManagement/sitesSetting/1/demo?tab=blacklists';
const path = '/user/site/1/firewall/setting/blacklists';

async function send(area: 'user' | 'client', method: string, path: string, body: unknown) {
  const { status, body: answer } = await stand.whole.call(method, path, await stand.whole.signIn(area), body);
  assert.equal(status, 200, JSON.stringify(answer));
  return answer as { ids: number[] };
}
/** A row of the customer's that the operator has changed too. */
async function changedRow(memo: string): Promise<number> {
  const ips = ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4', '192.0.2.5', '192.0.2.6'];
  const { ids } = await send('user', 'POST', path, { items: [{ ips, blockType: 'deny', memo, enabled: true }] });
  const id = ids[0]!;
  await send('user', 'PUT', path, { id, ips: [...ips.slice(0, 5), '198.51.100.7'] });
  await send('client', 'PUT', path.replace('/user/', '/client/'), { id, blockType: 'drop', memo: `${memo} later` });
  return id;
}
async function open(visitor: Visitor, id: number) {
  await visitor.go(`${blacklists}&edit=${id}`);
  await visitor.page.waitForSelector('.ant-drawer form #memo');
  await visitor.page.locator('.form-sides .ant-segmented-item').last().click();
  await visitor.page.waitForSelector('.history li');
}
const field = ({ page }: Visitor, entry: number, name: string) =>
  page.locator('.history li').nth(entry).locator(`[data-changed=${name}]`);

for (const look of [
  { theme: 'light', width: 1440, language: 'en_US' },
  { theme: 'dark', width: 1440, language: 'zh_CN' },
  { theme: 'light', width: 390, language: 'zh_TW' },
  { theme: 'dark', width: 390, language: 'en_US' },
] as const satisfies Look[])
  test(`each change in the words of the form, newest first, ${look.theme}, ${look.width}, ${look.language}`, async () => {
    const id = await changedRow(`of ${look.theme} ${look.width}`);
    const visitor = await stand.inside('user', look);
    const { page } = visitor;
    await open(visitor, id);
    await picture(page, `history-${look.theme}-${look.width}`);
    assert.equal(await page.locator('.history li').count(), 3);
    // the operator's people have no names here
    const newest = await page.locator('.history li').first().innerText();
    assert.ok(!newest.includes('client@'), newest);
    const words = { en_US: 'the operator', zh_TW: '營運商', zh_CN: '运营商' };
    assert.ok(newest.includes(words[look.language]), newest);
    // an option by its words, a list by what came and went
    const blockType = await field(visitor, 0, 'blockType').innerText();
    assert.ok(!/deny|drop/.test(blockType), blockType);
    assert.equal(await field(visitor, 0, 'blockType').locator('del').count(), 1);
    assert.deepEqual(await field(visitor, 1, 'ips').locator('del').allInnerTexts(), ['192.0.2.6']);
    assert.deepEqual(await field(visitor, 1, 'ips').locator('ins').allInnerTexts(), ['198.51.100.7']);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    assert.deepEqual(visitor.takeProblems(), []);
    await visitor.close();
  });

test('older values come into the form, and are saved by the person against the version that was seen', async () => {
  const id = await changedRow('put back');
  const visitor = await stand.inside('user');
  const { page } = visitor;
  await open(visitor, id);
  await page.locator('.history li').nth(1).getByText('Put these values back').click();
  await visitor.message('take effect when you save');
  assert.match(await page.inputValue('#ips'), /192\.0\.2\.6/);
  assert.equal(await page.inputValue('#memo'), 'put back later', 'what the change did not touch stays');
  // somebody else meanwhile
  await send('client', 'PUT', path.replace('/user/', '/client/'), { id, ips: ['203.0.113.9'] });
  await page.click('.ant-drawer-footer .ant-btn-primary');
  const panel = page.locator('.conflict');
  await panel.waitFor();
  assert.match(await panel.innerText(), /203\.0\.113\.9/);
  await panel.locator('footer .ant-btn-primary').click();
  await page.waitForSelector('.ant-drawer form', { state: 'detached' });
  await open(visitor, id);
  assert.deepEqual(await field(visitor, 0, 'ips').locator('del').allInnerTexts(), ['203.0.113.9']);
  assert.ok((await field(visitor, 0, 'ips').locator('ins').allInnerTexts()).includes('192.0.2.6'));
  assert.deepEqual(
    visitor.takeProblems().filter(line => !line.includes('409')),
    [],
  );
  await visitor.close();
});

for (const look of [{ width: 1440 }, { width: 390, theme: 'dark', language: 'zh_TW' }] as const satisfies Look[])
  test(`a removed row is found with what it held, and made again through the form, ${look.width}`, async () => {
    const memo = `removed at ${look.width}`;
    const { ids } = await send('user', 'POST', path, {
      items: [{ ips: ['192.0.2.77', '192.0.2.78'], blockType: 'drop', memo, enabled: false }],
    });
    await send('user', 'DELETE', path, { ids });
    const visitor = await stand.inside('user', look);
    const { page } = visitor;
    await visitor.go(blacklists);
    await picture(page, `history-list-${look.width}`);
    await page.locator('.anticon-undo').first().click();
    const gone = page.locator('.history li', { hasText: memo });
    await gone.waitFor();
    await picture(page, `history-removed-${look.width}`);
    await gone.locator('button').click();
    await page.waitForSelector('.ant-drawer form #memo');
    await page.waitForFunction(text => (document.querySelector('#memo') as HTMLTextAreaElement | null)?.value === text, memo);
    assert.equal(await page.inputValue('#ips'), '192.0.2.77\n192.0.2.78');
    await page.click('.ant-drawer-footer .ant-btn-primary');
    await page.waitForSelector('.ant-drawer form', { state: 'detached' });
    const list = await stand.whole.call('GET', `${path}?pageSize=500`, await stand.whole.signIn('user'));
    const made = (list.body as { data: { id: number; memo: string; enabled: boolean; blockType: string }[] }).data.find(
      one => one.memo === memo,
    )!;
    assert.notEqual(made.id, ids[0]);
    assert.deepEqual([made.enabled, made.blockType], [false, 'drop']);
    assert.deepEqual(visitor.takeProblems(), []);
    await visitor.close();
  });

test('who removes a row is offered what was removed, and leaves the offer behind with the page', async () => {
  const memo = 'the wrong one';
  const ips = ['192.0.2.91'];
  await send('user', 'POST', path, { items: [1, 2].map(n => ({ ips, blockType: 'drop', memo: `${memo} ${n}`, enabled: true })) });
  const visitor = await stand.inside('user');
  const { page } = visitor;
  const offer = page.locator('.notice-action');
  const removed = async (which: string) => {
    await page.locator('.ant-table-row', { hasText: which }).locator('button[aria-label="More actions"]').click();
    await page.locator('.ant-dropdown-menu-item-danger').click();
    await page.locator('.ant-modal .ant-btn-dangerous').click();
    await offer.waitFor();
  };
  await visitor.go(blacklists);
  await removed(`${memo} 1`);
  await picture(page, 'history-offer');
  await offer.click();
  await page
    .locator('.history li', { hasText: `${memo} 1` })
    .locator('button')
    .click();
  await page.waitForFunction(
    text => (document.querySelector('#memo') as HTMLTextAreaElement | null)?.value === text,
    `${memo} 1`,
  );
  await page.click('.ant-drawer-footer .ant-btn-primary');
  await page.waitForSelector('.ant-drawer form', { state: 'detached' });
  await removed(`${memo} 2`);
  // another section: nothing of this list may be made there
  await page.locator('.sections-link', { hasText: 'Whitelist' }).click();
  await offer.waitFor({ state: 'detached', timeout: 5000 });
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});
