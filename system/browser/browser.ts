/** Chromium for tests of the console: visitors with a language, a theme and a window, who remember what went wrong on their page. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page, type Request } from 'playwright-core';
import { poll } from '#server/store/engine-process.ts';
import { testFolder } from '#system/engines.ts';
import { cookieName } from '../../console/src/kit/credentials.ts';

const programs = [
  process.env['CHROMIUM'],
  // Debian's own programs, without the wrapper script that reads settings of the user
  '/usr/lib/chromium/chromium-headless-shell',
  '/usr/lib/chromium/chromium',
  '/usr/bin/chromium',
  '/usr/bin/google-chrome',
];
const flags = ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-background-networking'];

/**
 * @param more flags beside the usual
 * @param root PEM: an authority it trusts as it does those it came with; names and dates of what that issued are judged as ever
 */
export async function openBrowser(more: readonly string[] = [], root?: string): Promise<Browser> {
  const program = programs.find(path => path && existsSync(path));
  if (!program) throw new Error('Browser tests need chromium-headless-shell: install the package or set CHROMIUM to its path.');
  const home = root === undefined ? undefined : homeTrusting(root);
  return chromium.launch({
    executablePath: program,
    args: [...flags, ...more],
    ...(home === undefined ? {} : { env: { ...process.env, HOME: home } }),
  });
}

