/** Forms in a real browser: when a field speaks, what is mended, where the cursor goes, and that nothing typed is lost without asking. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { password } from '#system/whole.ts';
import { picture, Visitor } from './browser.ts';
import { demo } from './demo.ts';

const stand = demo();

async function customer(look = {}): Promise<Visitor> {
  const visitor = await stand.inside('user', look);
  return visitor;
}
/** Opens the form of a new domain of the demo's site. */
async function newDomain(visitor: Visitor) {
  const { page } = visitor;
  await visitor.go('/user/sitesManagement/sites');
  await page.click('.ant-table-row a');
  await page.waitForURL(url => url.pathname.includes('sitesSetting'));
  await visitor.settled();
  await page.locator('.panel .ant-btn-primary, .ant-btn-primary').first().click();
  await page.waitForSelector('.ant-drawer form #domainName');
}
const said = (page: Page, field: string) => page.locator(`[data-field="${field}"] .ant-form-item-explain-error`);
const focused = (page: Page) => page.evaluate(() => document.activeElement?.id);
const question = (page: Page) => page.locator('.ant-modal', { hasText: 'Discard unsaved changes?' });

test('a field speaks when it is left, is quiet when it is mended, and says one thing', async () => {
  const visitor = await customer();
  const { page } = visitor;
  await newDomain(visitor);
  assert.equal(await focused(page), 'domainName', 'the cursor stands in the first field');

  await page.keyboard.press('Tab');
  assert.equal(await said(page, 'domainName').count(), 0, 'an empty field that was only passed is quiet');
  await page.fill('#domainName', 'no spaces please');
  assert.equal(await said(page, 'domainName').count(), 0, 'nobody is corrected in mid-word');
  await page.press('#domainName', 'Tab');
  await said(page, 'domainName').waitFor();
  assert.equal(await page.getAttribute('#domainName', 'aria-invalid'), 'true');
  await picture(page, 'form-said');
  await page.fill('#domainName', 'shop.breakwater.test');
  await said(page, 'domainName').waitFor({ state: 'detached' });

  await page.click('.ant-drawer-footer .ant-btn-primary');
  await said(page, 'upstreams.0.address').waitFor();
  assert.equal(await focused(page), 'upstreams_0_address', 'a refused save puts the cursor into the first broken field');
  assert.equal(await page.locator('.ant-form-item-explain-error').count(), 1);
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});

test('what was pasted is mended: the case, the scheme, the path; a port goes into its own field', async () => {
  const visitor = await customer();
  const { page } = visitor;
  await newDomain(visitor);
  await page.fill('#domainName', ' HTTPS://Pasted.Breakwater.Test./page ');
  await page.fill('#upstreams_0_address', 'http://198.51.100.7:8080/');
  await page.press('#upstreams_0_address', 'Tab');
  assert.equal(await page.inputValue('#domainName'), 'pasted.breakwater.test');
  assert.equal(await page.inputValue('#upstreams_0_address'), '198.51.100.7');
  assert.equal(await page.inputValue('#upstreams_0_port'), '8080');
  assert.equal(await page.locator('[data-field="upstreams.0.protocol"]').innerText(), 'HTTP');
  // Pasted last, and saved by mouse: the press on the button is what leaves the field.
  await page.fill('#domainName', 'HTTPS://Saved.Breakwater.Test/page');
  await page.fill('#upstreams_0_address', '127.0.0.1');
  await page.press('#upstreams_0_address', 'Tab');
  await page.focus('#domainName');
  await page.click('.ant-drawer-footer .ant-btn-primary');
  await page.waitForSelector('.ant-drawer form', { state: 'detached' });
  await page.locator('.ant-table-row', { hasText: 'saved.breakwater.test' }).waitFor();
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});

test('a second domain of one name: the server’s word stands at the field and goes when the name changes', async () => {
  const visitor = await customer();
  const { page } = visitor;
  await newDomain(visitor);
  await page.fill('#domainName', 'demo.breakwater.test');
  await page.fill('#upstreams_0_address', '127.0.0.1');
  await visitor.choose('upstreams_0_protocol', 'HTTP');
  await page.click('.ant-drawer-footer .ant-btn-primary');
  await said(page, 'domainName').waitFor();
  assert.equal(await focused(page), 'domainName');
  await picture(page, 'form-duplicate');
  await page.fill('#domainName', 'demo2.breakwater.test');
  await said(page, 'domainName').waitFor({ state: 'detached' });
  await visitor.close();
});

