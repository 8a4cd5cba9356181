/** How names lead to nodes, on the screens: an operator chooses who answers and adds a zone, a customer is told where to lead a domain, and sees that it does. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Rfc2136 } from '#server/domain/dns/rfc2136.ts';
import { AddressPolicy } from '#contract/rules/address-policy.ts';
import * as dns from '#server/domain/dns/message.ts';
import { add, drop } from '#server/resolution/updates.ts';
import { poll } from '#server/store/engine-process.ts';
import { type Knot, startKnot } from '#system/knot.ts';
import { type Fake, secret, startFake } from '../../server/test/dns-fakes.ts';
import { type Look, picture, type Visitor } from './browser.ts';
import { demo } from './demo.ts';
import { serious } from './serious.ts';

const zone = 'cdn.one.test';
const screens = ['/client/systemManagement/dnsSetting', '/client/systemManagement/cname', '/client/nodeManage/vNode'] as const;
const [dnsSetting, cname, vNode] = screens;
const drawer = '.ant-drawer-open';
let knot: Knot;
let cloudflare: Fake;
const stand = demo(undefined, async () => {
  [knot, cloudflare] = await Promise.all([
    startKnot({ zones: ['led.test', 'one.test'], lines: ['www CNAME shop'] }),
    startFake('cloudflare'),
  ]);
  return {
    BREAKWATER_DNS_RESOLVERS: knot.address,
    BREAKWATER_DNS_API: `cloudflare=${cloudflare.base}`,
    BREAKWATER_ORIGIN_ALLOW: '127.0.0.0/8',
  };
});
after(async () => {
  cloudflare?.stop();
  await knot?.stop();
});

const save = async ({ page }: Visitor) => {
  await page.click(`${drawer} .ant-drawer-footer .ant-btn-primary`);
  await page.waitForSelector(`${drawer} form`, { state: 'detached' });
};
const menu = async ({ page }: Visitor, row: string, entry: string) => {
  await page.locator('.ant-table-row', { hasText: row }).locator('button[aria-label="More actions"]').first().click();
  await page.getByRole('menuitem', { name: entry }).click();
};
const create = ({ page }: Visitor) => page.locator('.shell-content .ant-btn-primary').first().click();
const leave = async ({ page }: Visitor) => {
  await page.keyboard.press('Escape');
  await page.waitForSelector(drawer, { state: 'detached' });
};

/** A domain of the customer's that leads to another's. */
async function domain(): Promise<number> {
  const token = await stand.whole.signIn('user');
  const { body } = await stand.whole.call('GET', '/user/site/1/domain/1/upstreams', token);
  const upstreams = (body.data as { address: string; port: number }[]).map(({ address, port }) => ({ address, port }));
  const made = await stand.whole.call('POST', '/user/site/1/domains', token, {
    domains: [{ domainName: 'www.led.test', upstreams }],
  });
  assert.equal(made.status, 200, JSON.stringify(made.body));
  return made.body.ids[0];
}

