/** What most tests of the console begin with: the product with its demo, and a browser. One of each for a file. */
import { join } from 'node:path';
import { after, before } from 'node:test';
import type { Browser } from 'playwright-core';
import { copyDemoFolder } from '#system/demo-folder.ts';
import { testFolder } from '#system/engines.ts';
import { Whole } from '#system/whole.ts';
import { type Area, type Look, openBrowser, Visitor } from './browser.ts';

export interface Demo {
  readonly whole: Whole;
  readonly browser: Browser;
  /** a visitor who has signed in and opened no page yet */
  inside(area: Area, look?: Look): Promise<Visitor>;
}

/** Its figures may be half a minute late: storing the demo's every few seconds would cost more than the browser. */
const quiet = { INGEST_FLUSH_MS: '10000' };
/** For a test that waits for what visitors do now. */
export const fresh = async () => ({ INGEST_FLUSH_MS: '2000' });

/** To be called at the top of a test file: starts both before its tests and ends them after. `settings`: environment beside its own. */
export function demo(args = ['--demo'], settings: () => Promise<Record<string, string>> = async () => ({})): Demo {
  let whole: Whole | undefined;
  let browser: Browser | undefined;
  before(async () => {
    const [product, program] = await Promise.allSettled([
      settings().then(more => {
        const folder = join(testFolder('whole'), 'data');
        // with a database of its own it has another history
        if (args.join() === '--demo' && !('DATABASE_URL' in more)) copyDemoFolder(folder);
        return Whole.start(args, folder, { ...quiet, ...more });
      }),
      openBrowser(),
    ]);
    // one that stands while the other failed is ended too: what goes on keeps the file until its limit
    if (product.status === 'fulfilled') whole = product.value;
    if (program.status === 'fulfilled') browser = program.value;
    for (const one of [product, program]) if (one.status === 'rejected') throw one.reason;
  });
  after(async () => {
    await browser?.close();
    await whole?.stop();
  });
  return {
    get whole() {
      return whole!;
    },
    get browser() {
      return browser!;
    },
    async inside(area, look) {
      const [visitor, held] = await Promise.all([Visitor.open(browser!, whole!.origin, look), whole!.credentials(area)]);
      await visitor.enter(area, held);
      return visitor;
    },
  };
}
