/**
 * The settings of a site: sections in groups that are searched, a card that tells what differs and is not lost without asking, another site
 * in one step, and the same on a telephone and for somebody who may see one of them.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { password } from '#system/whole.ts';
import { shake } from '../../edge/test/certificates.ts';
import { until } from '../../edge/test/harness.ts';
import { type Look, picture, Visitor } from './browser.ts';
import { demo } from './demo.ts';
import { serious } from './serious.ts';

const stand = demo();
const at = (tab: string) => `/user/sitesManagement/sitesSetting/1/demo?tab=${tab}`;
const bar = '.save-bar';

async function saved(): Promise<Record<string, unknown>> {
  const token = await stand.whole.signIn('user');
  return (await stand.whole.call('GET', '/user/site/1/setting/gzip', token)).body as Record<string, unknown>;
}

test('sections stand in groups, are found by their fields, and one that is open says so', async () => {
  const visitor = await stand.inside('user', { language: 'zh_TW' });
  const { page } = visitor;
  await visitor.go(at('whitelists'));
  await visitor.complete();
  assert.deepEqual(await page.locator('.sections-group').allInnerTexts(), ['基本', '快取', '回應', '模組', '防護']);
  assert.deepEqual(await page.locator('.sections-link[aria-current=page]').allInnerTexts(), ['白名單']);
  assert.equal(await page.locator('.section-name').innerText(), '白名單', 'one name in both places');
  await page.fill('.sections-search input', '狀態碼');
  assert.deepEqual(await page.locator('.sections-link').allInnerTexts(), ['錯誤頁面', 'URL 重新導向']);
  await page.fill('.sections-search input', '錯誤');
  await page.press('.sections-search input', 'Enter');
  await page.waitForURL('**tab=errorPages');
  assert.ok((await page.locator('.sections-link').count()) > 10, 'all are there again');
  await page.fill('.sections-search input', 'zzz');
  await page.locator('.sections-nav [role=status]').waitFor();
  assert.deepEqual(await serious(visitor), []);
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});

test('the palette finds a section of the site that was open last, by its name and by its fields', async () => {
  const visitor = await stand.inside('user');
  const { page } = visitor;
  const look = async (text: string) => {
    await page.keyboard.press('Control+k');
    await page.fill('.palette-input', text);
  };
  await visitor.load('/user/dashboard');
  await look('compression');
  await page.locator('.palette-nothing').waitFor();
  await page.keyboard.press('Escape');
  await visitor.load(at('whitelists'));
  await look('compression');
  await page.locator('.palette [aria-selected=true]', { hasText: 'HTTP compression' }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL('**tab=gzip');
  await page.locator('#level').waitFor();
  await look('status code');
  await page.locator('.palette [role=option]', { hasText: 'Error pages' }).waitFor();
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});

test('a card: what differs is said and taken back, a mistake stays, another section asks, giving up leaves nothing', async () => {
  const visitor = await stand.inside('user');
  const { page } = visitor;
  await visitor.go(at('gzip'));
  await page.locator('#level').waitFor();
  assert.equal(await page.locator('.source').innerText(), 'Inherited: defaults');
  assert.equal(await page.locator(`${bar}, .field-differs`).count(), 0);
  await page.fill('#level', '12');
  await page.press('#level', 'Tab');
  await page.locator('.sections-link .status-dot').waitFor();
  await page.click(`${bar} .ant-btn-primary`);
  await page.locator('.ant-form-item-explain-error', { hasText: '9' }).waitFor();
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'level');
  // a narrow window scrolls: what saves stays in sight
  await page.setViewportSize({ width: 1440, height: 500 });
  await page.locator('.shell-content').evaluate(box => (box.scrollTop = 0));
  assert.ok(await page.locator(bar).evaluate(one => one.getBoundingClientRect().bottom <= innerHeight));
  await page.setViewportSize({ width: 1440, height: 900 });

  await page.locator('.sections-link', { hasText: 'Blacklist' }).click();
  const question = page.locator('.ant-modal');
  await question.waitFor();
  await page.keyboard.press('Escape');
  await question.waitFor({ state: 'hidden' });
  assert.match(page.url(), /tab=gzip/);
  assert.equal(await page.inputValue('#level'), '12', 'nothing was lost');

  await page.fill('#level', '9');
  await page.press('#level', 'Tab');
  await page.locator('.field-differs', { hasText: '5' }).waitFor();
  await page.click(`${bar} .ant-btn-primary`);
  await page.locator(bar).waitFor({ state: 'detached' });
  assert.ok(await page.evaluate(() => document.activeElement?.closest('.setting')), 'whoever saved stands on the card');
  await page.locator('.source.own').waitFor();
  assert.deepEqual([(await saved())['level'], (await saved())['from']], [9, 'site']);

  await page.locator('.field-differs .link').click();
  assert.equal(await page.inputValue('#level'), '5');
  await page.locator('.field-differs').waitFor({ state: 'detached' });
  await page.locator(`${bar} .ant-btn`).first().click();
  await page.locator(bar).waitFor({ state: 'detached' });
  assert.equal(await page.inputValue('#level'), '9', 'as it was saved');

  // somebody else saves meanwhile: both are shown, and neither is lost
  const token = await stand.whole.signIn('user');
  const { enabled, types, minLength } = await saved();
  const others = (level: number) =>
    stand.whole.call('PUT', '/user/site/1/setting/gzip', token, { enabled, types, minLength, level });
  assert.equal((await others(3)).status, 200);
  await page.fill('#minLength', '500');
  await page.keyboard.press('Control+Enter');
  await page.locator('.conflict').waitFor();
  assert.equal((await saved())['minLength'], minLength, 'nothing was written');
  await page.locator('.conflict footer .ant-btn-primary').click();
  await page.locator(`${bar}, .conflict`).first().waitFor({ state: 'detached' });
  await page.getByText('HTTP compression set success!').last().waitFor();
  const { level, minLength: least } = await saved();
  assert.deepEqual([level, least], [3, 500]);
  assert.equal(await page.inputValue('#level'), '3');
  assert.deepEqual(
    visitor.takeProblems().filter(one => !one.includes('409')),
    [],
  );
  await visitor.close();
});

test('what was set here is given back: the form shows what counts now, and nothing is to be saved', async () => {
  const token = await stand.whole.signIn('user');
  const set = { enabled: true, types: ['text/css'], minLength: 2000, level: 1 };
  assert.equal((await stand.whole.call('PUT', '/user/site/1/setting/gzip', token, set)).status, 200);
  const visitor = await stand.inside('user', { language: 'zh_TW' });
  const { page } = visitor;
  await visitor.go(at('gzip'));
  await page.locator('.source.own').waitFor();
  assert.equal(await page.inputValue('#level'), '1');
  await picture(page, 'settings-own');
  await page.locator('.setting-head .link').click();
  await page.locator('.ant-modal .ant-btn-primary').click();
  await page.locator('.source:not(.own)').waitFor();
  await page.waitForFunction(() => (document.querySelector('#level') as HTMLInputElement).value === '5');
  assert.equal(await page.locator(`${bar}, .field-differs, .setting-head .link`).count(), 0);
  assert.deepEqual([(await saved())['from'], (await saved())['level']], ['default', 5]);
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});

test('one’s own account is such a card: judged when it is left, both sides of two who save, nothing lost with the session', async () => {
  const visitor = await stand.inside('user');
  const { page } = visitor;
  const token = await stand.whole.signIn('user');
  const own = async () => (await stand.whole.call('GET', '/user/account/self', token)).body as Record<string, unknown>;
  await visitor.go('/user/userManagement/userInformation');
  await page.locator('#name').waitFor();
  assert.equal(await page.locator(bar).count(), 0);
  await page.fill('#name', '');
  await page.press('#name', 'Tab');
  await page.locator('.ant-form-item-explain-error').waitFor();
  assert.equal((await stand.whole.call('PUT', '/user/account/self', token, { name: 'Theirs' })).status, 200);
  await page.fill('#name', 'Mine');
  await page.keyboard.press('Control+Enter');
  await page.locator('.conflict', { hasText: 'Theirs' }).waitFor();
  assert.equal((await own())['name'], 'Theirs');
  await page.locator('.conflict footer .ant-btn-primary').click();
  await visitor.message('Update Information Successful!');
  await page.locator(bar).waitFor({ state: 'detached' });
  assert.equal((await own())['name'], 'Mine');
  visitor.takeProblems(); // the browser reports the 409

  await page.fill('#name', 'Later');
  await page.click('#timezone');
  await page.keyboard.type('Asia/Tokyo');
  await page.locator('.ant-select-item-option', { hasText: 'Asia/Tokyo' }).click();
  await visitor.context.clearCookies();
  await page.keyboard.press('Control+Enter');
  await page.waitForURL(url => url.pathname === '/user' && url.search.includes('next='));
  await page.fill('input[name=email]', 'user@breakwater.test');
  await page.fill('input[name=password]', password);
  await page.click('button[type=submit]');
  await visitor.message('is back');
  assert.equal(await page.inputValue('#name'), 'Later');
  await page.keyboard.press('Control+Enter');
  await visitor.message('Update Information Successful!');
  const { name, timezone } = await own();
  assert.deepEqual([name, timezone], ['Later', 'Asia/Tokyo']);
  visitor.takeProblems(); // and the 401
  await visitor.close();
});

for (const [theme, width] of [
  ['light', 1440],
  ['dark', 390],
] as const)
  test(`one’s own account at ${width} px, ${theme}: nothing serious, nothing wider than the page`, async () => {
    const visitor = await stand.inside('user', { language: 'zh_TW', theme, width });
    const { page } = visitor;
    await visitor.load('/user/userManagement/userInformation');
    await page.fill('#name', 'x');
    await page.locator(bar).waitFor();
    await picture(page, `own-account-${theme}-${width}`);
    assert.deepEqual(await serious(visitor), []);
    assert.ok(await page.evaluate(() => document.querySelector('.shell-content')!.scrollWidth <= innerWidth));
    assert.deepEqual(visitor.takeProblems(), []);
    await visitor.close();
  });

test('on a telephone the sections are one choice, and all of it is used by a finger', async () => {
  const visitor = await stand.inside('user', { width: 390, height: 844, theme: 'dark' });
  const { page } = visitor;
  await visitor.go(at('gzip'));
  await page.locator('#minLength').waitFor();
  assert.equal(await page.locator('.sections-nav').isVisible(), false);
  assert.deepEqual(await serious(visitor), []);
  await picture(page, 'settings-390');
  await page.fill('#minLength', '4321');
  await page.press('#minLength', 'Tab');
  assert.ok(await page.locator(bar).evaluate(one => one.getBoundingClientRect().bottom <= innerHeight + 1));
  await page.locator(`${bar} .ant-btn`).first().click();
  await page.locator(bar).waitFor({ state: 'detached' });
  await page.selectOption('.sections-choice', 'blacklists');
  await page.waitForURL('**tab=blacklists');
  assert.ok(await page.evaluate(() => document.querySelector('.shell-content')!.scrollWidth <= 390));
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});

test('another site is one choice away, in the same section', async () => {
  const { whole } = stand;
  const token = await whole.signIn('client');
  const site = (await whole.call('GET', '/client/site/1', token)).body as { productID: number; userID: number };
  const body = { siteName: 'second', productID: site.productID, userID: site.userID };
  const made = await whole.call('POST', '/client/site', token, body);
  assert.equal(made.status, 200, JSON.stringify(made.body));
  const visitor = await stand.inside('client');
  const { page } = visitor;
  await visitor.go('/client/nodeManage/sitesSetting/1/demo?tab=rates');
  await page.locator('.site-switch').click();
  await page.locator('.ant-select-item-option', { hasText: 'second' }).click();
  await page.waitForURL(`**/sitesSetting/${(made.body as { ids: number[] }).ids[0]}/second?tab=rates`);
  await page.locator('h1', { hasText: 'second' }).waitFor();
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});

test('somebody who may read the settings of a site and nothing else reads them, and finds nothing to press', async () => {
  const { whole } = stand;
  const token = await whole.signIn('user');
  const done = async (method: string, path: string, sent: unknown) => {
    const answer = await whole.call(method, path, token, sent);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body as { ids: [number] };
  };
  const permissionKeys = ['sites.view', 'siteSettings.view'];
  const role = (await done('POST', '/user/role', { name: 'reads', permissionKeys })).ids[0];
  const email = 'reads@breakwater.test';
  const id = (await done('POST', '/user/account', { email, name: 'reads', auth: 'user', role, password })).ids[0];
  await done('POST', '/user/site/users', { siteIDs: [1], userIDs: [id] });
  const visitor = await Visitor.open(stand.browser, whole.origin);
  await visitor.signIn('user', email, password);
  await visitor.go(at('gzip'));
  const card = visitor.page.locator('.setting');
  await card.getByText('image/svg+xml').waitFor();
  assert.equal(await card.locator('input, textarea, button').count(), 0);
  const sections = await visitor.page.locator('.sections-link').allInnerTexts();
  assert.ok(sections.includes('HTTP compression') && !sections.includes('Blacklist'), sections.join());
  await picture(visitor.page, 'settings-read-only');
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});

for (const look of [
  { theme: 'light', width: 1440, language: 'zh_TW' },
  { theme: 'dark', width: 390, height: 844, language: 'en_US' },
] as const satisfies Look[])
  test(`an operator sets HTTP/2 and the code of forced HTTPS for a zone, and the node does so, ${look.width}`, async () => {
    const visitor = await stand.inside('client', look);
    const { page } = visitor;
    const offered = async () =>
      (await shake(stand.whole.edgeHttpsPort, undefined, { ALPNProtocols: ['h2', 'http/1.1'] })).alpn || 'none';
    const wasOn = (await offered()) === 'h2';
    if (look.width === 390) await visitor.go('/client/nodeManage/zoneSetting?zone=1');
    else {
      await visitor.go('/client/nodeManage/zonesList');
      await page.locator('.ant-table-row').first().getByRole('button', { name: '更多' }).click();
      await page.getByRole('menuitem', { name: '設定', exact: true }).click();
      await page.waitForURL('**/zoneSetting?zone=1');
    }
    const codeName = look.language === 'zh_TW' ? '強制 HTTPS 的轉向狀態碼' : 'Status code of forced HTTPS';
    const [http2, code] = ['HTTP/2', codeName].map(name => page.locator(`section[aria-label="${name}"]`));
    await http2!.locator('#enable').waitFor();
    await picture(page, `zone-settings-${look.theme}-${look.width}`);
    assert.deepEqual(await serious(visitor), []);
    assert.ok(await page.evaluate(() => document.querySelector('.shell-content')!.scrollWidth <= innerWidth));
    await http2!.locator('#enable').click();
    await http2!.locator(`${bar} .ant-btn-primary`).click();
    await http2!.locator(bar).waitFor({ state: 'detached' });
    await until('the node offers the other', async () => (await offered()) === (wasOn ? 'http/1.1' : 'h2'), 60);
    await page.getByRole('link', { name: codeName, exact: true }).click();
    await code!.locator('#code').waitFor();
    await code!.getByText('308', { exact: true }).click();
    await picture(page, `zone-settings-changed-${look.theme}-${look.width}`);
    if (!wasOn) await code!.getByText('302', { exact: true }).click();
    await code!.locator(`${bar} .ant-btn-primary`).click();
    await code!.locator(bar).waitFor({ state: 'detached' });
    const token = await stand.whole.signIn('client');
    const read = await stand.whole.call('GET', '/client/zone/1/setting/forceSSLRedirectCode', token);
    assert.deepEqual([read.body.code, read.body.from], [wasOn ? 308 : 302, 'zone']);
    assert.deepEqual(visitor.takeProblems(), []);
    await visitor.close();
  });