test('an operator gives an account at a provider and a zone; a wrong token is told in the provider’s words', async () => {
  const operator = await stand.inside('client');
  const { page } = operator;
  await operator.go(dnsSetting);
  await create(operator);
  await operator.choose('driver', 'Cloudflare');
  assert.equal(await page.locator(`${drawer} #server, ${drawer} #keyName`).count(), 0, 'a token is all it needs');
  await page.fill(`${drawer} #credentials`, 'a-wrong-token');
  await picture(page, 'dns-account');
  assert.deepEqual(await serious(operator, drawer), []);
  await save(operator);
  await page.getByText('resolvers keep it for at least 60 s').waitFor();
  await menu(operator, 'Cloudflare', 'Test');
  await page.getByRole('alert').getByText('Invalid access token').waitFor();
  await picture(page, 'dns-account-refused');
  await leave(operator);
  await page.getByRole('button', { name: 'Cloudflare' }).click();
  assert.equal(await page.inputValue(`${drawer} #credentials`), '');
  await page.fill(`${drawer} #credentials`, secret);
  await save(operator);

  await operator.go(cname);
  await create(operator);
  // as it is pasted
  await page.fill(`${drawer} #domainName`, `HTTPS://${zone.toUpperCase()}./`);
  await operator.choose('dnsSettingID', 'Cloudflare');
  await save(operator);
  const state = page.locator('.ant-table-row', { hasText: zone });
  await state.waitFor();
  // the list says what was so when it was asked
  const hasArrived = async () => {
    await operator.go(cname);
    return (await state.getByText('Up to date').count()) > 0;
  };
  assert.ok(await poll(hasArrived, 60_000, 200));
  assert.ok(cloudflare.records.some(one => one.name.endsWith(`.l.${zone}`) && one.type === 'A'));
  await operator.go(dnsSetting);
  await menu(operator, 'Cloudflare', 'Test');
  await page.locator(drawer).getByText('It answers and takes changes').waitFor();
  await page.locator(drawer).getByText(zone).waitFor();
  await page.locator(drawer).getByText('In place', { exact: true }).waitFor();
  assert.ok(!(await page.content()).includes(secret));
  operator.takeProblems();
  await operator.close();
});

test('a customer sees where to lead a domain, copies it, is told where it leads now, and that it leads here', async () => {
  const domainID = await domain();
  const token = await stand.whole.signIn('user');
  const read = async () => (await stand.whole.call('GET', `/user/site/1/domain/${domainID}`, token)).body;
  const { cname: first } = await read();
  // the demo has a zone of its own; what is told is the oldest that is offered
  const target = cloudflare.records.find(one => one.type === 'CNAME' && one.name.endsWith(`.${zone}`))!.name;
  assert.equal(target.split('.')[0], first.split('.')[0]);

  const customer = await stand.inside('user');
  await customer.context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: customer.origin });
  const { page } = customer;
  await customer.go('/user/sitesManagement/sitesSetting/1?tab=domains');
  await menu(customer, 'www.led.test', 'Where it leads');
  const shown = page.locator(drawer);
  await shown.getByText(first, { exact: true }).waitFor();
  await shown.locator('.address', { hasText: first }).getByRole('button').click();
  await shown.locator('.address', { hasText: first }).locator('.anticon-check').waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), first);

  await shown.getByRole('button', { name: 'Check now' }).click();
  await shown.getByText('It leads elsewhere: shop.led.test').waitFor();
  // a button that waits is pale
  await shown.locator('.ant-btn-loading').waitFor({ state: 'detached' });
  await customer.complete();
  await picture(page, 'cname-elsewhere');
  assert.deepEqual(await serious(customer, drawer), []);
  const key = { ...knot.key, secret: Buffer.from(knot.key.secret, 'base64') };
  const policy = new AddressPolicy({ operator: [], environment: ['127.0.0.0/8'], own: [] });
  await new Rfc2136(knot.address, key, { policy }).change('led.test', [
    drop('www.led.test', dns.types.CNAME),
    add('www.led.test', dns.types.CNAME, 1, dns.nameBytes(target)),
  ]);
  await shown.getByRole('button', { name: 'Check now' }).click();
  await shown.getByText('It leads here.').waitFor();
  await picture(page, 'cname-here');
  customer.takeProblems();
  await customer.close();
});

test('a virtual node is made on the screen, and leads elsewhere', async () => {
  const operator = await stand.inside('client');
  const { page } = operator;
  await operator.go(vNode);
  await create(operator);
  await page.fill(`${drawer} #name`, 'elsewhere');
  await page.click(`${drawer} #zoneID`);
  await page.locator('.ant-select-item-option').first().click();
  await save(operator);
  await page.getByRole('button', { name: 'elsewhere' }).click();
  await page.locator(drawer).getByText('CNAME', { exact: true }).click();
  await page.locator(`${drawer} .ant-btn-primary`).first().click();
  await page.fill('#target', 'customer.other-cdn.example');
  await page.locator(`${drawer} .ant-drawer-footer .ant-btn-primary`).last().click();
  await page.locator(`${drawer} .ant-table-row`, { hasText: 'customer.other-cdn.example' }).waitFor();
  await picture(page, 'virtual-node');
  assert.deepEqual(await serious(operator, drawer), []);
  operator.takeProblems();
  await operator.close();
});

