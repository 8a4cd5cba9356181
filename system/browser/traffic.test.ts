/** Pages about traffic: what is used of what may be used, months and their days, plans that are sold, and the word on the first page. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { poll } from '#server/store/engine-process.ts';
import { accessRow } from '#system/access-row.ts';
import { storeOf } from '#system/stand.ts';
import { type Look, picture } from './browser.ts';
import { demo, fresh } from './demo.ts';
import { serious } from './serious.ts';
import { cramped, wide } from './touch.ts';

const stand = demo(['--demo'], fresh);
const drawer = '.ant-drawer-open';
const pages = '/trafficPkgManagement/';

const call = async (method: string, path: string, area: 'client' | 'user', body?: unknown) => {
  const reply = await stand.whole.call(method, path, await stand.whole.signIn(area), body);
  assert.equal(reply.status, 200, `${method} ${path}: ${JSON.stringify(reply.body)}`);
  return reply.body;
};
interface Usage {
  bytes: number;
  planBytes: number;
  state: string;
  isCurrent: boolean;
  startTime: string;
}
const usages = async (): Promise<Usage[]> => (await call('GET', '/user/traffic/monthlyUsages', 'user')).data;
const dayMs = 86_400_000;

async function fill() {
  // two months with different days
  await poll(async () => (await usages()).some(({ isCurrent }) => isCurrent), 60_000, 300);
  const start = Date.parse((await usages()).find(({ isCurrent }) => isCurrent)!.startTime);
  const now = Date.now();
  const lines: string[] = [];
  for (let day = -28; start + day * dayMs + 60_000 < now; day++)
    for (let n = 0; n < 4; n++)
      lines.push(
        accessRow(
          start + day * dayMs + 60_000,
          1,
          Math.round(3e9 * (1 + Math.sin(day) / 2 + (Math.abs(day) % 7) / 9)),
          'demo.breakwater.test',
        ),
      );
  const store = storeOf(stand.whole);
  await store.insert('access_in', 'TSV', Buffer.from(lines.join('')), { async_insert: 0 });
  store.close();
  const isCounted = () => poll(async () => (await usages()).filter(({ bytes }) => bytes > 1e9).length >= 1, 60_000, 300);
  assert.ok(await isCounted(), JSON.stringify(await usages()));
  const { bytes } = (await usages()).find(({ isCurrent }) => isCurrent)!;
  // used to nine tenths
  const limit = Math.ceil(bytes / 0.9 / 1e9) * 1_000_000_000;
  await call('PUT', '/client/product', 'client', { id: 1, trafficLimit: limit, trafficAction: 'limit' });
}
let filled: Promise<void> | undefined;
/** Once for the file, when the installation stands. */
const traffic = () => (filled ??= fill());

test('the operator sells a plan, sees it and what was used, and saves the month as a file', async () => {
  await traffic();
  const operator = await stand.inside('client');
  const { page } = operator;
  await operator.load(`/client${pages}trafficPkgList`);
  await page.locator('[data-create]').first().click();
  const option = '.ant-select-dropdown:not(.ant-select-dropdown-hidden) .ant-select-item-option';
  await page.locator(`${drawer} .ant-select`).nth(0).click();
  await page.locator(option, { hasText: 'user@breakwater.test' }).click();
  await page.locator(`${drawer} .ant-select`).nth(1).click();
  await page.locator(option).first().click();
  await page.fill(`${drawer} #bytes`, '1.5 GB');
  await page.keyboard.press('Tab');
  await picture(page, 'traffic-plan-form');
  await page.locator(`${drawer} .ant-drawer-footer .ant-btn-primary`).click();
  await page.waitForSelector(drawer, { state: 'detached' });
  const [plan] = (await call('GET', '/user/extraTrafficPlans', 'user')).data;
  assert.deepEqual([plan.bytes, plan.state], [1_500_000_000, 'holds']);
  await page.getByText('1.50 GB').first().waitFor();

  await operator.load(`/client${pages}trafficReport`);
  await page.locator('.used-bar').first().waitFor();
  assert.ok((await page.locator('svg.days rect').count()) > 20);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download as CSV' }).first().click(),
  ]);
  const text = readFileSync((await download.path())!, 'utf8');
  const [one] = (await call('GET', '/client/traffic/monthlyUsages', 'client')).data as { bytes: number; userEmail: string }[];
  assert.match(text, new RegExp(`${one!.userEmail.replace('.', '\\.')}.*,\\d+,`), 'customer and bytes, bare');
  // a row opens its month
  await page.locator('.ant-table-row button.link').first().click();
  await page.locator(`${drawer} .day-table tbody tr`).first().waitFor();
  await picture(page, 'traffic-month');
  await page.keyboard.press('Escape');
  assert.deepEqual(operator.takeProblems(), []);
  await operator.close();
});

const looks: Look[] = [
  { width: 1440, theme: 'light', language: 'zh_TW' },
  { width: 390, height: 844, theme: 'dark', language: 'en_US' },
];
for (const look of looks)
  test(`a customer sees this month, its plans and the months before; the first page says what runs out (${look.width} ${look.theme})`, async () => {
    await traffic();
    for (const area of ['user', 'client'] as const) {
      const visitor = await stand.inside(area, look);
      const { page } = visitor;
      for (const name of area === 'user' ? ['trafficPkgList'] : ['trafficPkgList', 'trafficReport']) {
        await visitor.load(`/${area}${pages}${name}`);
        await page.locator('.used-bar').first().waitFor();
        await picture(page, `traffic-${area}-${name}-${look.width}`);
        assert.deepEqual(await serious(visitor), [], name);
        assert.deepEqual(await wide(page), [], name);
        if (look.width === 390) assert.deepEqual(await cramped(page), [], name);
      }
      await visitor.load(`/${area}/dashboard`);
      const hint = page.locator('.traffic-hint');
      await hint.waitFor();
      await picture(page, `traffic-${area}-dashboard-${look.width}`);
      assert.match(await hint.innerText(), area === 'client' ? /user@breakwater\.test/ : /\d+\.\d%/);
      await hint.getByRole('link').click();
      await page.locator('.used-bar').first().waitFor();
      assert.deepEqual(visitor.takeProblems(), []);
      await visitor.close();
    }
  });

test('used up: the customer reads that sites are stopped, and until when', async () => {
  await traffic();
  const { bytes } = (await usages()).find(({ isCurrent }) => isCurrent)!;
  const plans = (await call('GET', '/client/extraTrafficPlans', 'client')).data as { id: number }[];
  if (plans.length) await call('DELETE', '/client/extraTrafficPlans', 'client', { ids: plans.map(({ id }) => id) });
  await call('PUT', '/client/product', 'client', { id: 1, trafficLimit: Math.floor(bytes / 1000) * 900 });
  const visitor = await stand.inside('user');
  const { page } = visitor;
  await visitor.load(`/user${pages}trafficPkgList`);
  await page.getByText(/sites of this product are stopped/).waitFor();
  await picture(page, 'traffic-stopped');
  await visitor.load('/user/dashboard');
  await page.getByRole('alert').filter({ hasText: 'sites are stopped' }).waitFor();
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});
