/** What every page owes: it stands without errors in both themes and on a telephone, and axe finds nothing serious. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { password } from '#system/whole.ts';
import { type Area, picture, Visitor } from './browser.ts';
import { demo } from './demo.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const pages: Record<Area, string[]> = {
  user: [
    'dashboard',
    'sitesManagement/sites',
    'sitesManagement/sitesSetting/1/demo',
    'dataAnalysis/logger',
    'userManagement/userInformation',
    'userManagement/usersList',
  ],
  client: [
    'dashboard',
    'nodeManage/zonesList',
    'nodeManage/nodesList',
    'nodeManage/resolutionTitle',
    'nodeManage/productsList',
    'nodeManage/sitesList',
    'nodeManage/sitesSetting/1/demo',
    'nodeManage/sitesSetting/1/demo?tab=cache',
    'nodeManage/sitesSetting/1/demo?tab=purge',
    'nodeManage/sitesSetting/1/demo?tab=blacklists',
    'dataAnalysis/logger',
    'userManagement/users',
  ],
  admin: ['dashboard', 'userManagement/usersList'],
};

const stand = demo();

interface Violation {
  id: string;
  impact: string;
  nodes: { html: string; failureSummary: string }[];
}

async function serious(visitor: Visitor): Promise<string[]> {
  // the page's own policy forbids foreign scripts; evaluating is not loading
  await visitor.page.evaluate(axe);
  const found = await visitor.page.evaluate(
    () =>
      (globalThis as unknown as { axe: { run(context: object, options: object): Promise<{ violations: Violation[] }> } }).axe.run(
        // antd's hidden row that measures the columns holds the check box of the heading
        { exclude: ['.ant-table-measure-row'] },
        { runOnly: ['wcag2a', 'wcag2aa'] },
      ) as Promise<{ violations: Violation[] }>,
  );
  return found.violations
    .filter(one => one.impact === 'serious' || one.impact === 'critical')
    .map(
      one =>
        `${one.id}: ${one.nodes.map(node => `${node.html.slice(0, 140)} (${node.failureSummary.split('\n')[1]?.trim()})`).join(' | ')}`,
    );
}

for (const area of Object.keys(pages) as Area[])
  for (const theme of ['light', 'dark'] as const)
    test(`${area}, ${theme}: every page stands, and axe finds nothing serious`, async () => {
      const visitor = await Visitor.open(stand.browser, stand.whole.origin, {
        theme,
        language: theme === 'light' ? 'zh_TW' : 'en_US',
      });
      await visitor.go(`/${area}`);
      assert.deepEqual(await serious(visitor), [], 'login');
      await picture(visitor.page, `${area}-login-${theme}`);
      await visitor.signIn(area, `${area}@breakwater.test`, password);
      for (const path of pages[area]) {
        await visitor.go(`/${area}/${path}`);
        assert.deepEqual(visitor.takeProblems(), [], path);
        assert.deepEqual(await serious(visitor), [], path);
        await picture(visitor.page, `${area}-${path.replace(/\W+/g, '-')}-${theme}`);
      }
      await visitor.close();
    });

for (const area of ['user', 'client'] as const)
  test(`${area}: no page is wider than a telephone`, async () => {
    const visitor = await stand.inside(area, { width: 390, height: 844 });
    for (const path of pages[area]) {
      await visitor.go(`/${area}/${path}`);
      const width = await visitor.page.evaluate(() =>
        Math.max(...['html', '.shell-content'].map(name => document.querySelector(name)!.scrollWidth)),
      );
      assert.ok(width <= 390, `${path} is ${width} px wide`);
      await picture(visitor.page, `${area}-${path.replace(/\W+/g, '-')}-narrow`);
    }
    assert.deepEqual(visitor.takeProblems(), []);
    await visitor.close();
  });
