/** Screens about people and licences, by keyboard alone: the roles matrix, the API's documentation, licences and their files, and what one is told. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Download, Page } from 'playwright-core';
import { poll } from '#server/store/engine-process.ts';
import { password } from '#system/whole.ts';
import { type Area, picture, Visitor } from './browser.ts';
import { demo } from './demo.ts';
import { focusedIs, press, tabTo, typeInto } from './keys.ts';

const stand = demo();

/** One sign-in of each area: each takes a hash. */
const tokens = new Map<Area, Promise<string>>();
async function api<T>(area: Area, method: string, url: string, body?: unknown): Promise<T> {
  const token = tokens.get(area) ?? stand.whole.signIn(area);
  tokens.set(area, token);
  const answer = await stand.whole.call(method, url, await token, body);
  assert.ok(answer.status < 300, `${method} ${url}: ${JSON.stringify(answer.body)}`);
  return answer.body as T; // what each call answers its caller knows
}
const textOf = async (download: Download) => readFileSync(await download.path(), 'utf8');
/** What a press has the browser save. */
async function saved(page: Page, press: () => Promise<void>): Promise<string> {
  const [download] = await Promise.all([page.waitForEvent('download'), press()]);
  return textOf(download);
}
const labelled = (page: Page, label: string) => page.locator(`[aria-label="${label}"]`).first();
/** The button of a drawer's foot. */
const save = (page: Page) => page.keyboard.press('Control+Enter');
/** Chooses in the menu that is open. */
async function inMenu(page: Page, name: string) {
  const item = page.getByRole('menuitem', { name });
  await item.waitFor();
  await page.keyboard.press('Tab');
  for (let n = 0; n < 20 && !(await item.evaluate(one => one === document.activeElement)); n++)
    await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
}
const clean = (visitor: Visitor, expected: RegExp) =>
  assert.deepEqual(
    visitor.takeProblems().filter(one => !expected.test(one)),
    [],
  );

test('the roles matrix by keyboard: searched, a box over a group has three states, and what was ticked is what is stored', async () => {
  const visitor = await stand.inside('client');
  const { page } = visitor;
  await visitor.load('/client/userManagement/roles');
  await page.keyboard.press('c');
  await page.locator('.matrix').waitFor();
  await typeInto(page, '#name', 'Certificates');
  await picture(page, 'people-roles-form');
  await tabTo(page, labelled(page, 'Search resources'));
  await page.keyboard.type('certif');
  const rows = page.locator('.matrix tbody tr:not(.matrix-group)');
  await page.waitForFunction(() => document.querySelectorAll('.matrix tbody tr:not(.matrix-group)').length === 1);
  assert.match(await rows.first().innerText(), /Certificates/);
  await tabTo(page, labelled(page, 'Certificates: Edit'));
  await page.keyboard.press('Space');
  await typeInto(page, '[aria-label="Search resources"]', ' ');
  await page.keyboard.press('Backspace');
  const group = page.getByRole('checkbox', { name: 'Sites: View' }).first();
  assert.ok(await group.evaluate(box => (box as HTMLInputElement).indeterminate));
  // whoever sees nothing edits nothing: both boxes of the row go
  await tabTo(page, labelled(page, 'Certificates: View'));
  await page.keyboard.press('Space');
  assert.equal(await page.getByRole('checkbox', { name: 'Certificates: Edit' }).isChecked(), false);
  await page.keyboard.press('Space');
  await page.keyboard.press('Control+Enter');
  await page.locator('.ant-drawer-open').waitFor({ state: 'detached' });
  const { data } = await api<{ data: { name: string; permissionKeys: string[] }[] }>('client', 'GET', '/client/roles');
  const held = data.find(role => role.name === 'Certificates')!.permissionKeys;
  assert.ok(held.includes('certificates.view') && !held.includes('certificates.edit'), held.join());
  await visitor.settled();
  await picture(page, 'people-roles-list');
  clean(visitor, /^$/);
  await visitor.close();
});

