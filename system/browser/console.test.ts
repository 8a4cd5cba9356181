/** The console in a real browser, against the whole product: the newcomer's walk from sign-in to chart, the session, and what every page owes. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { originServer, password, Whole } from '#system/whole.ts';
import { type Area, openBrowser, picture, Visitor } from './browser.ts';

const host = 'shop.breakwater.test';
let whole: Whole;
let browser: Browser;
let origin: Awaited<ReturnType<typeof originServer>>;
let asked = 0;

before(async () => {
  origin = await originServer((request, response) => {
    asked++;
    response.writeHead(200, { 'content-type': 'text/plain', 'cache-control': 'max-age=60' });
    response.end(`hello from ${request.url}`);
  });
  // each is there to be ended, also when the other never came
  await Promise.all([Whole.start().then(one => (whole = one)), openBrowser().then(one => (browser = one))]);
});
after(async () => {
  await browser?.close();
  await whole?.stop();
  await origin?.stop();
});

const mail = (area: Area) => `${area}@breakwater.test`;
async function inside(area: Area, look = {}): Promise<Visitor> {
  const visitor = await Visitor.open(browser, whole.origin, look);
  await visitor.signIn(area, mail(area), password);
  return visitor;
}
/** Opens the drawer of a new row. */
async function create(visitor: Visitor) {
  await visitor.page.locator('.ant-btn-primary', { hasText: 'Create' }).first().click();
  await visitor.page.waitForSelector('.ant-drawer form');
}
async function save(visitor: Visitor) {
  await visitor.page.click('.ant-drawer-footer .ant-btn-primary');
  await visitor.page.waitForSelector('.ant-drawer form', { state: 'detached' });
}

test('a stranger is told what is wrong, and sees no page of the inside', async () => {
  const stranger = await Visitor.open(browser, whole.origin, { language: 'zh_TW' });
  await stranger.go('/client/nodeManage/zonesList');
  assert.match(stranger.page.url(), /\/client\?next=/, 'without a session the form opens');
  await stranger.page.click('button[type=submit]');
  assert.deepEqual(await stranger.page.locator('.field-error').allTextContents(), ['必填', '必填']);
  await stranger.page.fill('input[name=email]', mail('client'));
  await stranger.page.fill('input[name=password]', 'not the password');
  await stranger.page.click('button[type=submit]');
  await stranger.message('登入資訊不正確');
  assert.equal(await stranger.page.evaluate(() => document.querySelector('.notices')!.getBoundingClientRect().top), 50);
  await stranger.go('/client/verifyAccount');
  assert.match(stranger.page.url(), /\/client$/, 'VerifyAccount without e-mail and password returns to the form');
  await stranger.go('/somewhere/else');
  await stranger.page.waitForSelector('.fullpage-code');
  await stranger.page.waitForURL('**/user', { timeout: 20_000 });
  await stranger.close();
});

