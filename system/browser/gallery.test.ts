/**
 * The kit's own gallery (`npm run gallery`): every piece in every state it says it has, in both themes and three languages. axe finds
 * nothing serious, nothing is wider than a telephone, and what a finger is to meet has room for it. What takes long is looked at once:
 * sizes in each language, colours in each theme, all the rest in one of both.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { build } from 'vite';
import { languages, languageTags } from '#contract/kit/text.ts';
import { pieces } from '../../console/gallery/pieces.ts';
import { openBrowser, picture, Visitor } from './browser.ts';
import { serious } from './serious.ts';
import { cramped, wide } from './touch.ts';

const gallery = new URL('../../console/gallery/', import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'breakwater-gallery-'));
const types: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.woff2': 'font/woff2',
};
let browser: Browser;
let server: Server;
let origin: string;

before(async () => {
  const built = build({
    configFile: join(gallery, 'vite.config.ts'),
    logLevel: 'error',
    // nobody waits for these bytes: making them small takes longer than loading them
    build: { outDir: folder, minify: false, cssMinify: false },
  });
  await Promise.all([openBrowser().then(one => (browser = one)), built]);
  server = createServer(({ url = '/' }, answer) => {
    const path = url.split('?')[0] === '/' ? '/index.html' : url.split('?')[0]!;
    try {
      answer.writeHead(200, { 'content-type': types[extname(path)] ?? 'application/octet-stream' });
      answer.end(readFileSync(join(folder, path)));
    } catch {
      answer.end();
    }
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
after(async () => {
  await browser?.close();
  server?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** All pieces stand, with all they ask for. */
async function complete({ page }: Visitor) {
  await page.waitForFunction(count => document.querySelectorAll('[data-piece][data-ready]').length === count, pieces.length);
  await page.waitForLoadState('networkidle');
  await drawn(page);
}
/** What goes on loading does so because its state is that. */
const drawn = (page: Page) =>
  page.waitForFunction(
    () =>
      ![...document.querySelectorAll('.gallery-stage .ant-skeleton, .gallery-stage [aria-busy=true], .is-skeleton')].some(
        one => one.closest('[data-state]')?.getAttribute('data-state') !== 'loading',
      ),
  );

/** The first example of a piece in a state, on the piece's own page. */
async function exampleOf(page: Page, piece: string, state: string) {
  await page.evaluate(name => (location.hash = name), piece);
  await page.waitForSelector(`[data-piece=${piece}][data-ready]`);
  const found = page.locator(`[data-state=${state}]`).first();
  await found.locator('button, input, textarea').first().waitFor();
  return found;
}

