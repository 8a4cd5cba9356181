/** From a domain to https by itself: it is added on the screen, what it lacks is told as it comes, and Chromium that trusts the authority opens it. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { freePort, poll } from '#server/store/engine-process.ts';
import { testFolder } from '#system/engines.ts';
import { type Pebble, startPebble } from '#system/pebble.ts';
import { originServer } from '#system/whole.ts';
import { openBrowser, picture } from './browser.ts';
import { demo } from './demo.ts';

let pebble: Pebble | undefined;
let origin: Awaited<ReturnType<typeof originServer>> | undefined;
const stand = demo(['--demo'], async () => {
  const port = await freePort();
  origin = await originServer((_, answer) => answer.end('ours'));
  pebble = await startPebble({ httpPort: port });
  const ca = join(testFolder('ca'), 'ca.pem');
  writeFileSync(ca, pebble.ca);
  return {
    BREAKWATER_EDGE_HTTP: String(port),
    BREAKWATER_ACME_DIRECTORY: pebble.directory,
    BREAKWATER_ACME_CA: ca,
    BREAKWATER_DNS_RESOLVERS: pebble.dns,
    BREAKWATER_ORIGIN_ALLOW: '127.0.0.0/8',
  };
});
after(async () => {
  await pebble?.stop();
  await origin?.stop();
});
const drawer = '.ant-drawer-open';
const host = 'shop.green.test';

test('a domain is added, autoSSL is switched on, and a browser opens it over https, secure and by its own name', async () => {
  const visitor = await stand.inside('user');
  const { page } = visitor;
  const save = async () => {
    await page.click(`${drawer} .ant-drawer-footer .ant-btn-primary`);
    await page.waitForSelector(`${drawer} form`, { state: 'detached' });
  };
  await visitor.go('/user/sitesManagement/sitesSetting/1?tab=domains');
  await page.locator('.ant-btn-primary').first().click();
  await page.fill(`${drawer} #domainName`, host);
  await page.fill(`${drawer} #upstreams_0_address`, '127.0.0.1');
  await page.fill(`${drawer} #upstreams_0_port`, String(origin!.port));
  await visitor.choose('upstreams_0_protocol', 'HTTP');
  await save();
  // what it lacks is told above the list, and changes as it comes
  const steps = page.locator('.first-steps');
  await steps.getByRole('heading', { name: `${host}: what is missing for https` }).waitFor();
  await steps.getByText('The name leads to the edge.').waitFor();
  await steps.getByText('Auto SSL is off', { exact: false }).waitFor();
  assert.equal(await steps.locator('li[data-done=true]').count(), 1);
  await picture(page, 'https-steps');
  await steps.getByRole('button', { name: 'Switch on Auto SSL' }).click();
  await steps.getByRole('heading', { name: `${host} is served over https` }).waitFor({ timeout: 90_000 });
  await steps.getByText(`${host}: issued`, { exact: false }).waitFor();
  await steps.locator('li[data-done=true]').nth(2).waitFor();
  await picture(page, 'https-steps-done');
  await steps.getByRole('button', { name: 'Show log' }).click();
  await page.locator(drawer).getByText(`${host}: the authority has seen that the domain is ours`).waitFor();
  await page.locator(`${drawer} .ant-drawer-close`).click();
  await page.waitForSelector(drawer, { state: 'detached' });
  await steps.getByRole('button', { name: 'Close' }).click();
  await steps.waitFor({ state: 'detached' });

  const { edgeHttpsPort } = stand.whole;
  const rules = [`--host-resolver-rules=MAP *.green.test 127.0.0.1`];
  const url = `https://${host}:${edgeHttpsPort}/`;
  const trusting = await openBrowser(rules, await pebble!.root());
  try {
    const other = await trusting.newPage();
    let said: unknown;
    const isOpen = await poll(
      async () => {
        const answer = await other.goto(url).catch((error: Error) => void (said = error.message));
        if (!answer) return false;
        assert.equal(answer.status(), 200);
        const { issuer, protocol } = (await answer.securityDetails())!;
        assert.match(issuer!, /Pebble Intermediate/);
        assert.equal(protocol, 'TLS 1.3');
        assert.equal(await answer.text(), 'ours');
        assert.equal(await other.evaluate(() => isSecureContext), true);
        return true;
      },
      90_000,
      200,
    );
    assert.ok(isOpen, String(said));
    // what it trusts is the authority: a name that is no domain of anybody's is nobody's
    await assert.rejects(other.goto(`https://other.green.test:${edgeHttpsPort}/`), /ERR_SSL/);
  } finally {
    await trusting.close();
  }
  const doubting = await openBrowser(rules);
  try {
    const other = await doubting.newPage();
    await assert.rejects(other.goto(url), /ERR_CERT_AUTHORITY_INVALID/);
  } finally {
    await doubting.close();
  }

  // it renews itself: its drawer asks for a name, and for no other certificate
  await visitor.go('/user/sitesManagement/sitesSetting/1?tab=certificates');
  await page.locator('.ant-table-row', { hasText: host }).getByRole('button', { name: host }).first().click();
  await page.waitForSelector(`${drawer} #sslName`);
  assert.equal(await page.locator(`${drawer} textarea`).count(), 0);
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});