test('Back, a reload and another language ask before they lose what was typed', async () => {
  const visitor = await customer();
  const { page } = visitor;
  await newDomain(visitor);
  await page.goBack();
  await page.waitForSelector('.ant-drawer form', { state: 'detached' });
  await page.goForward();
  await page.fill('#domainName', 'half.breakwater.test');

  await page.goBack();
  await question(page).waitFor();
  await page.goBack();
  await question(page).getByRole('button', { name: 'Cancel' }).click();
  await question(page).waitFor({ state: 'hidden' });
  assert.equal(await page.inputValue('#domainName'), 'half.breakwater.test', 'two steps back, and still there');

  let asked = 0;
  page.on('dialog', dialog => {
    asked++;
    void dialog.dismiss();
  });
  await page.evaluate(() => location.reload());
  await page.waitForFunction(() => document.querySelector<HTMLInputElement>('#domainName')?.value === 'half.breakwater.test');
  assert.equal(asked, 1, 'the browser asks before a reload');

  await page.goBack();
  await question(page).getByRole('button', { name: 'Discard' }).click();
  await page.waitForSelector('.ant-drawer form', { state: 'detached' });
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});

test('a session that ends while somebody types: the form is as it was after signing in again', async () => {
  const visitor = await customer();
  const { page } = visitor;
  await newDomain(visitor);
  await page.fill('#domainName', 'later.breakwater.test');
  await page.fill('#upstreams_0_address', '198.51.100.9');
  await visitor.choose('upstreams_0_protocol', 'HTTP');
  await visitor.context.addCookies([{ name: 'u_accessToken', value: 'broken', url: stand.whole.origin }]);
  await page.click('.ant-drawer-footer .ant-btn-primary');
  await page.waitForURL(url => url.pathname === '/user' && url.search.includes('next='));
  await page.fill('input[name=email]', 'user@breakwater.test');
  await page.fill('input[name=password]', password);
  await page.click('button[type=submit]');
  await page.waitForSelector('.ant-drawer form #domainName');
  await visitor.message('is back');
  assert.equal(await page.inputValue('#domainName'), 'later.breakwater.test');
  assert.equal(await page.inputValue('#upstreams_0_address'), '198.51.100.9');
  await picture(page, 'form-restored');
  await visitor.close();
});

test('the last of 600 customers is found by typing and by scrolling', async () => {
  const token = await stand.whole.signIn('client');
  const numbers = Array.from({ length: 600 }, (_, index) => String(index + 1).padStart(3, '0'));
  for (let at = 0; at < numbers.length; at += 20)
    await Promise.all(
      numbers.slice(at, at + 20).map(async number => {
        const body = { email: `customer${number}@breakwater.test`, name: `Customer ${number}`, auth: 'user' };
        assert.equal((await stand.whole.call('POST', '/client/account', token, body)).status, 200);
      }),
    );
  const visitor = await stand.inside('client');
  const { page } = visitor;
  await visitor.go('/client/nodeManage/sitesList?edit=new');
  await page.waitForSelector('.ant-drawer form #userID');
  await page.click('#userID');
  const entries = page.locator('.ant-select-item-option');
  await entries.first().waitFor();
  const oldest = page.locator('.ant-select-item-option', { hasText: 'user@breakwater.test' });
  assert.equal(await oldest.count(), 0, 'the first customer of all is far down');
  await page.fill('#userID', 'customer 001');
  await page.locator('.ant-select-item-option', { hasText: 'customer001@' }).waitFor();
  assert.equal(await entries.count(), 1);
  await page.fill('#userID', '');
  await page.locator('.ant-select-item-option', { hasText: 'customer600@' }).waitFor();
  for (const deadline = Date.now() + 60_000; (await oldest.count()) === 0 && Date.now() < deadline;)
    await page
      .locator('.rc-virtual-list-holder, .ant-select-dropdown-list-holder')
      .first()
      .evaluate(list => list.scrollBy(0, 2000));
  await oldest.click();
  const chosen = page.locator('[data-field=userID]', { hasText: 'user@breakwater.test' });
  await chosen.waitFor();
  assert.deepEqual(visitor.takeProblems(), []);
  // given back after signing in again, the same customer stands there by name, though nobody has scrolled down to him
  await page.fill('#siteName', 'kept');
  await visitor.context.addCookies([{ name: 'c_accessToken', value: 'broken', url: stand.whole.origin }]);
  await visitor.choose('productID', 'starter');
  await page.click('.ant-drawer-footer .ant-btn-primary');
  await page.waitForURL(url => url.pathname === '/client' && url.search.includes('next='));
  await page.fill('input[name=email]', 'client@breakwater.test');
  await page.fill('input[name=password]', password);
  await page.click('button[type=submit]');
  await page.waitForSelector('.ant-drawer form #siteName');
  await visitor.message('is back');
  await chosen.waitFor();
  await picture(page, 'form-restored-choice');
  visitor.takeProblems();
  await visitor.close();
});

