/** What the first pages of the console cost: bytes of script as a browser receives them, against the budget. `npm run bench -- console` */
import { openBrowser, Visitor } from '#system/browser/browser.ts';
import { budget, weigh } from '#system/browser/weight.ts';
import { password, Whole } from '#system/whole.ts';
import { row } from './_cpu.ts';

const kB = (bytes: number) => `${(bytes / 1000).toFixed(1)} kB`;

export async function run(): Promise<void> {
  const whole = await Whole.start(['--demo']);
  const browser = await openBrowser();
  try {
    row('first page, cold', 'script br', 'budget', 'share', 'scripts', 'requests', 'LCP');
    for (const area of ['user', 'client'] as const) {
      const stranger = await Visitor.open(browser, whole.origin);
      report(`${area}: login`, budget.login, await weigh(stranger.page, `${whole.origin}/${area}`, 'input[name=email]'));
      await stranger.signIn(area, `${area}@breakwater.test`, password);
      const state = await stranger.context.storageState();
      await stranger.close();
      // the same person in a browser that has nothing cached
      const context = await browser.newContext({ storageState: state, viewport: { width: 1440, height: 900 } });
      const page = await context.newPage();
      report(`${area}: dashboard`, budget.dashboard, await weigh(page, `${whole.origin}/${area}/dashboard`, '.chart canvas'));
      await context.close();
    }
  } finally {
    await browser.close();
    await whole.stop();
  }
}

function report(name: string, most: number, weight: Awaited<ReturnType<typeof weigh>>) {
  row(
    name,
    kB(weight.scriptBytes),
    kB(most),
    `${Math.round((weight.scriptBytes / most) * 100)} %`,
    String(weight.scripts),
    String(weight.requests),
    `${Math.round(weight.lcpMs)} ms`,
  );
  if (weight.scriptBytes > most) process.exitCode = 1;
}