// two at a time: one draws while the other is looked through
describe('the gallery', { concurrency: 2 }, () => {
  test('every piece in every state, in three languages, on a desk and on a telephone', async () => {
    const visitor = await Visitor.open(browser, origin, { theme: 'light', language: languages[0] });
    const { page } = visitor;
    await page.goto(`${origin}/#all`);
    for (const language of languages) {
      if (language !== languages[0]) {
        // as somebody who changes it does: the page loads anew
        await page.evaluate(chosen => localStorage.setItem('language', chosen), language);
        await page.setViewportSize({ width: 1440, height: 900 });
        await page.reload();
      }
      await complete(visitor);
      assert.equal(await page.evaluate(() => document.documentElement.lang), languageTags[language]);
      for (const piece of pieces) {
        const shown = await page.$$eval(`[data-piece=${piece.name}] [data-state]`, all =>
          all.map(one => one.getAttribute('data-state')!),
        );
        assert.deepEqual([...new Set(shown)].sort(), [...piece.states].sort(), `${piece.name}: states`);
      }
      // what axe looks at is the same in all languages
      if (language === languages[0]) assert.deepEqual(await serious(visitor), []);
      await page.setViewportSize({ width: 390, height: 844 });
      await drawn(page);
      // charts learn their new width a frame later, one after the other
      let beyond = await wide(page);
      for (let frames = 0; beyond.length > 0 && frames < 300; frames++) {
        await page.evaluate(() => new Promise(requestAnimationFrame));
        beyond = await wide(page);
      }
      assert.deepEqual(beyond, [], `${language}: wider than a telephone`);
      assert.deepEqual(await cramped(page), [], `${language}: too small for a finger`);
      assert.deepEqual(visitor.takeProblems(), []);
    }
    await visitor.close();
  });

  test('every piece in every state in the dark: what is written can be read', async () => {
    const visitor = await Visitor.open(browser, origin, { theme: 'dark', language: 'en_US' });
    await visitor.page.goto(`${origin}/#all`);
    await complete(visitor);
    // the other theme has other colours, and is else the same
    assert.deepEqual(await serious(visitor, undefined, 'colours'), []);
    assert.deepEqual(visitor.takeProblems(), []);
    await visitor.close();
  });

  for (const [theme, language, width] of [
    ['light', 'zh_TW', 1440],
    ['dark', 'en_US', 390],
  ] as const)
    test(`${theme}, ${language}, ${width} px: what opens over the page`, async () => {
      const visitor = await Visitor.open(browser, origin, { theme, language, width });
      const { page } = visitor;
      const wrong: string[] = [];
      let opened = 0;
      await page.goto(`${origin}/#${pieces[0]!.name}`);
      for (const piece of pieces) {
        await page.evaluate(name => (location.hash = name), piece.name);
        await page.waitForSelector(`[data-piece=${piece.name}][data-ready]`);
        for (const opener of await page.locator('[data-opens]').all()) {
          await opener.click();
          const dialog = page.locator('[role=dialog]').last();
          await dialog.waitFor();
          const isLoading = (await opener.locator('xpath=ancestor::*[@data-state][1]').getAttribute('data-state')) === 'loading';
          if (!isLoading)
            await page.waitForFunction(() => !document.querySelector('[role=dialog] :is(.ant-skeleton, [aria-busy=true])'));
          const found = [
            ...(await serious(visitor, '[role=dialog]', theme === 'dark' ? 'colours' : 'all')),
            ...(await wide(page, '[role=dialog]')).map(one => `too wide: ${one}`),
            ...(width === 390 ? await cramped(page, '[role=dialog]') : []).map(one => `too small for a finger: ${one}`),
          ];
          wrong.push(...found.map(one => `${piece.name}: ${one}`));
          await picture(page, `gallery-${piece.name}-${opened++}-${width}`);
          await page.keyboard.press('Escape');
          await dialog.waitFor({ state: 'detached' });
        }
      }
      assert.ok(opened > 8);
      assert.deepEqual(wrong, []);
      assert.deepEqual(visitor.takeProblems(), []);
      await visitor.close();
    });

  test('pieces do by keyboard what they do by pointer', async () => {
    const visitor = await Visitor.open(browser, origin, { language: 'en_US' });
    const { page } = visitor;
    const example = (piece: string, state: string) => exampleOf(page, piece, state);
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'));
    await page.goto(origin);

    // three thousand rows: the first goes to the end and comes back, the second stays where it was put
    const many = await example('sort', 'many');
    await many.locator('.sort-handle').first().focus();
    for (const key of ['Space', 'End', 'Escape']) await page.keyboard.press(key);
    assert.equal(await focused(), 'Move /path/1');
    assert.equal(await many.locator('[data-at="0"] .sort-content').textContent(), '/path/1');
    for (const key of ['Space', 'End', 'ArrowUp', 'Space']) await page.keyboard.press(key);
    assert.equal(await focused(), 'Move /path/1');
    assert.equal(await many.locator('[data-at="2998"] .sort-content').textContent(), '/path/1');
    assert.match((await many.locator('[role=status]').textContent())!, /2,999 of 3,000/);
    assert.ok((await many.locator('.sort-row').count()) < 40, 'only what is in sight is drawn');
    await many.locator('[data-at="2998"] .sort-place').fill('2');
    await page.keyboard.press('Enter');
    await many.locator('[data-at="1"]', { hasText: '/path/1' }).waitFor();

    const amount = await example('units', 'normal');
    await amount.locator('input').first().fill('20 m');
    await page.keyboard.press('Tab');
    assert.equal(await amount.locator('output').textContent(), '= 20000000');
    assert.equal(await amount.locator('input').first().inputValue(), '20');

    const turned = await example('switch', 'normal');
    await turned.getByRole('switch').focus();
    await page.keyboard.press('Space');
    assert.equal(await turned.getByRole('switch').getAttribute('aria-checked'), 'false', 'at once');
    await turned.getByRole('button', { name: 'Undo' }).press('Enter');
    await turned.locator('[aria-checked=true]').waitFor();
    assert.equal(await focused(), 'HTTP compression');
    const refused = await example('switch', 'failed');
    await refused.getByRole('switch').press('Space');
    await refused.locator('[aria-checked=true]').waitFor();
    assert.match((await refused.locator('[role=status]').textContent())!, /as before/);

    const pem = (await example('pem', 'normal')).locator('xpath=following-sibling::*[1]');
    await pem.getByRole('button', { name: 'Put in order' }).press('Enter');
    await pem.getByRole('button', { name: 'Put in order' }).waitFor({ state: 'detached' });
    assert.match(await pem.locator('textarea').inputValue(), /PRIVATE KEY/, 'the key stays');
    assert.ok(await pem.getByText('Belongs to the certificate').isVisible());

    const conditions = await example('conditions', 'empty');
    await conditions.getByRole('button', { name: 'Add condition' }).press('Enter');
    await page.waitForFunction(() => document.activeElement?.getAttribute('aria-label') === 'Condition 1: what');
    await conditions.getByRole('button', { name: 'Remove condition 1' }).press('Enter');
    await page.waitForFunction(() => document.activeElement?.textContent === 'Add condition');
    assert.deepEqual(visitor.takeProblems(), []);
    await visitor.close();
  });

  test('a wizard, thousands to choose from, regions and hours by keyboard; hours with mouse and finger', async () => {
    const visitor = await Visitor.open(browser, origin, { language: 'en_US' });
    const { page } = visitor;
    const example = (piece: string, state: string) => exampleOf(page, piece, state);
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    const focused = () => page.evaluate(() => document.activeElement?.textContent);
    await page.goto(origin);

    const wizard = await example('wizard', 'normal');
    await wizard.getByRole('button', { name: 'Next' }).press('Enter');
    await wizard.getByRole('alert').waitFor();
    await wizard.getByRole('textbox', { name: 'Domain' }).fill('www.example.com');
    await press('Enter');
    await wizard.getByRole('heading', { name: 'Origin' }).waitFor();
    assert.match((await focused())!, /Origin.*2 of 3/);
    await wizard.getByRole('button', { name: 'Domain' }).press('Enter');
    assert.equal(await wizard.getByRole('textbox', { name: 'Domain' }).inputValue(), 'www.example.com', 'as it was left');

    // five thousand, fifty at a time
    const transfer = await example('transfer', 'many');
    const there = transfer.getByRole('listbox', { name: 'Available' });
    const chosen = transfer.getByRole('listbox', { name: 'Chosen' });
    await there.getByRole('option').first().focus();
    await press('ArrowDown', 'Space', 'End');
    assert.equal(await focused(), 'www-50.example.com');
    await there.getByRole('option', { name: 'www-51.example.com' }).waitFor();
    await press('End');
    assert.equal(await focused(), 'www-100.example.com', 'the next page came as the end of this one came in sight');
    assert.ok((await there.getByRole('option').count()) < 40, 'only what is in sight is drawn');
    assert.deepEqual(
      await chosen.getByRole('option').allInnerTexts(),
      [3, 7, 2].map(n => `www-${n}.example.com`),
    );
    await chosen.getByRole('option').nth(1).focus();
    await press('Space');
    assert.equal(await focused(), 'www-2.example.com', 'who stands on what goes stands on its neighbour');
    await transfer.getByLabel('Search what is available').fill('www-499');
    await there.getByRole('option', { name: 'www-499.example.com' }).focus();
    await press('Space', 'ArrowDown', 'ArrowDown', 'Shift+Space');
    assert.equal(await chosen.getByRole('option').count(), 5);
    assert.match((await transfer.locator('[role=status]').innerText())!, /2 added, 5 chosen/);
    await transfer.getByRole('button', { name: 'Add all (11)' }).press('Enter');
    await transfer.getByText('13', { exact: true }).waitFor();

    const regions = await example('regions', 'normal');
    const item = (name: string) => regions.getByRole('treeitem', { name, exact: true });
    assert.equal(await item('Asia').getAttribute('aria-checked'), 'mixed');
    await item('Asia').focus();
    await press('ArrowRight', 'ArrowRight');
    assert.match((await focused())!, /^China/);
    await press('Space', 'ArrowLeft');
    assert.match((await focused())!, /^Asia/);
    await press('Space');
    assert.equal(await item('Asia').getAttribute('aria-checked'), 'true');
    await press('ArrowLeft');
    assert.equal(await item('Asia').getAttribute('aria-expanded'), 'false');
    await regions.getByRole('textbox').fill('taip');
    assert.deepEqual(await regions.getByRole('treeitem').evaluateAll(all => all.map(one => one.getAttribute('aria-label'))), [
      'Asia',
      'Taiwan',
      'New Taipei',
      'Taipei',
    ]);
    // of all Asia this one is left out
    await item('Taipei').focus();
    await press('Space');
    assert.equal(await item('Taiwan').getAttribute('aria-checked'), 'mixed');
    assert.equal(await item('New Taipei').getAttribute('aria-checked'), 'true');

    const hours = await example('schedule', 'empty');
    const told = () => hours.locator('.schedule-said li').allInnerTexts();
    const said = async () => (await told()).map(one => one.replaceAll('\n', ' '));
    await hours.locator('td[tabindex="0"]').focus();
    await press('Space', 'Shift+ArrowRight', 'Shift+ArrowRight', 'Shift+ArrowDown');
    assert.deepEqual(await said(), ['Mon 09:00–12:00', 'Tue 11:00–12:00']);
    await hours.getByRole('button', { name: 'Clear' }).press('Enter');
    await hours.getByRole('button', { name: 'Sunday' }).press('Enter');
    assert.deepEqual(await said(), ['Sun 00:00–24:00']);
    await hours.getByRole('button', { name: 'Clear' }).press('Enter');
    const middle = async (name: string) => {
      const box = (await hours.getByRole('gridcell', { name, exact: true }).boundingBox())!;
      return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
    };
    const [from, to] = [await middle('Monday 08:00–09:00'), await middle('Wednesday 10:00–11:00')];
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    await page.mouse.move(to.x, to.y, { steps: 4 });
    await page.mouse.up();
    assert.deepEqual(await said(), ['Mon to Wed 08:00–11:00']);
    const touch = await visitor.context.newCDPSession(page);
    const finger = (type: 'touchStart' | 'touchMove' | 'touchEnd', ...touchPoints: { x: number; y: number }[]) =>
      touch.send('Input.dispatchTouchEvent', { type, touchPoints });
    await finger('touchStart', from);
    await page.waitForSelector('[data-painting]');
    await finger('touchMove', to);
    await finger('touchEnd');
    await hours.getByText('No hours chosen yet').waitFor();
    await finger('touchStart', to);
    await finger('touchEnd');
    await hours.getByText('10:00–11:00', { exact: true }).waitFor();
    assert.deepEqual(visitor.takeProblems(), []);
    await visitor.close();
  });
});
