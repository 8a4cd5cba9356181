/** The fleet's view: figures of a node that really serves, a place picked from the list, the point on the map that leads to the node. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { poll } from '#server/store/engine-process.ts';
import { freshDatabase } from '../engines.ts';
import { type Look, picture } from './browser.ts';
import { demo, fresh } from './demo.ts';

let database = '';
const stand = demo(['--demo'], async () => ({ ...(await fresh()), DATABASE_URL: (database = await freshDatabase()) }));
const drawer = '.ant-drawer-open';
const at = '/client/nodeManage/nodesList?tab=fleet';
const fleet = async () => (await stand.whole.call('GET', '/client/nodes/fleet', await stand.whole.signIn('client'))).body;

test('a node stands on the map where its operator says, with what it reports', async () => {
  // its own word and its own log lines, not samples
  const isWhole = async () => {
    const [node] = (await fleet()).nodes;
    return node?.status === 'normal' && node.disk?.totalBytes > 1e6 && node.traffic?.requestsPerSecond > 0;
  };
  assert.ok(await poll(isWhole, 120_000, 500), JSON.stringify(await fleet()));

  const operator = await stand.inside('client');
  const { page } = operator;
  await operator.load(at);
  await page.getByText('1 node has no place yet.').waitFor();
  await page.getByRole('button', { name: 'Set their place' }).click();
  await page.locator(`${drawer} .ant-select`).first().click();
  await page.keyboard.type('台北');
  await page.locator('.ant-select-item-option', { hasText: 'Taipei' }).click();
  await page.locator(`${drawer} .ant-drawer-footer .ant-btn-primary`).click();
  await page.waitForSelector(drawer, { state: 'detached' });
  const place = page.getByRole('group', { name: 'Places' }).getByRole('button', { name: /Taipei/ });
  await place.waitFor();
  assert.equal(await page.locator('.pin').count(), 1);
  assert.deepEqual((await fleet()).nodes[0].place, { name: 'Taipei', latitude: 25.03, longitude: 121.56 });

  // the point leads to the node
  await page.locator('.pin').click();
  await page.locator(`${drawer} .ant-drawer-title`, { hasText: (await fleet()).nodes[0].name }).waitFor();
  await page.keyboard.press('Escape');
  await page.waitForSelector(drawer, { state: 'detached' });
  assert.deepEqual(operator.takeProblems(), []);
  await operator.close();
});

test('many nodes: those of one place are one point, a point leads to its nodes, columns are sorted', async () => {
  const client = new pg.Client({ connectionString: database });
  await client.connect();
  const places = [
    ['Tokyo', 35.68, 139.69],
    ['Frankfurt', 50.11, 8.68],
    ['Ashburn', 39.04, -77.49],
    ['São Paulo', -23.55, -46.63],
  ] as const;
  const [{ zoneID, clientID }] = (await client.query(`select "zoneID", "clientID" from node where "zoneID" is not null`)).rows;
  for (let i = 1; i <= 12; i++) {
    const [name, latitude, longitude] = places[i % places.length]!;
    const disk = { freeBytes: 1e9 * i, totalBytes: 40e9 };
    await client.query(
      `insert into node ("clientID", "zoneID", name, status, "publicKey", version, place, beat) values ($1, $2, $3, 'paused', $3, '0.1.0', $4, $5)`,
      [clientID, zoneID, `edge-${i}`, { name, latitude, longitude }, { disk, problem: i === 4 ? 'nginx does not answer' : null }],
    );
  }
  await client.end();
  const looks: Look[] = [
    { theme: 'light', width: 1440 },
    { theme: 'dark', width: 1440, language: 'zh_TW' },
    { theme: 'light', width: 390, height: 844, language: 'zh_TW' },
    { theme: 'dark', width: 390, height: 844 },
  ];
  for (const look of looks) {
    const operator = await stand.inside('client', look);
    const { page } = operator;
    await operator.load(at);
    await page.locator('.pin').nth(4).waitFor();
    assert.equal(await page.locator('.pin').count(), 5);
    await picture(page, `fleet-${look.width}-${look.theme}`);
    await page.evaluate(() => document.querySelector('.ant-table-wrapper')?.scrollIntoView());
    await picture(page, `fleet-table-${look.width}-${look.theme}`);
    assert.equal(
      await page.evaluate(() => document.documentElement.scrollWidth > innerWidth),
      false,
      'nothing is wider than the page',
    );
    assert.deepEqual(operator.takeProblems(), []);
    await operator.close();
  }
  const operator = await stand.inside('client');
  const { page } = operator;
  await operator.load(at);
  const names = () => page.locator('.ant-table-row button.link:first-child').allTextContents();
  await page
    .getByRole('group', { name: 'Places' })
    .getByRole('button', { name: /Frankfurt/ })
    .click();
  await page.getByText('3 nodes of this place').waitFor();
  assert.deepEqual(
    (await names()).filter(name => name.startsWith('edge-')),
    ['edge-1', 'edge-5', 'edge-9'],
  );
  await page.getByRole('columnheader', { name: 'Disk' }).click();
  assert.deepEqual(
    (await names()).filter(name => name.startsWith('edge-')),
    ['edge-1', 'edge-5', 'edge-9'],
    'the fullest first',
  );
  await page.getByRole('columnheader', { name: 'Disk' }).click();
  assert.deepEqual(
    (await names()).filter(name => name.startsWith('edge-')),
    ['edge-9', 'edge-5', 'edge-1'],
  );
  await page.getByRole('button', { name: 'Show all' }).click();
  assert.ok((await names()).length >= 13);
  await operator.close();
});