test('the owner of the installation decides how long things are kept', async () => {
  const visitor = await stand.inside('client', { language: 'zh_TW' });
  const { page } = visitor;
  await visitor.go('/client/systemManagement/systemSetting?tab=retention');
  await page.waitForSelector('form #audit');
  assert.equal(await page.inputValue('#audit'), '365');
  await page.fill('#audit', '3');
  await page.press('#audit', 'Tab');
  await said(page, 'audit').waitFor();
  await picture(page, 'retention');
  await page.fill('#audit', '400');
  await page.getByRole('button', { name: '儲存' }).click();
  await visitor.message('修改成功');
  const token = await stand.whole.signIn('client');
  const kept = await stand.whole.call('GET', '/client/setting/system/retention', token);
  assert.equal((kept.body as { audit: number }).audit, 400);
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});

test('a removed row takes its message along; the others keep theirs', async () => {
  const visitor = await customer();
  const { page } = visitor;
  await newDomain(visitor);
  await page.fill('#domainName', 'rows.breakwater.test');
  await page.fill('#upstreams_0_address', '8.8.8.8');
  const add = page.getByRole('button', { name: 'Add an origin' });
  await add.click();
  await page.fill('#upstreams_1_address', 'bad value');
  await add.click();
  await page.fill('#upstreams_2_address', '8.8.4.4');
  await page.fill('#upstreams_2_port', '99999');
  await page.press('#upstreams_2_port', 'Tab');
  await said(page, 'upstreams.1.address').waitFor();
  await said(page, 'upstreams.2.port').waitFor();
  await page.locator('button.list-remove').first().click();
  await said(page, 'upstreams.0.address').waitFor();
  await said(page, 'upstreams.1.port').waitFor();
  await page.locator('[data-field="upstreams.2.port"]').waitFor({ state: 'detached' });
  assert.equal(await said(page, 'upstreams.0.port').count(), 0);
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});

test('lines that were typed when a session ended are on screen again before they are saved', async () => {
  const visitor = await customer();
  const { page } = visitor;
  await visitor.go('/user/sitesManagement/sites');
  await page.click('.ant-table-row a');
  await page.locator('.sections-link', { hasText: 'Blacklist' }).click();
  await page.locator('.ant-btn-primary', { hasText: 'Create' }).first().click();
  await page.waitForSelector('.ant-drawer form #ips');
  await page.fill('#ips', '203.0.113.7\n203.0.113.8');
  await visitor.context.addCookies([{ name: 'u_accessToken', value: 'broken', url: stand.whole.origin }]);
  await page.click('.ant-drawer-footer .ant-btn-primary');
  await page.waitForURL(url => url.pathname === '/user' && url.search.includes('next='));
  await page.fill('input[name=email]', 'user@breakwater.test');
  await page.fill('input[name=password]', password);
  await page.click('button[type=submit]');
  await page.waitForSelector('.ant-drawer form #ips');
  await visitor.message('is back');
  assert.equal(await page.inputValue('#ips'), '203.0.113.7\n203.0.113.8');
  await visitor.close();
});

