/** Hostnames of an operator that is not the installation's owner, on the two screens that name them: the record that is asked for, found, and taken. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { password } from '#system/whole.ts';
import { TxtServer } from '../../server/test/txt-server.ts';
import { type Look, picture, Visitor } from './browser.ts';
import { demo } from './demo.ts';
import { focusedIs, press, typeInto } from './keys.ts';
import { serious } from './serious.ts';

const branding = '/client/userManagement/customizeLogo';
const address = '/client/systemManagement/systemSetting?tab=outgoingURL';
const proof = '.host-proof';
let dns: TxtServer;
const stand = demo(undefined, async () => {
  dns = await TxtServer.start();
  return { BREAKWATER_DNS_RESOLVERS: dns.address };
});
after(() => dns?.stop());

/** Somebody of an operator that the vendor made: the demo's own owns the installation, and is asked for no record. */
async function operator(name: string, look?: Look): Promise<Visitor> {
  const email = `${name}@house.test`;
  const { whole, browser } = stand;
  const made = await whole.call('POST', '/admin/account', await whole.signIn('admin'), { auth: 'client', email, name, password });
  assert.equal(made.status, 200, JSON.stringify(made.body));
  const { status, body } = await whole.call('POST', '/client/verify', undefined, { email, password });
  assert.equal(status, 200, JSON.stringify(body));
  const visitor = await Visitor.open(browser, whole.origin, look);
  await visitor.enter('client', body as { accessToken: string; refreshToken: string });
  await visitor.context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: visitor.origin });
  return visitor;
}

/** Copies what stands after this word, as somebody does who goes on to their zone. */
async function copied({ page }: Visitor, word: string): Promise<string> {
  const line = page.locator(`${proof} .facts > div`, { has: page.getByText(word, { exact: true }) });
  await line.getByRole('button').click();
  await line.locator('.anticon-check').waitFor();
  return page.evaluate(() => navigator.clipboard.readText());
}
const fits = async ({ page }: Visitor) =>
  assert.deepEqual(
    await page.locator(`${proof}, ${proof} *`).evaluateAll(all => {
      const right = document.querySelector('.host-proof')!.getBoundingClientRect().right;
      return all.filter(one => one.getBoundingClientRect().right > Math.min(right, innerWidth) + 0.5).map(one => one.outerHTML);
    }),
    [],
  );
const clean = (visitor: Visitor, expected = /^$/) =>
  assert.deepEqual(
    visitor.takeProblems().filter(one => !expected.test(one)),
    [],
  );

const said = {
  zh_TW: {
    name: '名稱',
    value: '內容',
    again: '重新檢查',
    missing: '尚未找到',
    proven: '可以儲存',
    refused: '儲存時還沒有',
    other: '都不是這一筆',
  },
  en_US: {
    name: 'Name',
    value: 'Value',
    again: 'Check again',
    missing: 'no such record yet',
    proven: 'you can save',
    refused: 'not found when you saved',
    other: 'none with this value',
  },
} as const;
for (const [nth, look] of (
  [
    { width: 1440, language: 'zh_TW', theme: 'light' },
    { width: 390, language: 'en_US', theme: 'dark' },
    { width: 1440, language: 'en_US', theme: 'dark' },
    { width: 390, language: 'zh_TW', theme: 'light' },
  ] as const
).entries())
  test(`a hostname of branding: what to add is shown, looked for until it is there, and the hostname saved, ${look.width} ${look.language}`, async () => {
    const visitor = await operator(`shows${nth}`, look);
    const { page } = visitor;
    const words = said[look.language];
    const host = `cdn${nth}.house.test`;
    const shot = (step: string) => picture(page, `hostname-${step}-${look.width}-${look.language}-${look.theme}`);
    const state = (text: string) => page.locator(`${proof} [role=status]`, { hasText: text }).waitFor();
    await visitor.load(branding);
    await page.keyboard.press('c');
    // as it is pasted out of an address bar
    await typeInto(page, '.ant-drawer-open #hostname', ` HTTPS://${host.toUpperCase()}/`);
    await page.keyboard.press('Tab');
    await state(words.missing);
    assert.equal(await page.inputValue('.ant-drawer-open #hostname'), host);
    await page.locator(proof).scrollIntoViewIfNeeded();
    await shot('missing');
    await fits(visitor);
    assert.deepEqual(await serious(visitor, '.ant-drawer-open'), []);
    const record = await copied(visitor, words.name);
    assert.equal(record, `_breakwater.${host}`);
    const value = await copied(visitor, words.value);

    // saved too early it is refused at its field
    await page.keyboard.press('Control+Enter');
    await page.locator('[data-field=hostname] .ant-form-item-explain-error', { hasText: words.refused }).waitFor();
    await shot('refused');
    // one that somebody mistyped
    dns.records.set(record, [`${value}0`]);
    await press(page, 'button', words.again, proof);
    await state(words.other);
    await shot('other');
    dns.records.set(record, ['v=spf1 -all', value]);
    await press(page, 'button', words.again, proof);
    await state(words.proven);
    // what the refused save said is not so any more
    await page.locator('[data-field=hostname] .ant-form-item-explain-error').waitFor({ state: 'detached' });
    // whoever asked again by keyboard stands where they stood
    await focusedIs(page, page.locator(proof).getByRole('button', { name: words.again }));
    await shot('proven');
    await page.keyboard.press('Control+Enter');
    await page.locator('.ant-table-row', { hasText: host }).waitFor();
    clean(visitor, /400/);
    await visitor.close();
  });