test('a call is tried with one’s own token as a program would send it, refused where the token holds less, and shown in four languages', async () => {
  const { token } = await api<{ token: string }>('client', 'POST', '/client/apiToken', {
    name: 'docs',
    permissionKeys: ['roles.view'],
  });
  const visitor = await stand.inside('client');
  const { page } = visitor;
  await visitor.load('/client/userManagement/apiDoc');
  await picture(page, 'people-apidoc');
  const open = async (word: string, name: string) => {
    await typeInto(page, '[aria-label="Search paths or resources"]', word);
    await tabTo(page, page.locator('.api-doc-list a', { hasText: name }).first());
    await page.keyboard.press('Enter');
  };
  await open('get roles', '/roles');
  const sample = page.locator('.api-code').first();
  // one of a group: the arrows choose
  const chooseSample = async (language: string) => {
    const wanted = page.locator('.api-sample-head').getByRole('radio', { name: language, exact: true });
    for (let n = 0; n < 5 && !(await wanted.isChecked()); n++) {
      await tabTo(page, page.locator('.api-sample-head input:checked'));
      await page.keyboard.press('ArrowRight');
    }
  };
  for (const [language, said] of [
    ['curl', 'curl -sS'],
    ['Node', 'await fetch('],
    ['Python', 'urllib.request'],
    ['Go', 'http.NewRequest('],
  ] as const) {
    await chooseSample(language);
    await sample.getByText(said).waitFor();
    assert.match(await sample.innerText(), /\/api\/v1\/client\/roles/);
  }
  const send = page.getByRole('button', { name: 'Send' });
  assert.equal(await send.isDisabled(), true, 'without a token nothing is sent');
  await typeInto(page, '.api-try input[type=password]', token);
  await press(page, 'button', 'Send');
  const outcome = page.locator('.api-outcome');
  await outcome.getByText('200').waitFor();
  assert.match(await page.locator('.api-code').last().innerText(), /"total":/);
  await picture(page, 'people-apidoc-tried');

  // the token stays while the page does; what it does not hold is refused in its own words
  await open('get products', '/products');
  await press(page, 'button', 'Send');
  await outcome.getByText('403').waitFor();
  assert.match(await page.locator('.api-code').last().innerText(), /101018/);
  clean(visitor, /403/);
  await visitor.close();
});

test('a licence is made and issued as a file; an edited one is refused at the operator’s, the good one is in force', async () => {
  const vendor = await stand.inside('admin');
  await vendor.load('/admin/licenses');
  await vendor.page.keyboard.press('c');
  await typeInto(vendor.page, '#name', 'Small house');
  await typeInto(vendor.page, '#siteLimit', '500');
  await picture(vendor.page, 'people-license-form');
  await save(vendor.page);
  await vendor.page.locator('.ant-table-row', { hasText: 'Small house' }).waitFor();
  await picture(vendor.page, 'people-licenses');

  await vendor.load('/admin/offlineLicense');
  await press(vendor.page, 'button', 'Issue');
  await typeInto(vendor.page, '#name', 'House of waves');
  await tabTo(vendor.page, vendor.page.locator('#licenseID'));
  await vendor.page.keyboard.type('Small');
  await vendor.page.locator('.ant-select-item-option-active', { hasText: 'Small house' }).waitFor();
  await vendor.page.keyboard.press('Enter');
  await save(vendor.page);
  const row = vendor.page.locator('.ant-table-row', { hasText: 'House of waves' });
  await row.getByText('Not registered').waitFor();
  const file = await saved(vendor.page, async () => {
    await tabTo(vendor.page, row.getByRole('button', { name: 'More' }));
    await vendor.page.keyboard.press('Enter');
    await inMenu(vendor.page, 'Download file');
  });
  await picture(vendor.page, 'people-offline');
  clean(vendor, /^$/);
  await vendor.close();

  const operator = await stand.inside('client');
  await operator.load('/client/systemManagement/systemSetting?tab=license');
  const give = (text: string) =>
    operator.page.setInputFiles('input[type=file]', {
      name: 'a.license',
      mimeType: 'application/octet-stream',
      buffer: Buffer.from(text),
    });
  const [head, signature] = file.trim().split(/\.(?=[^.]*$)/);
  const more = Buffer.from(
    Buffer.from(head!, 'base64url').toString('utf8').replace('"siteLimit":500', '"siteLimit":900'),
  ).toString('base64url');
  assert.notEqual(more, head);
  await give(`${more}.${signature}`);
  await operator.message('Illegal License');
  await give(file);
  await operator.message('The license is in force');
  await operator.page.locator('.licence-own').getByText('500').waitFor();
  await picture(operator.page, 'people-license-own');
  clean(operator, /400|403/);
  await operator.close();
});