test('signing in: a field speaks when it is left, the server’s word stands at its field, and a typed password is not left without asking', async () => {
  const visitor = await Visitor.open(stand.browser, stand.whole.origin);
  const { page } = visitor;
  const error = (name: string) => page.locator('.field', { has: page.locator(`input[name=${name}]`) }).locator('.field-error');
  await visitor.go('/user');
  await page.press('input[name=email]', 'Tab');
  assert.equal(await page.locator('.field-error').count(), 0, 'an empty field that was only passed is quiet');
  await page.fill('input[name=email]', 'nobody');
  assert.equal(await error('email').count(), 0, 'nobody is corrected in mid-word');
  await page.press('input[name=email]', 'Tab');
  await error('email').waitFor();
  await picture(page, 'login-said');
  await page.fill('input[name=email]', 'user@breakwater.test');
  await error('email').waitFor({ state: 'detached' });
  await page.click('button[type=submit]');
  await error('password').waitFor();
  assert.equal(await page.evaluate(() => (document.activeElement as HTMLInputElement).name), 'password');
  await page.fill('input[name=password]', password);
  await error('password').waitFor({ state: 'detached' });
  await page.click('button[type=submit]');
  await page.waitForURL('**/user/dashboard');
  await visitor.settled();
  assert.deepEqual(visitor.takeProblems(), []);

  await visitor.go('/user/changePassword');
  await page.fill('input[name=oldPassword]', 'not this one');
  await page.fill('input[name=password]', 'a new password');
  await page.fill('input[name=again]', 'a new passwort');
  await page.press('input[name=again]', 'Tab');
  await error('again').waitFor();
  await page.fill('input[name=again]', 'a new password');
  await page.click('button[type=submit]');
  await error('oldPassword').filter({ hasText: 'current password' }).waitFor();
  await picture(page, 'change-password-said');
  visitor.takeProblems();
  const asked: string[] = [];
  page.once('dialog', dialog => {
    asked.push(dialog.message());
    void dialog.dismiss();
  });
  await page.getByRole('button', { name: 'Back' }).click();
  await page.waitForFunction(() => true);
  assert.match(asked.join(), /Discard unsaved changes/);
  assert.equal(await page.inputValue('input[name=password]'), 'a new password');
  page.once('dialog', dialog => void dialog.accept());
  await page.getByRole('button', { name: 'Back' }).click();
  await page.waitForURL('**/user/dashboard');
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});

test('a command that is half asked for is not left without asking', async () => {
  const visitor = await stand.inside('client');
  const { page } = visitor;
  await visitor.go('/client/nodeManage/nodesList');
  await page.getByRole('button', { name: 'Join a node' }).first().click();
  const dialog = page.locator('.ant-modal', { has: page.locator('form #name') });
  await dialog.waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: 'Join a node' }).first().click();
  await page.fill('.ant-modal form #name', 'edge-9');
  await page.keyboard.press('Escape');
  await question(page).getByRole('button', { name: 'Cancel' }).click();
  await question(page).waitFor({ state: 'hidden' });
  assert.equal(await page.inputValue('.ant-modal form #name'), 'edge-9');
  await page.keyboard.press('Escape');
  await question(page).getByRole('button', { name: 'Discard' }).click();
  await dialog.waitFor({ state: 'hidden' });
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});

test('what was typed for several rows is there again when they are opened after signing in', async () => {
  const visitor = await customer();
  const { page } = visitor;
  const open = async () => {
    await visitor.go('/user/sitesManagement/sitesSetting/1?tab=domains&keywords=demo');
    await page.locator('.ant-table-row .ant-checkbox-input').first().check();
    await page.locator('.toolbar-chosen').getByRole('button', { name: 'Tags' }).click();
    await page.waitForSelector('.ant-drawer form #tags');
  };
  await open();
  await page.fill('#tags', 'winter,');
  await visitor.context.addCookies([{ name: 'u_accessToken', value: 'broken', url: stand.whole.origin }]);
  await page.click('.ant-drawer-footer .ant-btn-primary');
  await page.waitForURL(url => url.pathname === '/user' && url.search.includes('next='));
  await page.fill('input[name=email]', 'user@breakwater.test');
  await page.fill('input[name=password]', password);
  await page.click('button[type=submit]');
  await page.waitForURL(url => url.pathname.includes('sitesSetting'));
  await visitor.settled();
  await open();
  await page.locator('[data-field=tags]', { hasText: 'winter' }).waitFor();
  assert.ok(await page.locator('.ant-drawer-footer .ant-btn-primary').isEnabled(), 'it can be saved as it stands');
  await visitor.close();
});
