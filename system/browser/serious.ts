/** What axe finds serious or critical on a page as it stands, or in a part of it. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Visitor } from './browser.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  id: string;
  impact: string;
  nodes: { html: string; failureSummary: string }[];
}

/** `colours`: whether what is written can be read, and nothing else. */
export async function serious(visitor: Visitor, within?: string, what: 'all' | 'colours' = 'all'): Promise<string[]> {
  // the page's own policy forbids foreign scripts; evaluating is not loading
  if (!(await visitor.page.evaluate(() => 'axe' in globalThis))) await visitor.page.evaluate(axe);
  const found = await visitor.page.evaluate(
    ([part, rules]) =>
      (globalThis as unknown as { axe: { run(context: object, options: object): Promise<{ violations: Violation[] }> } }).axe.run(
        // antd's hidden row that measures the columns holds the check box of the heading
        { exclude: ['.ant-table-measure-row'], ...(part && { include: [part] }) },
        // what passes is thousands of elements, for each of which it would make up a selector
        { runOnly: rules, resultTypes: ['violations'] },
      ) as Promise<{ violations: Violation[] }>,
    [within, what === 'all' ? ['wcag2a', 'wcag2aa'] : ['color-contrast']] as const,
  );
  return found.violations
    .filter(one => one.impact === 'serious' || one.impact === 'critical')
    .map(
      one =>
        `${one.id}: ${one.nodes.map(node => `${node.html.slice(0, 140)} (${node.failureSummary.split('\n')[1]?.trim()})`).join(' | ')}`,
    );
}