test('a newcomer comes from sign-in to a chart', async t => {
  const operator = await inside('client');
  const { page } = operator;

  await t.test('the operator sees one zone with one healthy node', async () => {
    await operator.message('Login Success! Welcome!');
    await operator.go('/client/nodeManage/zonesList');
    await page.locator('.panel', { hasText: 'local' }).first().waitFor();
    await operator.go('/client/nodeManage/nodesList');
    await page.locator('.ant-table-row', { hasText: 'local-1' }).getByText('Normal').first().waitFor();
    await picture(page, 'nodes');
  });

  await t.test('the operator makes a product and a site for a customer', async () => {
    await operator.go('/client/nodeManage/productsList');
    await create(operator);
    await page.fill('#name', 'starter');
    await operator.choose('groupID', 'main');
    await save(operator);
    await page.locator('.ant-table-row', { hasText: 'starter' }).waitFor();

    await operator.go('/client/nodeManage/sitesList');
    await create(operator);
    await page.click('.ant-drawer-footer .ant-btn-primary');
    await page.locator('.ant-form-item-explain-error').first().waitFor();
    assert.equal(await page.evaluate(() => document.activeElement?.id), 'siteName', 'the first broken field is focused');
    await page.fill('#siteName', 'shop');
    await operator.choose('userID', mail('user'));
    await operator.choose('productID', 'starter');
    await save(operator);
    await page.locator('.ant-table-row', { hasText: 'shop' }).waitFor();
    await picture(page, 'sites');
  });
  assert.deepEqual(operator.takeProblems(), []);
  await operator.close();

  const customer = await inside('user');
  await t.test('the customer adds a domain, and the edge serves it', async () => {
    await customer.go('/user/sitesManagement/sites');
    await customer.page.click('.ant-table-row a');
    await customer.page.waitForURL('**/sitesSetting/**');
    await customer.settled();
    await create(customer);
    await customer.page.fill('#domainName', host);
    await customer.page.fill('#upstreams_0_address', '127.0.0.1');
    await customer.page.fill('#upstreams_0_port', String(origin.port));
    await customer.choose('upstreams_0_protocol', 'HTTP');
    await save(customer);
    await customer.page.locator('.ant-table-row', { hasText: host }).waitFor();
    await customer.page.locator('.applied', { hasText: /applied: 1 of 1 node, \d+ ms/ }).waitFor();
    await picture(customer.page, 'site');

    const answers = [await whole.visit(host, '/'), await whole.visit(host, '/')];
    assert.deepEqual(
      answers.map(({ status, headers }) => [status, headers['x-cache']]),
      [
        [200, 'MISS'],
        [200, 'HIT'],
      ],
    );
    assert.equal(asked, 1);
  });

  await t.test('the requests stand in the access log and on the dashboard', async () => {
    await customer.go('/user/dataAnalysis/logger');
    const rows = customer.page.locator('.ant-table-row', { hasText: host });
    await rows.nth(1).waitFor({ timeout: 60_000 });
    await picture(customer.page, 'access-log');
    await customer.go('/user/dashboard');
    await customer.page.locator('.chart canvas').first().waitFor();
    await picture(customer.page, 'dashboard');
  });

  await t.test('a purged page is asked of its origin again', async () => {
    await customer.go('/user/sitesManagement/sites');
    await customer.page.click('.ant-table-row a');
    await customer.page.locator('.sections-link', { hasText: /^Purge$/ }).click();
    await customer.page.fill('.purge-form textarea', `http://${host}/`);
    await customer.page.click('.purge-form .ant-btn-primary');
    await customer.page.locator('.ant-table-row', { hasText: 'Completed' }).waitFor();
    assert.equal((await whole.visit(host, '/')).headers['x-cache'], 'MISS');
  });

  await t.test('a form says under its field what the rules say, and sends nothing', async () => {
    await customer.page.locator('.sections-link', { hasText: 'Blacklist' }).click();
    await create(customer);
    await customer.page.fill('#ips', '192.0.2.1\nnonsense\n192.0.2.1');
    await customer.page.click('.ant-drawer-footer .ant-btn-primary');
    const said = customer.page.locator('.ant-form-item-explain-error');
    await said.first().waitFor();
    assert.match((await said.allTextContents()).join(' '), /Line 2: Write an IP, a CIDR block or a range/);
    await customer.page.fill('#ips', '198.51.100.0/24');
    await save(customer);
    await customer.page.locator('.ant-table-row', { hasText: '198.51.100.0/24' }).waitFor();
  });
  assert.deepEqual(customer.takeProblems(), []);
  await customer.close();
});

test('a session that has ended leads to the form with a message, another area’s credentials are not taken', async () => {
  const visitor = await inside('user');
  const cookies = await visitor.context.cookies();
  const held = cookies.filter(cookie => /^u_(?!device)/.test(cookie.name));
  assert.deepEqual(
    held.map(cookie => [cookie.name, cookie.sameSite, cookie.domain, cookie.path]).sort(),
    ['u_accessToken', 'u_refreshToken', 'u_tokenType'].map(name => [name, 'Strict', '127.0.0.1', '/']),
  );
  await visitor.context.addCookies(held.map(({ name, value }) => ({ name: name.replace('u_', 'c_'), value, url: whole.origin })));
  await visitor.go('/client/dashboard');
  await visitor.message('Auth is not match !');
  assert.match(visitor.page.url(), /\/client$/);
  assert.equal((await visitor.context.cookies()).filter(cookie => cookie.name.startsWith('c_')).length, 0);

  await visitor.go('/user/dashboard');
  await visitor.context.addCookies([{ name: 'u_accessToken', value: 'broken', url: whole.origin }]);
  await visitor.page.locator('.menu-entry', { hasText: 'Sites' }).first().click();
  await visitor.page.waitForURL(url => url.pathname === '/user' && url.search.startsWith('?next='));
  await visitor.message('Your session has ended');
  assert.equal((await visitor.context.cookies()).filter(cookie => /^u_(?!device)/.test(cookie.name)).length, 0);
  await visitor.close();
});

