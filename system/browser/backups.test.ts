/** The screen of backups in each of its states, by keyboard: none yet, one under way, made, restored for a trial, failed, overdue. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { runningDatabase } from '#bin/launch/running.ts';
import { readSettings } from '#bin/launch/settings.ts';
import { openDatabase } from '#server/store/db.ts';
import { password } from '#system/whole.ts';
import { picture, type Visitor } from './browser.ts';
import { demo } from './demo.ts';
import { focusedIs, press } from './keys.ts';
import { serious } from './serious.ts';

const stand = demo();
const settings = {
  ...{ enabled: true, every: 'day', hour: 3, weekday: 7, timezone: 'UTC', target: 'folder', folder: '', endpoint: '' },
  ...{ region: '', bucket: '', prefix: '', accessKeyID: '', logs: false, keep: 3, restoreTest: false, ownPassword: password },
};
const put = async (more: object) => {
  const token = await stand.whole.signIn('client');
  const answer = await stand.whole.call('PUT', '/client/setting/system/DBBackup', token, { ...settings, ...more });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
};
/** The screen as its owner sees it, with what it says of the state. */
async function open(look: Parameters<typeof stand.inside>[1]): Promise<[Visitor, (text: string | RegExp) => Promise<void>]> {
  const visitor = await stand.inside('client', look);
  await visitor.load('/client/systemManagement/systemSetting?tab=databaseBackup');
  const says = (text: string | RegExp) =>
    visitor.page
      .locator('section', { has: visitor.page.locator('.backup-state') })
      .getByText(text)
      .waitFor();
  return [visitor, says];
}

test('nothing yet; made while one looks on, by a button that keeps the keyboard; restored for a trial', async () => {
  const [visitor, says] = await open({ language: 'zh_TW' });
  const { page } = visitor;
  await says('還沒有備份。');
  await says('定時備份未開啟。');
  await says('有了備份之後才能試還原。');
  await picture(page, 'backup-none');
  await press(page, 'button', '立即備份');
  await page.locator('.backup-state', { hasText: /等待開始|備份中/ }).waitFor();
  await picture(page, 'backup-running');
  await says(/最近一次備份：/);
  await says(/尚未測試還原/);
  await focusedIs(page, page.getByRole('button', { name: '立即備份' }));
  await press(page, 'button', '試還原最近一份');
  await says(/最近一次試還原成功：.*核對了 [\d,]+ 筆資料/);
  await focusedIs(page, page.getByRole('button', { name: '試還原最近一份' }));
  await visitor.complete();
  await picture(page, 'backup-tested');
  assert.deepEqual(await serious(visitor), []);
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});

test('one that fails says when and why until one of its kind succeeds; without any for too long, backups are overdue', async () => {
  await put({ folder: '/proc/nowhere' });
  const [visitor, says] = await open({ language: 'en_US', theme: 'dark', width: 390, height: 844 });
  const { page } = visitor;
  await press(page, 'button', 'Back up now');
  await says(/^Backup: the latest one failed \(/);
  await picture(page, 'backup-failed');
  assert.deepEqual(await serious(visitor), []);

  await put({});
  const database = openDatabase(runningDatabase(readSettings([], { BREAKWATER_DATA: stand.whole.folder })), 1);
  await sql`update "databaseBackup" set "updatedAt" = now() - interval '9 days'`.execute(database.db);
  await sql`update "backupRun" set "endedAt" = now() - interval '3 days' where state = 'done'`.execute(database.db);
  await database.close();
  await visitor.load('/client/systemManagement/systemSetting?tab=databaseBackup');
  await says(/^Backups are overdue/);
  await picture(page, 'backup-overdue');
  // one that is made in time is enough
  await press(page, 'button', 'Back up now');
  await page.getByText('Backups are overdue').waitFor({ state: 'detached' });
  await page.getByText('the latest one failed').waitFor({ state: 'detached' });
  await visitor.close();
});
