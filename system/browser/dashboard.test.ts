/** The figures of the first page: cards and charts tell of the same time, to the same byte. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Response } from 'playwright-core';
import { polling } from '#contract/limits.ts';
import { accessRow } from '#system/access-row.ts';
import { openShop, storeOf } from '#system/stand.ts';
import { password } from '#system/whole.ts';
import { picture, Visitor } from './browser.ts';
import { demo, fresh } from './demo.ts';
import { serious } from './serious.ts';
import { cramped, wide } from './touch.ts';

const stand = demo([], fresh);

const hourMs = 3_600_000;
/** One of these two has no turn of the month within the last hours: they are eight hours apart. */
const calmZone = (from: number, to: number) => {
  const month = (zone: string, at: number) => new Date(at).toLocaleDateString('en', { timeZone: zone, month: 'long' });
  return ['Asia/Taipei', 'UTC'].find(zone => month(zone, from) === month(zone, to))!;
};

test('the card of the month is the sum of each chart, to this minute; the step that still runs says so', async () => {
  const now = Date.now();
  const times = [now - 3 * hourMs, now - hourMs, now - 20 * 60_000, now - 6 * 60_000, now - 60_000, now];
  const client = await stand.whole.signIn('client');
  const zone = await stand.whole.call('PUT', '/client/account/self', client, { timezone: calmZone(times[0]!, now + hourMs) });
  assert.equal(zone.status, 200, JSON.stringify(zone.body));
  const { siteID } = await openShop(stand.whole, 'figures', 80);
  const store = storeOf(stand.whole);
  // every line has bytes of its own power, so that a sum says which ones are in it
  const rows = times.map((at, i) => accessRow(at, siteID, 10 ** (3 + i))).join('');
  await store.insert('access_in', 'TSV', Buffer.from(rows), { async_insert: 0 });
  store.close();

  const visitor = await Visitor.open(stand.browser, stand.whole.origin);
  const { page } = visitor;
  // a machine whose clock goes wrong sees the same figures
  await visitor.context.clock.install({ time: now - 2 * hourMs });
  const asked: Record<string, { body: { data: { values: Record<string, number> }[] }; endTime: string }> = {};
  let asOf = '';
  const read = async (response: Response) => {
    const name = new URL(response.url()).pathname.split('/').at(-1)!;
    if (name === 'resourceInfo') asOf = (await response.json()).asOf;
    else if (/\/statistics\//.test(response.url()))
      asked[name] = { body: await response.json(), endTime: response.request().postDataJSON().endTime };
  };
  // a page that is left takes answers along that are on their way
  page.on('response', response => void read(response).catch(() => {}));
  await visitor.signIn('user', 'user@breakwater.test', password);
  const expected = times.reduce((sum, _, i) => sum + 10 ** (3 + i), 0);
  for (const range of ['', '?range=days']) {
    await visitor.go(`/user/dashboard${range}`);
    const chart = page.locator('section.chart', { hasText: 'Traffic' }).first();
    await chart.locator('.chart-plot').waitFor();
    const card = await page.locator('.card', { hasText: 'Traffic this month' }).locator('.card-value').innerText();
    const total = await chart.locator('.chart-summary').innerText();
    assert.equal(total, `Total ${card.split(/[+−]/)[0]!.trim()}`, range);
    const sum = asked['timeSeries']!.body.data.reduce((all, step) => all + step.values[2]!, 0);
    assert.equal(sum, expected, `the steps ${range}`);
    for (const name of ['timeSeries', 'info', 'top'])
      assert.equal(asked[name]!.endTime, new Date(asOf).toISOString(), `${name} ${range}`);
    await picture(page, `figures-${range.slice(-4)}`);
    await chart.getByRole('button', { name: 'View as table' }).click();
    const newest = await chart.locator('tbody tr').first().innerText();
    if (range) assert.match(newest, /\(so far\)/);
    // the account is of just now: what is older than the first line was not there, which is no 0
    const rows = chart.locator('tbody tr');
    assert.match(await rows.last().innerText(), /–\s+–$/, range);
    assert.match((await rows.allInnerTexts()).join(), range ? /./ : /0 Byte/, 'between lines there is a 0');
    // each step leads to its requests
    const step = await rows.nth(1).getByRole('link').getAttribute('href');
    assert.match(step!, /dataAnalysis\/logger\?range=custom&startTime=/);
    // what is asked most leads to the lines it counts; of more than a day there is no such list
    const top = page.locator('.tops', { hasText: 'a.test' });
    await top.waitFor();
    if (range) assert.equal(await top.getByRole('link').count(), 0);
    else {
      const to = new URL((await top.getByRole('link').first().getAttribute('href'))!, stand.whole.origin);
      assert.equal(to.searchParams.get('endTime'), asked['top']!.endTime);
    }
  }
  await visitor.go('/user/dashboard');
  const compare = page.getByRole('button', { name: 'Compare with previous' });
  await compare.click();
  await page.locator('.chart-summary', { hasText: 'none before' }).first().waitFor();
  assert.equal(await compare.getAttribute('aria-pressed'), 'true');
  assert.match(page.url(), /compare=true/);
  await picture(page, 'figures-compared');
  // a class of statuses alone leads to its lines
  const codes = page.locator('section.chart', { hasText: 'Status codes' });
  for (const name of ['3xx', '4xx', '5xx']) await codes.getByRole('button', { name, exact: false }).click();
  await codes.getByRole('link', { name: 'Show these requests' }).click();
  await page.waitForURL(/status=2xx/);
  // the log's day ends by the clock of this machine, which is two hours late
  await page.getByText('1 in total').waitFor();
  // whoever has nodes reads their names; a customer has none to know of
  const [node] = (await stand.whole.call('GET', '/client/metaNodes', client)).body as { id: number; name: string }[];
  const operator = await stand.inside('client');
  for (const [one, area] of [
    [visitor, 'user'],
    [operator, 'client'],
  ] as const) {
    await one.go(`/${area}/dataAnalysis/logger?range=last24h`);
    await one.page.locator('.log-row').first().click();
    const facts = one.page.locator('.log-facts');
    await facts.getByText('a.test').first().waitFor();
    if (area === 'user') assert.equal(await facts.locator('dt', { hasText: /^Node$/ }).count(), 0);
    else
      await facts
        .locator('div', { has: one.page.locator('dt', { hasText: /^Node$/ }) })
        .getByText(node!.name)
        .waitFor();
  }
  await picture(operator.page, 'figures-log-node');
  assert.deepEqual(operator.takeProblems(), []);
  await operator.close();
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});

test('card and chart tell the same while traffic flows: the page polls, is asked anew, and ranges are switched', async () => {
  const { siteID } = await openShop(stand.whole, 'flowing', 80);
  const store = storeOf(stand.whole);
  let inserted = 0;
  const visitor = await Visitor.open(stand.browser, stand.whole.origin);
  const { page } = visitor;
  await visitor.context.clock.install();
  // Each question finds more than the one before it did: whatever two of them say together is not the same.
  await page.route(/\/statistics\/|resourceInfo/, async route => {
    inserted++;
    await store.insert('access_in', 'TSV', Buffer.from(accessRow(Date.now(), siteID, 50_000_000)), { async_insert: 0 });
    await route.continue();
  });
  await visitor.signIn('user', 'user@breakwater.test', password);
  await visitor.go('/user/dashboard');
  /** What card and chart say at one instant. */
  const both = () =>
    page.evaluate(() => {
      const all = [...document.querySelectorAll<HTMLElement>('.card')];
      const card = all.find(one => one.innerText.startsWith('Traffic this month'))?.querySelector<HTMLElement>('.card-value');
      const chart = document.querySelector<HTMLElement>('section.chart .chart-summary');
      const isDrawn = document.querySelector('section.chart .chart-plot') !== null;
      return [card?.innerText.split(/[+−]/)[0]!.trim() ?? '', isDrawn ? (chart?.innerText ?? '') : ''] as const;
    });
  let shown = '';
  const agreed = async (what: string) => {
    const before = shown;
    const end = performance.now() + 30_000;
    for (;;) {
      const [card, chart] = await both();
      if (chart) {
        assert.equal(chart, `Total ${card}`, what);
        if (chart !== before) {
          shown = chart;
          return;
        }
      }
      assert.ok(performance.now() < end, `${what}: nothing new was shown (${card}, ${chart})`);
      await page.evaluate(() => new Promise(requestAnimationFrame));
    }
  };
  await agreed('opened');
  await page.getByText('Last 30 days').click();
  await agreed('the other range');
  await page.getByRole('button', { name: 'Refresh' }).click();
  await agreed('asked anew');
  await page.getByText('Last 24 hours').click();
  await agreed('back');
  await visitor.context.clock.fastForward(polling.liveStatisticsPollMs + 1000);
  await agreed('polled');
  assert.ok(inserted > 10, `lines came in: ${inserted}`);
  assert.deepEqual(visitor.takeProblems(), []);
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  store.close();
  await visitor.close();
});

test('the vendor sees its operators with what hangs on them, its nodes and what versions run', async () => {
  for (const look of [
    { theme: 'light', width: 1440 },
    { theme: 'dark', width: 390, height: 844 },
  ] as const) {
    const admin = await stand.inside('admin', look);
    const { page } = admin;
    await admin.load('/admin/dashboard');
    const operator = page.locator('.overview-rows tbody tr', { hasText: 'client@breakwater.test' });
    assert.match(await operator.innerText(), /Normal\s+1\s+\d+\s+\d+\s+1/, 'one customer and one node');
    await page.locator('.top', { hasText: 'State of nodes' }).locator('li').first().waitFor();
    assert.match(await page.locator('.top', { hasText: 'Versions of nodes' }).innerText(), /\d+\.\d+\.\d+/);
    assert.deepEqual(await serious(admin), []);
    assert.deepEqual(await wide(page), []);
    if (look.width === 390) assert.deepEqual(await cramped(page), []);
    await picture(page, `admin-${look.width}`);
    await operator.getByRole('link').click();
    await page.waitForURL(/client=\d+/);
    assert.deepEqual(admin.takeProblems(), []);
    await admin.close();
  }
});
