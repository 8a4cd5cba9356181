/** The origins of a domain in their drawer: on a telephone, for who may only look, after a lost answer, and beside somebody else. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Look, picture, type Visitor } from './browser.ts';
import { demo } from './demo.ts';
import { serious } from './serious.ts';

const stand = demo();
const settings = '/user/sitesManagement/sitesSetting/1';
const drawer = '.ant-drawer-open';
const path = /\/domain\/\d+\/upstreams$/;

async function api(method: string, url: string, body?: unknown) {
  const answer = await stand.whole.call(method, url, await stand.whole.signIn('user'), body);
  assert.ok(answer.status < 300, `${method} ${url}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}
let count = 0;
/** A domain of its own for a test, with one origin, and the drawer of its origins opened. */
async function opened(look?: Look): Promise<{ visitor: Visitor; id: number; list: () => Promise<string[]> }> {
  const domainName = `origins${++count}.test`;
  const { ids } = await api('POST', '/user/site/1/domains', { domains: [{ domainName, upstreams: [{ address: '8.8.8.8' }] }] });
  const id = ids[0] as number;
  const visitor = await stand.inside('user', look);
  await visitor.go(`${settings}?tab=domains&edit=${id}`);
  await visitor.page.waitForSelector(`${drawer} #upstreams_0_address`);
  const list = async () =>
    ((await api('GET', `/user/site/1/domain/${id}/upstreams`)).data as { address: string; weight: number }[])
      .map(one => `${one.address} ${one.weight}`)
      .sort();
  return { visitor, id, list };
}
async function add({ page }: Visitor, index: number, address: string) {
  await page.getByRole('button', { name: /Add an origin|新增源站/ }).click();
  await page.fill(`#upstreams_${index}_address`, address);
}
const save = ({ page }: Visitor) => page.click(`${drawer} .ant-drawer-footer .ant-btn-primary`);
const closed = ({ page }: Visitor) => page.waitForSelector(`${drawer} form`, { state: 'detached' });

for (const look of [
  { width: 390, language: 'zh_TW', theme: 'light' },
  { width: 390, language: 'en_US', theme: 'dark' },
  { width: 1440, language: 'zh_TW', theme: 'light' },
] as const satisfies Look[])
  test(`each field of an origin has a name that is seen, ${look.width} ${look.language}`, async () => {
    const { visitor } = await opened(look);
    const { page } = visitor;
    await add(visitor, 1, '8.8.4.4');
    await picture(page, `origins-${look.width}-${look.language}`);
    const unnamed = await page.$$eval(`${drawer} .list-row .ant-form-item`, items =>
      items
        .filter(item => {
          const row = item.closest('.field-list')!;
          const box = item.getBoundingClientRect();
          const named = [...item.querySelectorAll('label'), ...row.querySelectorAll('.list-head > span')].filter(label => {
            const its = label.getBoundingClientRect();
            return its.width > 0 && label.textContent !== '' && Math.abs(its.left - box.left) < 4;
          });
          return named.length === 0;
        })
        .map(item => item.getAttribute('data-field')),
    );
    assert.deepEqual(unnamed, []);
    const wide = await page.$eval(`${drawer} .ant-drawer-body`, body => body.scrollWidth > body.clientWidth);
    assert.ok(!wide, 'nothing lies beyond the edge');
    visitor.takeProblems();
    await visitor.close();
  });

test('a save whose answer was lost is no change of others, and makes nothing twice', async () => {
  const { visitor, list } = await opened();
  const { page } = visitor;
  await add(visitor, 1, '8.8.4.4');
  await page.fill('#upstreams_0_weight', '7');
  await page.route(path, async (route, request) => {
    if (request.method() !== 'POST') return route.fallback();
    await route.fetch();
    return route.abort();
  });
  await save(visitor);
  await page.locator('.notice-error').first().waitFor();
  await page.unroute(path);
  assert.equal((await list()).length, 2, 'it was done');
  await save(visitor);
  await closed(visitor);
  assert.equal(await page.locator('.notice', { hasText: /changed this/ }).count(), 0);
  const [added, changed, ...more] = await list();
  assert.match(added!, /^8\.8\.4\.4 /);
  assert.equal(changed, '8.8.8.8 7');
  assert.deepEqual(more, []);
  await visitor.close();
});