test('a lock is told in the inbox and read there; what was switched off stays off', async () => {
  const { ids } = await api<{ ids: number[] }>('client', 'POST', '/client/account', {
    ...{ auth: 'user', email: 'locked@house.test', name: 'Locked', password: 'a good password' },
  });
  await api('client', 'PUT', '/client/account', { id: ids[0], status: 'lock' });
  const told = () => api<{ unread: number }>('client', 'GET', '/client/notices/unread');
  assert.ok(await poll(async () => (await told()).unread > 0, 60_000, 200), 'the lock is told');
  const visitor = await stand.inside('client');
  const { page } = visitor;
  await visitor.load('/client/userManagement/users');
  await press(page, 'button', /unread|notice/i);
  await page.locator('.notice-list li', { hasText: 'Account locked: locked@house.test' }).waitFor();
  await picture(page, 'people-inbox');
  assert.ok(await poll(async () => (await told()).unread === 0, 60_000, 200), 'what was seen is read');
  await press(page, 'button', 'What to be told');
  const mail = page.locator('.notice-choices tr', { hasText: 'locked' }).getByRole('switch').last();
  const was = await mail.getAttribute('aria-checked');
  await tabTo(page, mail);
  await page.keyboard.press('Space');
  await page.waitForFunction(
    before =>
      [...document.querySelectorAll('.notice-choices tr')]
        .find(row => row.textContent?.includes('locked'))
        ?.querySelectorAll('[role=switch]')[1]
        ?.getAttribute('aria-checked') !== before,
    was,
  );
  await picture(page, 'people-choices');
  await page.keyboard.press('Escape');
  await focusedIs(page, page.getByRole('button', { name: /notice/i }).first());
  const { choices } = await api<{ choices: { kind: string; mail: boolean }[] }>('client', 'GET', '/client/notices/choices');
  assert.equal(choices.find(one => one.kind === 'accountLocked')!.mail, was !== 'true');
  clean(visitor, /^$/);
  await visitor.close();
});

test('of a new token nothing is lost by a key: both halves stand until it is said of each that it is kept', async () => {
  const visitor = await stand.inside('client');
  const { page } = visitor;
  await visitor.load('/client/userManagement/apiTokenSetting');
  await page.keyboard.press('c');
  await typeInto(page, '#name', 'kept');
  await save(page);
  await focusedIs(page, labelled(page, 'Search resources'));
  // of a field that is higher than the window what is wrong with it stands where one begins
  await page.waitForFunction(() => {
    const said = document.querySelector('.ant-drawer-open .ant-form-item-explain-error')?.getBoundingClientRect();
    return said && said.height > 0 && said.top > 48 && said.bottom < innerHeight - 56;
  });
  await picture(page, 'people-token-refused');
  await press(page, 'button', 'Viewer');
  await save(page);
  const once = page.locator('.token-once');
  await once.waitFor();
  await picture(page, 'people-token-once');
  await page.keyboard.press('Escape');
  // nor by a reload: the browser asks
  const [asked] = await Promise.all([page.waitForEvent('dialog'), page.evaluate(() => setTimeout(() => location.reload()))]);
  await asked.dismiss();
  for (const half of ['API token', 'Refresh token']) {
    await press(page, 'checkbox', 'kept it', `.token-once [aria-label="${half}"].secret`, 'Space');
    await press(page, 'button', 'Close', `.token-once [aria-label="${half}"].secret`);
    if (half === 'API token') await focusedIs(page, once.locator('.secret-done'));
  }
  await once.waitFor({ state: 'detached' });
  const row = page.locator('.ant-table-row', { hasText: 'kept' });
  await row.getByText('Never expires').waitFor();
  await row.getByText('Never used').waitFor();
  await focusedIs(page, page.locator('[data-create]').first());
  clean(visitor, /^$/);
  await visitor.close();
});

test('notices that slip off the newest page stay, and when the last was told no more are offered', async () => {
  const visitor = await stand.inside('client');
  const { page } = visitor;
  const notice = (id: number) => ({
    ...{ id, kind: 'nodeBack', count: 1, sentence: `Node ${id} is back.`, detail: '' },
    ...{ readAt: null, latestAt: new Date(id * 60_000).toISOString() },
  });
  const from = (first: number, count: number) => Array.from({ length: count }, (_, nth) => notice(first - nth));
  let newest = 60;
  await page.route(/\/client\/notices(\?|$)/, route => {
    const before = new URL(route.request().url()).searchParams.get('before');
    const notices = before === null ? from(newest, 50) : from(Number(before) - 1, Math.min(50, Number(before) - 1));
    return route.fulfill({ json: { notices, unread: 0 } });
  });
  await visitor.load('/client/userManagement/users');
  await press(page, 'button', /unread|notice/i);
  const shown = page.locator('.notice-list li');
  await page.waitForFunction(() => document.querySelectorAll('.notice-list li').length === 50);
  // whoever comes back to the window is asked anew
  newest = 63;
  await page.evaluate(() => globalThis.dispatchEvent(new Event('visibilitychange')));
  await shown.filter({ hasText: 'Node 63 is back.' }).waitFor();
  assert.equal(await shown.count(), 53);
  await press(page, 'button', 'Earlier ones');
  await shown.filter({ hasText: 'Node 1 is back.' }).waitFor();
  assert.equal(await shown.count(), 63);
  assert.equal(await page.getByRole('button', { name: 'Earlier ones' }).count(), 0);
  clean(visitor, /^$/);
  await visitor.close();
});

