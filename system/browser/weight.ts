/** What a page costs a browser that has never been here: bytes of script as they travel, requests, time until the largest element stands. */
import type { Page } from 'playwright-core';

export interface Weight {
  /** brotli, without headers */
  scriptBytes: number;
  scripts: number;
  requests: number;
  /** largest contentful paint, ms */
  lcpMs: number;
}

/** The budget of a first page, bytes of script (brotli). */
export const budget = { login: 115_000, dashboard: 290_000 } as const;

export async function weigh(page: Page, url: string, ready: string): Promise<Weight> {
  const weight: Weight = { scriptBytes: 0, scripts: 0, requests: 0, lcpMs: 0 };
  const sizes: Promise<void>[] = [];
  page.on('requestfinished', request => {
    if (new URL(request.url()).pathname.startsWith('/api/')) return;
    weight.requests++;
    if (request.resourceType() !== 'script') return;
    weight.scripts++;
    sizes.push(request.sizes().then(({ responseBodySize }) => void (weight.scriptBytes += responseBodySize)));
  });
  await page.goto(url);
  await page.waitForSelector(ready);
  await page.waitForLoadState('networkidle');
  await Promise.all(sizes);
  weight.lcpMs = await page.evaluate(
    () =>
      new Promise<number>(done => {
        new PerformanceObserver(list => done(list.getEntries().at(-1)?.startTime ?? 0)).observe({
          type: 'largest-contentful-paint',
          buffered: true,
        });
        setTimeout(() => done(0), 1000);
      }),
  );
  return weight;
}