test('who saves over somebody else’s origins is told, sees both, and loses nothing; what else of the domain changed is no reason', async () => {
  const { visitor, id, list } = await opened();
  const { page } = visitor;
  const seen: (string | undefined)[] = [];
  page.on('request', request => {
    if (path.test(new URL(request.url()).pathname) && request.method() !== 'GET') seen.push(request.headers()['if-match']);
  });
  await add(visitor, 1, '8.8.4.4');
  await api('POST', `/user/site/1/domain/${id}/upstreams`, { upstreams: [{ address: '9.9.9.9' }] });
  await save(visitor);
  await visitor.message('changed');
  assert.deepEqual(
    await page.$$eval(`${drawer} .list-row [id$=_address]`, inputs => inputs.map(input => (input as HTMLInputElement).value)),
    ['8.8.8.8', '9.9.9.9', '8.8.4.4'],
  );
  await picture(page, 'origins-changed');
  // something else of the domain, before it is saved again
  await api('PUT', '/user/site/1/domain/setting/tags', { domainIDs: [id], tags: ['else'] });
  await save(visitor);
  await closed(visitor);
  assert.deepEqual(
    (await list()).map(one => one.split(' ')[0]),
    ['8.8.4.4', '8.8.8.8', '9.9.9.9'],
  );
  assert.ok(seen.length >= 3 && seen.every(one => /^"\d+"$/.test(one ?? '')), `each said which version it saw: ${seen.join()}`);
  await visitor.close();
});

test('a form is not stopped by what others changed elsewhere in its row', async () => {
  const { visitor, id } = await opened();
  const { page } = visitor;
  await page.keyboard.press('Escape');
  await closed(visitor);
  await visitor.go(`${settings}?tab=domains&keywords=origins${count}`);
  await page.locator('.ant-table-row .ant-dropdown-trigger').first().click();
  await page
    .locator('.ant-dropdown-menu-item', { hasText: /headers/i })
    .first()
    .click();
  await page.locator(`${drawer} form button.ant-btn-dashed`).first().click();
  await page.fill('#request_0_name', 'X-Mine');
  await page.fill('#request_0_value', '1');
  await api('PUT', '/user/site/1/domain/setting/tags', { domainIDs: [id], tags: ['module'] });
  await save(visitor);
  await closed(visitor);
  const { request } = await api('GET', `/user/site/1/domain/${id}/customHeaders`);
  assert.deepEqual(request, [{ name: 'X-Mine', value: '1' }]);
  await visitor.close();
});

for (const look of [
  { width: 1440, language: 'zh_TW', theme: 'light' },
  { width: 390, language: 'en_US', theme: 'dark' },
] as const satisfies Look[])
  test(`by which schemes a domain is served, and the ports of those that follow, ${look.width}`, async () => {
    const { visitor, id } = await opened(look);
    const { page } = visitor;
    const isChinese = look.language === 'zh_TW';
    const { data } = await api('GET', `/user/site/1/domain/${id}/upstreams`);
    await api('PUT', `/user/site/1/domain/${id}/upstreams`, { upstreams: [{ id: data[0].id, protocol: 'follow' }] });
    await visitor.go(`${settings}?tab=domains&edit=${id}`);
    await page.locator(drawer, { hasText: isChinese ? '使用 https 時連到連接埠 443' : 'at port 443 over https' }).waitFor();
    await picture(page, `origins-follow-${look.width}-${look.theme}`);
    await visitor.go(`${settings}?tab=domains&keywords=origins${count}.test`);
    await page
      .getByRole('button', { name: isChinese ? '更多操作' : 'More actions' })
      .first()
      .click();
    await page.getByRole('menuitem', { name: isChinese ? '協定與連接埠' : 'Scheme and ports' }).click();
    await page.waitForSelector(`${drawer} #httpsPort`);
    assert.deepEqual(await Promise.all(['#httpPort', '#httpsPort'].map(field => page.inputValue(field))), ['', '443']);
    await picture(page, `scheme-${look.width}-${look.theme}`);
    assert.deepEqual(await serious(visitor), []);
    // whoever follows needs it
    await page.click(`${drawer} #portMap`);
    await save(visitor);
    await page
      .locator(`${drawer} .ant-form-item-explain-error`, { hasText: isChinese ? '必須開啟連接埠對應' : 'requires port mapping' })
      .waitFor();
    await picture(page, `scheme-refused-${look.width}-${look.theme}`);
    await page.click(`${drawer} #portMap`);
    await page.fill(`${drawer} #httpPort`, '8080');
    await page.fill(`${drawer} #httpsPort`, '8443');
    await page
      .locator(drawer)
      .getByText(isChinese ? '僅 TLS 1.3' : 'TLS 1.3 only', { exact: true })
      .click();
    await save(visitor);
    await closed(visitor);
    const { scheme, portMap, tlsOption } = await api('GET', `/user/site/1/domain/${id}`);
    assert.deepEqual(
      { scheme, portMap, tlsOption },
      { scheme: 'any', portMap: { enabled: true, http: 8080, https: 8443 }, tlsOption: 'TLSv1.3' },
    );
    assert.deepEqual(
      visitor.takeProblems().filter(one => !one.includes('400')),
      [],
    );
    await visitor.close();
  });
