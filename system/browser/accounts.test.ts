/** Accounts on screen: made without a mail server, ended at a time, the vendor's own people, and the link by which somebody sets a password. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { password } from '#system/whole.ts';
import { type Smtp, startSmtp, textOf } from '../../server/test/smtp.ts';
import { picture, Visitor } from './browser.ts';
import { demo } from './demo.ts';

const stand = demo(['--demo'], async () => ({ BREAKWATER_ORIGIN_ALLOW: '127.0.0.0/8' }));
let smtp: Smtp;
before(async () => {
  smtp = await startSmtp({ startTLS: false });
});
after(() => smtp?.stop());

async function api(area: 'user' | 'client' | 'admin', method: string, url: string, body?: unknown) {
  const answer = await stand.whole.call(method, url, await stand.whole.signIn(area), body);
  assert.ok(answer.status < 300, `${method} ${url}: ${JSON.stringify(answer.body)}`);
  // what each call answers its caller knows
  return answer.body as { ids: number[]; data: { email: string; status: string }[]; isMailed: boolean };
}
const save = (visitor: Visitor) => visitor.page.click('.ant-drawer-open .ant-drawer-footer .ant-btn-primary');

test('an account that nobody could be mailed of says so, and its first password is set there and then; its end is shown and found', async () => {
  const operator = await stand.inside('client', { language: 'zh_TW' });
  const { page } = operator;
  await operator.load('/client/userManagement/users');
  await page.getByRole('button', { name: '新增' }).first().click();
  const kind = (name: string) => page.locator('.ant-drawer-open .ant-segmented-item', { hasText: name }).click();
  // who is of one's own house has a role: the form says so by itself
  await kind('子帳號');
  await save(operator);
  await page.locator('.ant-form-item-explain-error', { hasText: '請選擇一個角色' }).waitFor();
  await kind('客戶');
  await page.fill('#email', 'trial@house.test');
  await page.fill('#name', 'Trial');
  await picture(page, 'account-create');
  await save(operator);
  await page.getByText('帳號已建立，但寄不出郵件').waitFor();
  await picture(page, 'account-unmailed');
  await page.locator('.ant-modal').getByRole('button', { name: '設定密碼' }).click();
  await page.fill('.ant-drawer-open #password', 'first password');
  await save(operator);
  await operator.message('密碼');
  const found = await api('client', 'GET', '/client/accounts?name=trial@house.test');
  assert.equal(found.data[0]!.status, 'normal');

  // ended in its form, by a time that is past: the row says so at once, and the filter finds it
  await page.getByRole('button', { name: 'trial@house.test' }).or(page.getByText('trial@house.test')).first().click();
  await page.locator('.ant-drawer-open #name').waitFor();
  await picture(page, 'account-edit');
  await page.keyboard.press('Escape');
  const { data } = await api('client', 'GET', '/client/accounts?name=trial@house.test');
  const { id } = data[0] as unknown as { id: number }; // of the same row
  await api('client', 'PUT', '/client/account', { id, expired: new Date(Date.now() - 1000).toISOString() });
  await operator.load('/client/userManagement/users?status=expired');
  await page.locator('tr', { hasText: 'trial@house.test' }).getByText('已到期').waitFor();
  await picture(page, 'accounts-expired');
  const person = await Visitor.open(stand.browser, stand.whole.origin, { language: 'zh_TW' });
  await person.go('/user');
  await person.page.fill('input[name=email]', 'trial@house.test');
  await person.page.fill('input[name=password]', 'first password');
  await person.page.click('button[type=submit]');
  await person.message('帳號');
  assert.ok(person.page.url().endsWith('/user'), person.page.url());
  person.takeProblems();
  await person.close();
  assert.deepEqual(operator.takeProblems(), []);
  await operator.close();
});

test('the vendor makes a role and an administrator who holds it: the menu is what the role gives', async () => {
  const vendor = await stand.inside('admin', { language: 'en_US' });
  const { page } = vendor;
  await vendor.load('/admin/userManagement/roles');
  await picture(page, 'admin-roles');
  const { ids } = await api('admin', 'POST', '/admin/role', {
    name: 'Finance',
    permissionKeys: ['licenses.view', 'licenses.edit', 'accounts.view'],
  });
  assert.equal(ids.length, 1);
  await vendor.load('/admin/userManagement/usersList');
  await page.getByRole('button', { name: 'Create' }).first().click();
  await page.locator('.ant-drawer-open').getByText('Administrator', { exact: true }).click();
  await page.fill('#email', 'finance@vendor.test');
  await page.fill('#name', 'Finance');
  await vendor.choose('role', 'Finance');
  await page.fill('.ant-drawer-open #password', 'finance password');
  await picture(page, 'admin-create');
  await save(vendor);
  await page.locator('tr', { hasText: 'finance@vendor.test' }).getByText('Finance', { exact: true }).first().waitFor();
  await picture(page, 'admin-accounts');
  assert.deepEqual(vendor.takeProblems(), []);
  await vendor.close();

  const finance = await Visitor.open(stand.browser, stand.whole.origin, { language: 'en_US' });
  await finance.signIn('admin', 'finance@vendor.test', 'finance password');
  await finance.load('/admin/licenses');
  await picture(finance.page, 'admin-finance');
  const menu = await finance.page.locator('nav, aside').first().innerText();
  assert.match(menu, /Licen[cs]es/);
  assert.doesNotMatch(menu, /Audit|API tokens|Roles/);
  finance.takeProblems();
  await finance.close();
});

test('a line of the audit tells what it changed in the reader’s words, beside the names that programs have', async () => {
  const secret = 'a secret of some length';
  await api('client', 'PUT', '/client/setting/webhook', { enable: false, url: 'https://1.1.1.1/x', secret, kinds: [] });
  const operator = await stand.inside('client', { language: 'zh_TW', width: 390, height: 844 });
  const { page } = operator;
  await operator.load('/client/userManagement/logOperation?url=webhook');
  await page.locator('.ant-table-row .link').first().click();
  const change = page.locator('.audit-change');
  await change.waitFor();
  const heading = await change.locator('h4').innerText();
  assert.match(heading, /新增\s*Webhook/);
  const rows = await change.locator('tbody th').allInnerTexts();
  for (const field of [/^網址\s+url$/, /^事件\s+kinds$/])
    assert.ok(
      rows.some(one => field.test(one)),
      rows.join(' | '),
    );
  await picture(page, 'audit-change');
  assert.ok(!(await page.content()).includes(secret));
  assert.deepEqual(operator.takeProblems(), []);
  await operator.close();
});

const words = {
  zh_TW: { bad: '連結' },
  zh_CN: { bad: '链接' },
  en_US: { bad: 'link' },
} as const;

for (const language of ['zh_TW', 'zh_CN', 'en_US'] as const)
  test(`${language}: the link of the mail sets a password by keyboard, once; then one signs in`, async () => {
    const server = { host: '127.0.0.1', port: smtp.port, security: 'none', username: 'u', password: smtp.password };
    await api('client', 'PUT', '/client/setting/email', {
      ...server,
      fromAddress: 'noreply@house.test',
      fromName: 'House',
      ownPassword: password,
    });
    const email = `link-${language.toLowerCase()}@house.test`;
    const made = await api('client', 'POST', '/client/account', { email, name: 'Link', auth: 'user', language });
    assert.ok(made.isMailed);
    const link = /http\S+verifyMail\?token=\S+/.exec(textOf(await smtp.next(email)))![0];
    const person = await Visitor.open(stand.browser, stand.whole.origin, { language, width: 390 });
    const { page } = person;
    const { pathname, search } = new URL(link);
    await person.go(pathname + search);
    await page.waitForURL('**/user/createPassword');
    // the token stands nowhere in the address
    assert.ok(!page.url().includes('token'));
    await page.waitForFunction(() => document.activeElement?.getAttribute('name') === 'password');
    await picture(page, `create-password-${language}`);
    await page.keyboard.type('short');
    await page.keyboard.press('Enter');
    await page.locator('[aria-invalid=true]').first().waitFor();
    await page.fill('input[name=password]', `${password} ${language}`);
    await page.fill('input[name=again]', `${password} ${language}`);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/user');
    await person.signIn('user', email, `${password} ${language}`);
    person.takeProblems();
    await person.close();

    // a second time it is nobody's, and says why
    const late = await Visitor.open(stand.browser, stand.whole.origin, { language });
    await late.go(pathname + search);
    await late.message(words[language].bad);
    await late.page.waitForURL('**/user');
    await late.close();
  });