test('a zone is signed, its DS is copied as registrars ask for it, and its key is replaced', async () => {
  const operator = await stand.inside('client');
  await operator.context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: operator.origin });
  const { page } = operator;
  const zonesNow = async () => {
    const { body } = await stand.whole.call('GET', '/client/setting/dns/cnames', await stand.whole.signIn('client'));
    return body.data as { id: number; domainName: string; driver: string; ds: string[] }[];
  };
  // the demo's own
  const own = (await zonesNow()).find(one => one.driver === 'knot')!;
  const row = page.locator('.ant-table-row', { hasText: own.domainName });
  const confirm = async (what: string) => {
    await menu(operator, own.domainName, what);
    const asked = page.locator('.ant-modal', { hasText: own.domainName });
    await asked.getByText('It cannot be undone').waitFor();
    assert.deepEqual(await serious(operator, '.ant-modal'), []);
    await picture(page, `confirm-${what}`);
    await asked.getByRole('button', { name: what }).click();
    await asked.waitFor({ state: 'detached' });
  };
  await operator.go(cname);
  await confirm('Sign (DNSSEC)');
  // the list says what was so when it was asked
  const hasDS = async () => {
    await operator.go(cname);
    return (await row.getByText(/^DS \d+ 13 2 …$/).count()) > 0;
  };
  assert.ok(await poll(hasDS, 60_000, 200));

  await menu(operator, own.domainName, 'DS records');
  const shown = page.locator(drawer);
  const line = (await zonesNow()).find(one => one.id === own.id)!.ds[0]!;
  const [, tag, algorithm, type, digest] = /DS (\d+) (\d+) (\d+) ([0-9A-F ]+)$/i.exec(line)!;
  const copied = async (what: string) => {
    const field = shown
      .locator('.address')
      .filter({ has: page.getByText(what, { exact: true }) })
      .first();
    await field.getByRole('button').click();
    await field.locator('.anticon-check').waitFor();
    return page.evaluate(() => navigator.clipboard.readText());
  };
  for (const field of [line, digest!.replaceAll(' ', ''), tag!, algorithm!, type!]) assert.equal(await copied(field), field);
  await picture(page, 'ds-records');
  assert.deepEqual(await serious(operator, drawer), []);
  await leave(operator);

  await confirm('Replace the key');
  await row.getByText('A new key is being published').waitFor();
  await row.locator('button[aria-label="More actions"]').first().click();
  await page.getByRole('menuitem', { name: 'DS records' }).waitFor();
  assert.equal(await page.getByRole('menuitem', { name: 'Replace the key' }).count(), 0, 'one is on its way');
  assert.deepEqual(operator.takeProblems(), []);
  await operator.close();
});

for (const look of [
  { width: 1440, language: 'zh_TW', theme: 'light' },
  { width: 390, language: 'zh_CN', theme: 'dark' },
  { width: 390, language: 'en_US', theme: 'light' },
] as const satisfies Look[])
  test(`the three screens fit their place and can be read, ${look.width} ${look.language} ${look.theme}`, async () => {
    const operator = await stand.inside('client', look);
    const { page } = operator;
    for (const path of screens) {
      await operator.go(path);
      await operator.complete();
      await picture(page, `names-${path.split('/').at(-1)}-${look.width}-${look.language}-${look.theme}`);
      assert.deepEqual(await serious(operator), [], path);
      assert.ok(
        await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
        `${path} is wider than its window`,
      );
      await create(operator);
      await page.waitForSelector(`${drawer} form`);
      const widest = await page.evaluate(() =>
        Math.max(...[...document.querySelectorAll('.ant-drawer-open form *')].map(one => one.getBoundingClientRect().right)),
      );
      assert.ok(widest <= look.width, `the form of ${path} ends at ${widest}`);
      await leave(operator);
    }
    operator.takeProblems();
    await operator.close();
  });
