/** From a domain to https by itself: it is added on the screen, autoSSL is switched on, and Chromium that trusts the authority opens it. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { freePort, poll } from '#server/store/engine-process.ts';
import { testFolder } from '#system/engines.ts';
import { type Pebble, startPebble } from '#system/pebble.ts';
import { originServer } from '#system/whole.ts';
import { openBrowser } from './browser.ts';
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
  const row = page.locator('.ant-table-row', { hasText: host });
  await row.locator('button[aria-label="More actions"]').click();
  await page.getByRole('menuitem', { name: 'Auto SSL', exact: true }).click();
  await page.waitForSelector(`${drawer} form`);
  const autoSSL = page.locator(`${drawer} #autoSSL`);
  if ((await autoSSL.getAttribute('aria-checked')) !== 'true') await autoSSL.click();
  await save();

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
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});
