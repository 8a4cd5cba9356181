/** What each page of the console costs, against its budget: scripts as a browser receives them. `npm run bench -- console [AREA]` */
import { type Area, openBrowser, Visitor } from '#system/browser/browser.ts';
import { type Budget, budget, forgetful, pathsOf, tooMuch, type Weight, weigh, weighed } from '#system/browser/weight.ts';
import { password, Whole } from '#system/whole.ts';
import { row } from './_cpu.ts';

const kB = (bytes: number) => `${(bytes / 1000).toFixed(1)} kB`;

export async function run([only]: string[]): Promise<void> {
  const whole = await Whole.start(['--demo']);
  const browser = await openBrowser();
  try {
    row('page, cold', 'script br', 'of budget', 'scripts', 'requests', 'shift', 'LCP');
    for (const area of (['user', 'client', 'admin'] as const satisfies Area[]).filter(one => !only || one === only)) {
      const visitor = await Visitor.open(browser, whole.origin);
      await forgetful(visitor);
      await visitor.go(`/${area}`);
      report(`/${area}`, budget.login, await weighed(visitor.page));
      await visitor.signIn(area, `${area}@breakwater.test`, password);
      for (const path of pathsOf(area))
        await weigh(visitor, `/${area}/${path}`, (at, weight, kind) =>
          report(at, kind === 'form' ? budget.form : path === 'dashboard' ? budget.dashboard : budget.page, weight),
        );
      await visitor.close();
    }
  } finally {
    await browser.close();
    await whole.stop();
  }
}

function report(name: string, most: Budget, weight: Weight) {
  row(
    name,
    kB(weight.scriptBytes),
    `${Math.round((weight.scriptBytes / most.scriptBytes) * 100)} %`,
    String(weight.scripts),
    String(weight.requests),
    weight.shift.toFixed(3),
    `${Math.round(weight.lcpMs)} ms`,
  );
  if (tooMuch(weight, most).length) process.exitCode = 1;
}
