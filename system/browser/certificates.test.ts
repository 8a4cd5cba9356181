/** From a domain to https: a certificate is uploaded on the screen, given to the domain, and Chromium opens it. */
import assert from 'node:assert/strict';
import { createHash, X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { authority } from '#system/authority.ts';
import { openBrowser } from './browser.ts';
import { demo } from './demo.ts';

const stand = demo();
const drawer = '.ant-drawer-open';
const host = 'secure.test';

test('a certificate is pasted with its key, given to its domain, and a browser opens the site over https', async () => {
  const ca = authority();
  const { chain, key, certificate } = ca.issue([host]);
  const token = await stand.whole.signIn('user');
  const api = async (method: string, path: string, body?: unknown) => {
    const answer = await stand.whole.call(method, `/user/site/1/${path}`, token, body);
    assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const origins = (await api('GET', 'domain/1/upstreams')).data as { address: string; port: number }[];
  const { ids } = await api('POST', 'domains', {
    domains: [{ domainName: host, upstreams: origins.map(({ address, port }) => ({ address, port })) }],
  });

  const visitor = await stand.inside('user');
  const { page } = visitor;
  await visitor.go('/user/sitesManagement/sitesSetting/1?tab=certificates');
  await page.locator('.ant-btn-primary').first().click();
  await page.fill(`${drawer} #sslName`, 'secure');
  await page.fill(`${drawer} textarea`, `${ca.between}${key}${chain}`);
  await page.click(`${drawer} .ant-drawer-footer .ant-btn-primary`);
  await page.waitForSelector(`${drawer} form`, { state: 'detached' });
  await page.getByText('Ends soon').waitFor();
  assert.ok(!(await page.content()).includes('PRIVATE KEY'));

  const [row] = (await api('GET', 'certificates')).data as { id: number; names: string[] }[];
  assert.deepEqual(row!.names, [host]);
  await api('PATCH', `certificate/${row!.id}/domains`, { domainIDs: ids });
  await api('PATCH', 'domain/setting/forceSSL', { domainIDs: ids, forceSSL: true });

  // trusted by its key: what another certificate shows is an error page
  const spki = createHash('sha256')
    .update(new X509Certificate(certificate).publicKey.export({ type: 'spki', format: 'der' }))
    .digest('base64');
  const trusting = await openBrowser([
    `--host-resolver-rules=MAP ${host} 127.0.0.1`,
    `--ignore-certificate-errors-spki-list=${spki}`,
  ]);
  try {
    const other = await trusting.newPage();
    const { edgePort, edgeHttpsPort } = stand.whole;
    const deadline = performance.now() + 30_000;
    let answer: Awaited<ReturnType<typeof other.goto>> = null;
    while (!answer) {
      answer = await other.goto(`http://${host}:${edgePort}/`).catch(error => {
        if (performance.now() > deadline) throw error;
        return null;
      });
      if (answer && !answer.url().startsWith('https:') && performance.now() < deadline) answer = null;
    }
    assert.equal(answer.url(), `https://${host}:${edgeHttpsPort}/`);
    assert.equal(answer.status(), 200);
    const { subjectName, protocol } = (await answer.securityDetails())!;
    assert.deepEqual([subjectName, protocol], ['leaf', 'TLS 1.3']);
  } finally {
    await trusting.close();
  }
  visitor.takeProblems();
  await visitor.close();
});
