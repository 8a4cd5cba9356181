/** System upgrade while one goes on: it is said, led to, and no node can be ordered a second one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { freshDatabase } from '../engines.ts';
import { type Look, picture } from './browser.ts';
import { demo } from './demo.ts';

let database = '';
const stand = demo(['--demo'], async () => ({ DATABASE_URL: (database = await freshDatabase()) }));
const at = '/client/systemManagement/systemUpgrade';

test('while an upgrade goes on the page says so, leads to its log, and offers no second one', async () => {
  const client = new pg.Client({ connectionString: database });
  await client.connect();
  const { rows } = await client.query('select "clientID", "zoneID" from node limit 1');
  const { clientID, zoneID } = rows[0];
  await client.query(
    `insert into node ("clientID", "zoneID", name, status, "publicKey", version, beat) values ($1, $2, 'edge-1', 'paused', 'edge-1', '0.1.0-old', $3)`,
    [clientID, zoneID, { upgrade: { able: true } }],
  );
  // its turn comes in ten minutes
  await client.query(
    `insert into task (kind, resource, "rootID", "accountID", input, about, total, "runAt")
      values ('nodeUpgrade', 'nodes', $1, $1, '{"ids": [999999], "version": "0.2.0-new"}', '{"count": 1, "version": "0.2.0-new"}', 1, now() + interval '10 minutes')`,
    [clientID],
  );
  await client.end();
  const looks: Look[] = [
    { theme: 'light', width: 1440 },
    { theme: 'dark', width: 390, height: 844, language: 'zh_TW' },
  ];
  for (const look of looks) {
    const operator = await stand.inside('client', look);
    const { page } = operator;
    await operator.load(at);
    await page.locator('.ant-table-row', { hasText: 'edge-1' }).or(page.getByText('edge-1')).first().waitFor();
    const banner = page.locator('.ant-alert-info');
    await banner.waitFor();
    await picture(page, `upgrade-open-${look.width}`);
    if (look.width === 1440) {
      const row = page.locator('.ant-table-row', { hasText: 'edge-1' });
      await row.locator('.ant-checkbox-input').check();
      const button = page.locator('.toolbar-chosen').getByRole('button', { name: 'Upgrade', exact: true });
      assert.ok(await button.isDisabled());
    }
    await banner.getByRole('button').click();
    await page.locator('.ant-drawer-open', { hasText: '0.2.0-new' }).waitFor();
    await picture(page, `upgrade-open-task-${look.width}`);
    assert.deepEqual(operator.takeProblems(), []);
    await operator.close();
  }
  const later = new pg.Client({ connectionString: database });
  await later.connect();
  await later.query(`delete from task where kind = 'nodeUpgrade'`);
  await later.end();
  for (const look of looks) {
    const operator = await stand.inside('client', look);
    const { page } = operator;
    // nothing is packed for nodes here
    await page.route('**/node/latestVersion', async route => {
      const answer = await route.fetch();
      await route.fulfill({ json: { ...(await answer.json()), version: '0.2.0-new' } });
    });
    await operator.load(at);
    await page.locator('.ant-table-row', { hasText: 'edge-1' }).locator('.ant-checkbox-input').check();
    const button = page.locator('.toolbar-chosen').getByRole('button').first();
    await button.click();
    const question = page.locator('.ant-modal-confirm, .ant-modal').last();
    await question.waitFor();
    // nobody who is well goes first: that is said before it is ordered
    await picture(page, `upgrade-unproven-${look.width}`);
    if (look.language !== 'zh_TW') assert.match(await question.innerText(), /None of the chosen nodes is well now/);
    await operator.close();
  }
});
