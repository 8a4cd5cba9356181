/** What a screen says when the server refuses for a reason that no field and no row has: what failed, and below it why. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { demo } from './demo.ts';

const stand = demo();

/** The customer's account, as its operator leaves it. */
async function customer() {
  const token = await stand.whole.signIn('client');
  const { body } = await stand.whole.call('GET', '/client/accounts?auth=user', token);
  const { id } = (body as { data: { id: number; email: string }[] }).data.find(({ email }) => email.startsWith('user@'))!;
  return async (status: 'pause' | 'normal') => {
    const answer = await stand.whole.call('PUT', '/client/account', token, { id, status });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
  };
}

for (const [language, failed, why] of [
  ['en_US', ['Create Failed !', 'Update Failed !', 'Delete Failed !'], 'Account Is Not Enabled'],
  ['zh_TW', ['新增失敗！', '更新失敗！', '刪除失敗！'], '帳號未啟用'],
  ['zh_CN', ['新建失败！', '更新失败！', '删除失败！'], '账号未启用'],
] as const)
  test(`what cannot be made, changed or deleted says so before the server says why, ${language}`, async () => {
    const set = await customer();
    const visitor = await stand.inside('user', { language });
    const { page } = visitor;
    const form = '.ant-drawer-open form #urlRegex';
    const save = () => page.click('.ant-drawer-open .ant-drawer-footer .ant-btn-primary');
    const closed = () => page.waitForSelector(form, { state: 'detached' });
    const row = (text: string) => page.locator('.ant-table-row', { hasText: text });
    /** Refused while the operator holds the account, done once it is free again. */
    async function refused(act: () => Promise<unknown>, sentence: string) {
      await set('pause');
      await act();
      const notice = page.locator('.notice', { hasText: sentence }).first();
      await notice.waitFor();
      const said = (await notice.innerText()).split('\n').map(line => line.trim());
      assert.ok(said.indexOf(why) > said.indexOf(sentence) && said.includes(sentence), said.join(' | '));
      await set('normal');
      await act();
    }

    await visitor.go('/user/sitesManagement/sitesSetting/1/demo?tab=frequencies');
    await page.locator('.panel .ant-btn-primary').first().click();
    await page.fill(form, '^/refused');
    await refused(save, failed[0]);
    await closed();

    await row('^/refused').locator('.link').first().click();
    await page.fill(form, '^/changed');
    await refused(save, failed[1]);
    await closed();

    await row('^/changed').locator('input[type=checkbox]').check();
    await refused(async () => {
      await page.locator('.toolbar-chosen .ant-btn-dangerous').click();
      await page.locator('.ant-modal .ant-btn-dangerous').click();
      await page.locator('.ant-modal').waitFor({ state: 'detached' });
    }, failed[2]);
    await row('^/changed').waitFor({ state: 'detached' });
    visitor.takeProblems(); // the browser's own lines about the refusals
    await visitor.close();
  });
