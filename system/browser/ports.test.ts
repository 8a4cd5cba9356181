/** A port, from the zone to a visitor: the operator has nodes listen, the customer opens it, and gives it origins of its own. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask, freePort } from '../../edge/test/harness.ts';
import { type Look, picture, type Visitor } from './browser.ts';
import { demo } from './demo.ts';

const stand = demo();
const drawer = '.ant-drawer-open';
const host = 'demo.breakwater.test';
const site = '/user/sitesManagement/sitesSetting/1?tab=ports';

const save = async ({ page }: Visitor) => {
  await page.click(`${drawer} .ant-drawer-footer .ant-btn-primary`);
  await page.waitForSelector(`${drawer} form`, { state: 'detached' });
};
async function action({ page }: Visitor, port: number, entry: string): Promise<void> {
  await page
    .locator('.ant-table-row', { hasText: String(port) })
    .locator('button[aria-label="More actions"]')
    .click();
  await page.getByRole('menuitem', { name: entry, exact: true }).click();
}
async function api(area: 'user' | 'client', method: string, url: string, body?: unknown) {
  const answer = await stand.whole.call(method, url, await stand.whole.signIn(area), body);
  assert.ok(answer.status < 300, `${method} ${url}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}
let looks = 0;
/** What a visitor gets there, once it is what is expected; never from the cache. */
async function served(port: number, expected: (status: number) => boolean): Promise<void> {
  const end = performance.now() + 60_000;
  for (;;) {
    const { status } = await ask(port, host, `/?look=${looks++}`).catch(() => ({ status: -1 }));
    if (expected(status)) return;
    if (performance.now() > end) throw new Error(`${host} at ${port}: ${status}`);
    await new Promise(next => setTimeout(next, 50));
  }
}

test('the operator opens a port of the zone, the customer one of the site, and visitors are served there', async () => {
  const port = await freePort();
  const operator = await stand.inside('client');
  await operator.go('/client/nodeManage/zoneSetting?tab=zonePorts');
  await operator.page.locator('.ant-btn-primary').first().click();
  await operator.page.fill(`${drawer} #port`, '443');
  await operator.page.locator(`${drawer} .ant-segmented-item`, { hasText: /^HTTP$/ }).click();
  await operator.page.click(`${drawer} .ant-drawer-footer .ant-btn-primary`);
  await operator.page.locator(`${drawer} [data-field=port] .ant-form-item-explain-error`).waitFor();
  await operator.page.fill(`${drawer} #port`, String(port));
  await save(operator);
  await operator.page.getByText(String(port)).first().waitFor();
  // nodes listen, and nobody has opened it
  await served(port, status => status === 903);

  const visitor = await stand.inside('user');
  const { page } = visitor;
  await visitor.go(site);
  await page.locator('.ant-btn-primary').first().click();
  await visitor.choose('port', `${port} · HTTP`);
  await save(visitor);
  await page.getByText('those of the domain', { exact: true }).waitFor();
  await served(port, status => status === 200);

  // origins of its own: one that answers nobody, so that it is seen who is asked
  await action(visitor, port, 'Origins');
  await page.getByRole('button', { name: /Add an origin/ }).click();
  await page.fill(`${drawer} #upstreams_0_address`, '127.0.0.1');
  await page.fill(`${drawer} #upstreams_0_port`, String(await freePort()));
  await save(visitor);
  await page.getByText('those of the domain', { exact: true }).waitFor({ state: 'detached' });
  await served(port, status => status === 502);
  await action(visitor, port, 'Use the domain’s origins');
  await page.locator('.ant-modal .ant-btn-primary, .ant-modal .ant-btn-dangerous').last().click();
  await page.getByText('those of the domain', { exact: true }).waitFor();
  await served(port, status => status === 200);

  // the zone keeps what a site has open, and says whose it is
  const [row] = (await api('client', 'GET', '/client/zone/1/setting/ports')).data as { id: number }[];
  const kept = await stand.whole.call('DELETE', '/client/zone/1/setting/ports', await stand.whole.signIn('client'), {
    ids: [row!.id],
  });
  assert.equal(kept.status, 400);
  await visitor.close();
  operator.takeProblems();
  await operator.close();
});

for (const look of [
  { width: 1440, language: 'zh_TW', theme: 'light' },
  { width: 1440, language: 'en_US', theme: 'dark' },
  { width: 390, language: 'zh_CN', theme: 'light' },
  { width: 390, language: 'zh_TW', theme: 'dark' },
] as const satisfies Look[])
  test(`lists and forms of ports fit their place, ${look.width} ${look.language} ${look.theme}`, async () => {
    const name = `ports-${look.width}-${look.language}-${look.theme}`;
    for (const [area, path] of [
      ['client', '/client/nodeManage/zoneSetting?tab=zonePorts'],
      ['user', site],
    ] as const) {
      const visitor = await stand.inside(area, look);
      const { page } = visitor;
      await visitor.go(path);
      await visitor.complete();
      await picture(page, `${name}-${area}`);
      await page.locator('.ant-btn-primary').first().click();
      await page.waitForSelector(`${drawer} form`);
      await picture(page, `${name}-${area}-form`);
      const wide = await page.$eval(`${drawer} .ant-drawer-body`, body => body.scrollWidth > body.clientWidth);
      assert.ok(!wide, 'nothing lies beyond the edge');
      await visitor.close();
    }
  });