test('who has a passkey fills in the code beside the password by it, and who has none reads what the machine’s owner can do', async () => {
  // a passkey is bound to a name: this machine's is localhost
  const visitor = await Visitor.open(stand.browser, stand.whole.origin.replace('127.0.0.1', 'localhost'));
  const { page } = visitor;
  await visitor.enter('client', await stand.whole.credentials('client'));
  const cdp = await visitor.context.newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true },
      ...{ isUserVerified: true, automaticPresenceSimulation: true },
    },
  });
  await visitor.load('/client/systemManagement/systemSetting?tab=email');
  const code = page.getByRole('textbox', { name: 'Code' });
  await press(page, 'button', 'Use a passkey instead');
  await visitor.message('You have no passkey at this address');
  await tabTo(page, page.locator('summary, button', { hasText: 'No code?' }).first());
  await page.keyboard.press('Enter');
  await page.getByText('breakwater account verification client@breakwater.test --off').waitFor();
  await picture(page, 'people-presence');

  await visitor.load('/client/userManagement/userInformation');
  await press(page, 'button', 'Add passkey');
  await typeInto(page, '#passkey-password', password);
  await page.keyboard.press('Enter');
  await visitor.message('The passkey was added');
  await visitor.load('/client/systemManagement/systemSetting?tab=email');
  await press(page, 'button', 'Use a passkey instead');
  await visitor.message('Confirmed: the code is filled in');
  assert.match(await code.inputValue(), /^\d{6}$/);
  await picture(page, 'people-presence-given');
  clean(visitor, /400/);
  await visitor.close();
});

test('a role says who has it: the way to them from the list, their names before it is removed', async () => {
  const role = await api<{ ids: [number] }>('client', 'POST', '/client/role', {
    name: 'Night shift',
    permissionKeys: ['sites.view'],
  });
  for (const name of ['mei', 'jun'])
    await api('client', 'POST', '/client/account', {
      ...{ auth: 'client', email: `${name}@house.test`, name, password: 'a good password', role: role.ids[0] },
    });
  const visitor = await stand.inside('client');
  const { page } = visitor;
  const row = page.locator('.ant-table-row', { hasText: 'Night shift' });
  await visitor.load('/client/userManagement/roles');
  await tabTo(page, row.getByRole('link', { name: '2 accounts' }));
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/userManagement/users?*roleID=${role.ids[0]}*`);
  await page.locator('.ant-table-row', { hasText: 'mei@house.test' }).waitFor();
  await visitor.complete();
  assert.equal(await page.locator('.ant-table-row').count(), 2);
  await page.locator('.filter-select', { hasText: 'Night shift' }).waitFor();
  await picture(page, 'people-role-accounts');

  await page.goBack();
  await tabTo(page, row.getByRole('button', { name: 'More' }));
  await page.keyboard.press('Enter');
  await inMenu(page, 'Delete');
  const question = page.locator('.ant-modal', { hasText: 'mei@house.test' });
  await question.waitFor();
  assert.match(await question.innerText(), /2 accounts have it \((jun|mei)@house\.test, (jun|mei)@house\.test\)/);
  await picture(page, 'people-role-remove');
  await typeInto(page, '.confirm-word input', 'Night shift');
  await page.keyboard.press('Enter');
  await row.waitFor({ state: 'detached' });
  const { data } = await api<{ data: { roleID: number | null }[] }>('client', 'GET', '/client/accounts?name=mei@house.test');
  assert.equal(data[0]!.roleID, null);
  clean(visitor, /^$/);
  await visitor.close();
});

test('a file of the audit that comes slowly is stopped by the button that began it: nothing is saved, and it can be begun again', async () => {
  const visitor = await stand.inside('client');
  const { page } = visitor;
  await visitor.load('/client/userManagement/logOperation');
  const line = await visitor.context.newCDPSession(page);
  const speed = (bytesPerSecond: number) =>
    line.send('Network.emulateNetworkConditions', {
      ...{ offline: false, latency: 0, uploadThroughput: -1, downloadThroughput: bytesPerSecond },
    });
  await line.send('Network.enable');
  // as over a telephone at the edge of nowhere
  await speed(500);
  const files: string[] = [];
  page.on('download', file => files.push(file.suggestedFilename()));
  const begin = page.getByRole('button', { name: 'Download as CSV' });
  const stop = page.getByRole('button', { name: /^Stop \(/ });
  await tabTo(page, begin);
  await page.keyboard.press('Enter');
  await stop.waitFor();
  await focusedIs(page, stop);
  await picture(page, 'people-audit-stop');
  await page.keyboard.press('Enter');
  await visitor.message('The export was stopped; no file was saved.');
  await begin.waitFor();
  await focusedIs(page, begin);
  assert.deepEqual(files, []);

  await speed(-1);
  const file = await saved(page, () => page.keyboard.press('Enter'));
  assert.match(file, /userManagement|auditLogs|POST/);
  assert.equal(files.length, 1);
  await focusedIs(page, begin);
  clean(visitor, /^$/);
  await visitor.close();
});