test('what is wrong stands above every page, the worst first and the rest on demand, and goes when it is mended', async () => {
  const operator = await Visitor.open(browser, whole.origin, { width: 390, height: 844 });
  const trouble = (check: string, state: string) => ({
    check,
    key: '',
    state,
    since: new Date().toISOString(),
    sentence: `${check} is away`,
    advice: 'Look at it.',
    nodeID: null,
  });
  const troubles = [trouble('bus', 'fail'), trouble('disk', 'warn')];
  await operator.page.route('**/api/v1/client/systemHealth', route => route.fulfill({ json: { state: 'fail', troubles } }));
  await operator.signIn('client', mail('client'), password);
  const banner = operator.page.locator('.health');
  await banner.waitFor();
  assert.match((await banner.textContent())!, /bus is away.*since .*Look at it\./);
  assert.doesNotMatch((await banner.textContent())!, /disk is away/);
  await banner.getByRole('button', { name: 'Show 1 more' }).click();
  assert.equal(await banner.locator('li').count(), 2);
  assert.equal(
    await operator.page.evaluate(() => document.documentElement.scrollWidth),
    390,
    'a narrow page does not grow wider',
  );
  await picture(operator.page, 'trouble');
  await operator.page.unroute('**/api/v1/client/systemHealth');
  await operator.go('/client/nodeManage/nodesList');
  await banner.waitFor({ state: 'detached' });
  assert.deepEqual(operator.takeProblems(), []);
  await operator.close();
});

test('switchUser takes over credentials and leaves no trace of them', async () => {
  const token = await whole.call('POST', '/user/verify', undefined, { email: mail('user'), password });
  const { accessToken, refreshToken, tokenType } = token.body as Record<string, string>;
  const visitor = await Visitor.open(browser, whole.origin);
  await visitor.go(`/user/switchUser?${new URLSearchParams({ accessToken, refreshToken, tokenType } as Record<string, string>)}`);
  await visitor.page.waitForURL('**/user/dashboard');
  await visitor.page.goBack().catch(() => null);
  assert.doesNotMatch(visitor.page.url(), /Token/);
  await visitor.go('/user/switchUser?accessToken=a&refreshToken=b');
  assert.match(visitor.page.url(), /\/user(\/dashboard)?$/, 'one missing value is as good as none');
  await visitor.close();
});

test('language and theme are chosen on the page and stay', async () => {
  const visitor = await Visitor.open(browser, whole.origin, { language: 'zh_TW' });
  await visitor.go('/user');
  assert.equal(await visitor.page.getAttribute('html', 'lang'), 'zh-Hant-TW');
  await visitor.page.getByRole('button', { name: '简体中文' }).click();
  await visitor.page.locator('h1', { hasText: '登录' }).waitFor();
  assert.equal(await visitor.page.evaluate(() => localStorage.getItem('language')), 'zh_CN');
  await visitor.signIn('user', mail('user'), password);
  await visitor.page.getByRole('button', { name: '深色主题' }).click();
  await visitor.page.reload();
  await visitor.settled();
  assert.equal(await visitor.page.getAttribute('html', 'data-theme'), 'dark');
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});

test('on a telephone the bar names the page whole; theme and language stand in the menu of the account', async () => {
  const visitor = await Visitor.open(browser, whole.origin, { language: 'en_US', width: 390, height: 844 });
  const { page } = visitor;
  await visitor.enter('client', await whole.credentials('client'));
  await visitor.load('/client/systemManagement/systemSetting?tab=email');
  const name = page.locator('.crumbs strong');
  assert.equal(await name.innerText(), 'System settings');
  assert.ok(await name.evaluate(one => one.scrollWidth <= one.clientWidth), 'nothing of it is cut');
  const menu = page.getByRole('button', { name: mail('client') });
  await menu.click();
  await page.getByRole('menuitem', { name: 'Dark theme' }).click();
  await page.waitForFunction(() => document.documentElement.dataset['theme'] === 'dark');
  await menu.click();
  await page.getByRole('menuitem', { name: '繁體中文' }).click();
  await page.waitForFunction(() => document.documentElement.lang === 'zh-Hant-TW');
  await page.locator('h1', { hasText: '系統設定' }).waitFor();
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});
