/** A site's DNS accounts on the screen: added, checked against a real name server, mended, and nothing of what lets us in comes back. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Knot, startKnot } from '#system/knot.ts';
import { demo } from './demo.ts';

const stand = demo();
const drawer = '.ant-drawer-open';
let knot: Knot;
before(async () => {
  knot = await startKnot({ zones: ['screen.test'] });
});
after(() => knot?.stop());

test('an account is added, says which domains it can prove, is told as wrong in words, and lets wildcards have certificates', async () => {
  const token = await stand.whole.signIn('user');
  const api = async (method: string, path: string, body?: unknown) => {
    const answer = await stand.whole.call(method, `/user/site/1/${path}`, token, body);
    assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const origins = (await api('GET', 'domain/1/upstreams')).data as { address: string; port: number }[];
  const upstreams = origins.map(({ address, port }) => ({ address, port }));
  const { ids } = await api('POST', 'domains', {
    domains: ['*.screen.test', 'elsewhere.test'].map(domainName => ({ domainName, upstreams })),
  });

  const visitor = await stand.inside('user');
  const { page } = visitor;
  const save = async () => {
    await page.click(`${drawer} .ant-drawer-footer .ant-btn-primary`);
    await page.waitForSelector(`${drawer} form`, { state: 'detached' });
  };
  await visitor.go('/user/sitesManagement/sitesSetting/1?tab=siteDNS');
  await page.getByText('Add a DNS account, and wildcards').waitFor();
  await page.locator('.ant-btn-primary').first().click();
  await page.click(`${drawer} .ant-select:has(#provider)`);
  await page.getByTitle('Own name server (RFC 2136)').click();
  await page.fill(`${drawer} #server`, knot.address);
  await page.fill(`${drawer} #keyName`, knot.key.name);
  await page.fill(`${drawer} #credentials`, Buffer.alloc(32, 1).toString('base64'));
  await save();
  await page.getByText(knot.address).waitFor();
  const [row] = (await api('GET', 'setting/dns')).data as { id: number; provider: string; algorithm: string }[];
  assert.deepEqual([row!.provider, row!.algorithm], ['rfc2136', 'hmacSHA256']);

  const check = async () => {
    await page.locator('.ant-table-row').locator('button[aria-label="More actions"]').click();
    await page.getByRole('menuitem', { name: 'Check domains' }).click();
  };
  await check();
  await page.getByRole('alert').getByText('BADSIG').waitFor();
  await page.keyboard.press('Escape');
  await page.waitForSelector(drawer, { state: 'detached' });

  // mended: the secret is typed anew, and never shown
  await page.getByRole('button', { name: 'Own name server (RFC 2136)' }).click();
  assert.equal(await page.inputValue(`${drawer} #credentials`), '');
  await page.fill(`${drawer} #credentials`, knot.key.secret);
  await save();
  await check();
  await page.locator(drawer).getByText('Can be proven').waitFor();
  await page.locator(drawer).getByText('Not in this account').first().waitFor();
  assert.ok(!(await page.content()).includes(knot.key.secret));

  await api('PATCH', 'domain/setting/autoSSL', { domainIDs: [ids[0]], enabled: true });
  visitor.takeProblems();
  await visitor.close();
});