test('the console’s address asks for the same record, by keyboard alone; where nobody answers, nobody knows', async () => {
  const visitor = await operator('moves');
  const { page } = visitor;
  await visitor.load(address);
  const state = (text: string) => page.locator(`${proof} [role=status]`, { hasText: text }).waitFor();
  const asking = '**/outgoingURL/proof?*';
  // where the first question finds no answer the next one is asked by the same button
  await page.route(asking, route => route.abort());
  await typeInto(page, '#outgoingURL', 'https://Console.House.test:8443');
  await state('could not be checked');
  const next = Promise.withResolvers<void>();
  await page.unroute(asking);
  await page.route(asking, async route => {
    await next.promise;
    await route.fallback();
  });
  await press(page, 'button', 'Check again', proof);
  await state('Checking');
  next.resolve();
  await focusedIs(page, page.locator(proof).getByRole('button', { name: 'Check again' }));
  await page.unroute(asking);
  visitor.takeProblems();
  await state('no such record yet');
  await fits(visitor);
  await picture(page, 'hostname-address');
  const record = await copied(visitor, 'Name');
  assert.equal(record, '_breakwater.console.house.test');
  const value = await copied(visitor, 'Value');
  // a question that finds no answer leaves nobody without a word
  await page.route(asking, route => route.abort());
  await press(page, 'button', 'Check again', proof);
  await state('could not be checked');
  await page.unroute(asking);
  visitor.takeProblems();
  dns.records.set(record, 'servfail');
  await press(page, 'button', 'Check again', proof);
  await state('did not answer');
  await picture(page, 'hostname-address-unanswered');
  dns.records.set(record, [value]);
  await press(page, 'button', 'Check again', proof);
  await state('you can save');
  await typeInto(page, '#ownPassword', password);
  await page.keyboard.press('Control+Enter');
  await visitor.message('Modify Success');
  await page.locator(proof).waitFor({ state: 'detached' });
  // what was aborted is told in the console
  clean(visitor, /Failed to fetch/);
  await visitor.close();
});

test('another operator’s hostname, and the installation’s own, are refused at the field on both screens', async () => {
  const visitor = await operator('covets');
  const { page } = visitor;
  const host = 'cdn0.house.test';
  const error = (field: string, text: string) =>
    page.locator(`[data-field=${field}] .ant-form-item-explain-error`, { hasText: text }).waitFor();
  await visitor.load(branding);
  await page.keyboard.press('c');
  await typeInto(page, '.ant-drawer-open #hostname', host);
  // it shows that it may write there, and yet
  await page.locator(proof).waitFor();
  const value = await copied(visitor, 'Value');
  dns.records.set(`_breakwater.${host}`, [value]);
  await press(page, 'button', 'Check again', proof);
  await page.locator(proof, { hasText: 'you can save' }).waitFor();
  await page.keyboard.press('Control+Enter');
  await error('hostname', 'operator');
  await picture(page, 'hostname-taken');
  await typeInto(page, '.ant-drawer-open #hostname', 'localhost');
  await page.keyboard.press('Control+Enter');
  await error('hostname', 'owner');
  await picture(page, 'hostname-installation');
  clean(visitor, /40[09]/);
  await visitor.close();

  const other = await operator('covets-too');
  await other.load(address);
  await typeInto(other.page, '#outgoingURL', `https://${host}`);
  await other.page.locator(proof).waitFor();
  dns.records.set(`_breakwater.${host}`, [await copied(other, 'Value')]);
  await press(other.page, 'button', 'Check again', proof);
  await other.page.locator(proof, { hasText: 'you can save' }).waitFor();
  await typeInto(other.page, '#ownPassword', password);
  await other.page.keyboard.press('Control+Enter');
  await other.page.locator('[data-field=outgoingURL] .ant-form-item-explain-error', { hasText: 'operator' }).waitFor();
  await picture(other.page, 'hostname-address-taken');
  clean(other, /409/);
  await other.close();
});