/** A home of a person who added an authority: Chromium reads there whom to trust besides. */
function homeTrusting(root: string): string {
  const home = testFolder('home');
  const store = join(home, '.pki/nssdb');
  mkdirSync(store, { recursive: true });
  const file = join(home, 'root.pem');
  writeFileSync(file, root);
  const certutil = (...args: string[]) =>
    execFileSync('certutil', ['-d', `sql:${store}`, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
  certutil('-N', '--empty-password');
  certutil('-A', '-n', 'root', '-t', 'C,,', '-i', file);
  return home;
}

export type Area = 'user' | 'client' | 'admin';
export interface Look {
  /** null: nobody has chosen one in this browser */
  language?: 'zh_TW' | 'zh_CN' | 'en_US' | null;
  theme?: 'light' | 'dark';
  width?: number;
  height?: number;
}

export class Visitor {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly origin: string;
  /** Errors of the page and of its console; a test ends with none it did not expect. */
  readonly problems: string[] = [];
  /** What the page has asked for and not been answered yet. */
  private readonly asked = new Set<Request>();
  /** the messages that came so far and that nobody has waited for */
  readonly #noticed: string[];

  private constructor(context: BrowserContext, page: Page, origin: string, noticed: string[]) {
    this.#noticed = noticed;
    this.context = context;
    this.page = page;
    this.origin = origin;
    // the machine that runs this may be busy with other tests
    page.setDefaultTimeout(60_000);
    page.on('request', request => this.asked.add(request));
    page.on('requestfinished', request => this.asked.delete(request));
    page.on('requestfailed', request => this.asked.delete(request));
    page.on('pageerror', error => this.problems.push(`error: ${error.message}`));
    page.on('console', message => {
      if (message.type() === 'error') this.problems.push(`console: ${message.text()}`);
    });
  }

  static async open(browser: Browser, origin: string, look: Look = {}): Promise<Visitor> {
    const { language = 'en_US', theme = 'light', width = 1440, height = 900 } = look;
    const context = await browser.newContext({
      viewport: { width, height },
      locale: 'en-US',
      timezoneId: 'Asia/Taipei',
      reducedMotion: 'reduce',
    });
    await context.addInitScript(
      ([chosenLanguage, chosenTheme]) => {
        // before the first page there is one that has no store
        if (location.protocol === 'about:') return;
        // A choice made on the page stays: this runs at every load.
        if (chosenLanguage && !localStorage.getItem('language')) localStorage.setItem('language', chosenLanguage);
        if (!localStorage.getItem('theme')) localStorage.setItem('theme', chosenTheme!);
      },
      [language, theme],
    );
    const noticed: string[] = [];
    await context.exposeBinding('keepNotice', (_source, text: string) => void noticed.push(text));
    await context.addInitScript(() => {
      const { keepNotice } = globalThis as unknown as { keepNotice(text: string): void };
      new MutationObserver(changes => {
        for (const { addedNodes } of changes)
          for (const node of addedNodes) if (node instanceof Element && node.matches('.notice')) keepNotice(node.textContent);
      }).observe(document, { childList: true, subtree: true });
    });
    return new Visitor(context, await context.newPage(), origin, noticed);
  }

  /** Opens an address and waits until nothing is asked any more. */
  async go(path: string): Promise<void> {
    await this.page.goto(this.origin + path);
    await this.settled();
  }

  async settled(): Promise<void> {
    await this.page.waitForLoadState('networkidle');
    await this.page.waitForFunction(() => !document.querySelector('.topbar-progress, .is-skeleton, .chart-skeleton'));
  }

  /** Opens an address of the shell, and waits until its page is complete. */
  async load(path: string): Promise<void> {
    await this.page.goto(this.origin + path);
    await this.complete();
  }

  /** The same within the page, as a link does it: the program is not loaded anew. The first is loaded. */
  async follow(path: string): Promise<void> {
    if (this.page.url() === 'about:blank') return this.load(path);
    await this.page.evaluate(to => history.pushState(null, '', to), path);
    await this.complete();
  }

  /**
   * Waits until a page of the shell stands with all it shows: nothing waits, nothing is asked, and the page has had nothing to do, several
   * times in a row. How long that takes hangs on the machine, so no span of time says it.
   */
  async complete(): Promise<void> {
    for (let quiet = 0; quiet < 4; quiet = this.asked.size > 0 ? 0 : quiet + 1) {
      await this.page.waitForFunction(() => {
        const content = document.querySelector('.shell-content');
        const waits = '.is-skeleton, .skeleton-cell, .ant-skeleton, .chart-wait, .tab-wait, .topbar-progress, [aria-busy=true]';
        return content?.querySelector('.page-head') && !document.querySelector(waits);
      });
      await this.page.evaluate(() => new Promise(done => requestIdleCallback(() => requestAnimationFrame(done))));
    }
  }

  /** Has a session without the form, as somebody who signed in yesterday: no page is loaded yet. */
  async enter(area: Area, credentials: { accessToken: string; refreshToken: string }): Promise<void> {
    const held = { tokenType: 'Bearer', ...credentials };
    await this.context.addCookies(
      (['accessToken', 'refreshToken', 'tokenType'] as const).map(name => ({
        name: cookieName(area, name),
        value: encodeURIComponent(held[name]),
        url: this.origin,
        sameSite: 'Strict',
        expires: Date.now() / 1000 + 86_400,
      })),
    );
  }

  /** Signs in through the form. */
  async signIn(area: Area, email: string, password: string): Promise<void> {
    await this.go(`/${area}`);
    await this.page.fill('input[name=email]', email);
    await this.page.fill('input[name=password]', password);
    await this.page.click('button[type=submit]');
    await this.page.waitForURL(`**/${area}/dashboard`);
    await this.settled();
  }

  /** Waits for a message on top of the page that holds this text. It may have gone again: on a busy machine it stands for an instant. */
  async message(text: string): Promise<void> {
    const at = () => this.#noticed.findIndex(one => one.includes(text));
    assert.ok(await poll(() => at() >= 0, 60_000, 50), `no message holds “${text}”: ${JSON.stringify(this.#noticed)}`);
    this.#noticed.splice(0, at() + 1);
  }

  /** Chooses an entry of a select of the open form by its label. */
  async choose(field: string, entry: string): Promise<void> {
    await this.page.click(`#${field}`);
    await this.page.locator('.ant-select-item-option', { hasText: entry }).first().click();
  }

  /** Takes what went wrong so far, so that the next look starts clean. */
  takeProblems(): string[] {
    return this.problems.splice(0);
  }

  async close(): Promise<void> {
    await this.context.close();
  }
}

/** Keeps a picture of the page in the folder BREAKWATER_PICTURES names; without it nothing is kept. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env['BREAKWATER_PICTURES'];
  if (!folder) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`) });
}
