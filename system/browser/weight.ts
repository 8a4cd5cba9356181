/** What a page costs a browser that has never been here: scripts and their bytes as they travel, requests, how far things jump. */
import type { Page } from 'playwright-core';
import { screens as admin } from '../../console/src/areas/admin.ts';
import { screens as client } from '../../console/src/areas/client.ts';
import { screens as user } from '../../console/src/areas/user.ts';
import { screensOf } from '../../console/src/kit/screens.ts';
import type { Area, Visitor } from './browser.ts';

export interface Weight {
  /** brotli, without headers */
  scriptBytes: number;
  scripts: number;
  /** all but those of the API */
  requests: number;
  /** sum of all layout shifts that followed no input */
  shift: number;
  /** what moved, by its class */
  moved: string[];
  /** largest contentful paint, ms */
  lcpMs: number;
}

export interface Budget {
  scriptBytes: number;
  scripts: number;
  requests: number;
}
/** What a page may weigh; `form`: one with a form, opened over it or its own. */
export const budget = {
  // What is aimed at: 95 kB; 325 kB and 14 scripts; 365 kB and 18 scripts. Measured last: sign-in 98.1; dashboard 262.5; certificates that make
  // themselves 374.0; without the 1.2 that keeping the focus weighs (kit/focus.ts) lists 325–339, the fleet's map 356.1, products 364.5, forms
  // 370–379.5, that of a plan of traffic 406.4; one's own account 23 scripts, DNS settings 24.
  login: { scriptBytes: 98_500, scripts: 8, requests: 12 },
  dashboard: { scriptBytes: 263_000, scripts: 15, requests: 24 },
  page: { scriptBytes: 374_000, scripts: 19, requests: 28 },
  form: { scriptBytes: 406_500, scripts: 24, requests: 29 },
} as const satisfies Record<string, Budget>;
/** Good by the Web Vitals is 0.1; nothing of ours needs to jump at all. */
export const shiftMost = 0.03;

/** What the page in this tab has cost since it was loaded. */
export const weighed = (page: Page): Promise<Weight> =>
  page.evaluate(async () => {
    const entries = <T>(type: string) =>
      new Promise<T[]>(done => {
        const observer = new PerformanceObserver(list => {
          observer.disconnect();
          done(list.getEntries() as T[]);
        });
        observer.observe({ type, buffered: true });
        setTimeout(() => done([]), 200);
      });
    const files = (performance.getEntriesByType('resource') as PerformanceResourceTiming[]).filter(
      ({ name }) => !/\/api\//.test(name) && !name.startsWith('data:'),
    );
    const scripts = files.filter(({ name }) => /\.js(?:[?#]|$)/.test(name));
    type Shift = {
      value: number;
      hadRecentInput: boolean;
      sources: { node?: { className?: unknown; nodeName: string } | null }[];
    };
    const shifts = (await entries<Shift>('layout-shift')).filter(one => !one.hadRecentInput);
    const paints = await entries<PerformanceEntry>('largest-contentful-paint');
    return {
      scriptBytes: scripts.reduce((sum, file) => sum + file.encodedBodySize, 0),
      scripts: scripts.length,
      // and the page itself
      requests: files.length + 1,
      shift: shifts.reduce((sum, one) => sum + one.value, 0),
      moved: shifts.flatMap(one => one.sources.map(({ node }) => String(node?.className || node?.nodeName))),
      lcpMs: paints.at(-1)?.startTime ?? 0,
    };
  });

/** What is over the budget, in words; nothing when all is well. */
export function tooMuch(weight: Weight, most: Budget): string[] {
  const over = (['scriptBytes', 'scripts', 'requests'] as const)
    .filter(name => weight[name] > most[name])
    .map(name => `${name} ${weight[name]} > ${most[name]}`);
  return weight.shift > shiftMost
    ? [...over, `shift ${weight.shift.toFixed(3)} > ${shiftMost} (${[...new Set(weight.moved)].join(', ')})`]
    : over;
}

/**
 * Every page of an area as somebody comes to it from nowhere, without the area; what a page needs in its address is that of the demo. A site's
 * settings are the same code in both areas that have them: they are weighed once.
 */
export const pathsOf = (area: Area): string[] =>
  screensOf({ user, client, admin }[area]).map(({ path }) =>
    path
      .replace('{-$id}', '1')
      .replace('{-$name}', 'demo')
      .replace(/\/\{-\$\w+\}/g, ''),
  );

/** Of its tabs: a customer's are those of its operator. */
const isWeighedElsewhere = (path: string) => /^\/user\/.*\/sitesSetting\//.test(path);

/** Nothing is kept between two pages, as if each were the first. */
export async function forgetful(visitor: Visitor): Promise<void> {
  const session = await visitor.context.newCDPSession(visitor.page);
  await session.send('Network.setCacheDisabled', { cacheDisabled: true });
}

/** Loads a page and, where it has them, its tabs and the form that makes a row; tells what each has cost. */
export async function weigh(
  visitor: Visitor,
  path: string,
  found: (path: string, weight: Weight, kind: 'page' | 'form') => Promise<void> | void,
): Promise<void> {
  const { page } = visitor;
  const open = async (at: string) => {
    await visitor.go(at);
    await visitor.complete();
    await found(at, await weighed(page), (await page.locator('.shell-content form.ant-form').count()) ? 'form' : 'page');
    const create = page.locator('[data-create]').first();
    if (!(await create.isVisible())) return;
    await create.click();
    await page.locator('.ant-drawer-body form, .ant-modal-body form').first().waitFor();
    await visitor.complete();
    await found(`${at} (form)`, await weighed(page), 'form');
  };
  await open(path);
  if (isWeighedElsewhere(path)) return;
  const tabs = await page
    .locator('.shell-content :is(nav.tabs, nav.sections-nav) a')
    .evaluateAll(links => links.slice(1).map(link => link.getAttribute('href')!));
  for (const tab of tabs) await open(tab);
}
