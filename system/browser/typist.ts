/** A person who signs in with the keyboard alone, on a telephone's width, and reads what is said in their language. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { type Language, languageTags } from '#contract/kit/text.ts';
import { password } from '#system/whole.ts';
import type { Visitor } from './browser.ts';

/** What the console says, by its keys. */
export type Texts = Record<string, string>;
export async function textsOf(language: Language): Promise<Texts> {
  const files = [
    'text/base',
    'text/start',
    'text/first',
    'text/kit',
    'text/common',
    'text/messages',
    'kit/late',
    'account/text',
    'account/late',
  ];
  const found = await Promise.all(
    files.map(file => import(`../../console/src/${file}.${language}.ts`) as Promise<Record<string, Texts>>),
  );
  return Object.assign({}, ...found.flatMap(file => Object.values(file))) as Texts;
}

/** A customer whose hands are on the keyboard. */
export class Typist {
  readonly visitor: Visitor;
  readonly page: Page;
  readonly language: Language;
  readonly texts: Texts;
  constructor(visitor: Visitor, language: Language, texts: Texts) {
    this.visitor = visitor;
    this.page = visitor.page;
    this.language = language;
    this.texts = texts;
  }
  say(key: string, values: Record<string, string> = {}): string {
    const text = this.texts[key];
    assert.ok(text, `nothing is said for ${key}`);
    return text.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name]!);
  }

  /** Where typing goes now: a field of a plain form by its name, of a drawer by its id. */
  async in(field: string): Promise<void> {
    const isThere = (name: string) => {
      const { activeElement: at } = document;
      return at instanceof HTMLInputElement && (at.name === name || at.id === name);
    };
    await this.page.waitForFunction(isThere, field, { timeout: 20_000 }).catch(async () => {
      const at = await this.page.evaluate(() => document.activeElement?.outerHTML.slice(0, 200));
      assert.fail(`typing does not go to ${field}, but to ${at}`);
    });
  }
  async type(field: string, text: string): Promise<void> {
    await this.in(field);
    // over what stands there
    await this.page.keyboard.press('Control+A');
    await this.page.keyboard.type(text);
  }
  enter = () => this.page.keyboard.press('Enter');

  /** Goes on by the Tab key to what is called that, and presses a key there. */
  async press(
    name: string,
    { key = 'Enter', role = 'button', within = 'body' }: { key?: string; role?: 'button' | 'checkbox'; within?: string } = {},
  ): Promise<void> {
    const wanted = this.page.locator(within).getByRole(role, { name, exact: true }).first();
    await wanted.waitFor();
    for (let n = 0; n < 120; n++) {
      if (await wanted.evaluate(one => one === document.activeElement)) return this.page.keyboard.press(key);
      await this.page.keyboard.press('Tab');
    }
    assert.fail(`Tab does not come to “${name}”`);
  }

  /** The page before the shell that has this heading: in the language, no wider than the telephone. */
  async at(heading: string, keys: readonly string[]): Promise<void> {
    const { page } = this;
    await page.locator('.login-form h1', { hasText: this.say(heading) }).waitFor();
    await this.fits();
    const shown = await page.locator('.login-form').innerText();
    for (const key of keys) assert.ok(shown.includes(this.say(key)), `${key} is not said: ${shown}`);
    assert.equal(await page.evaluate(() => document.documentElement.lang), languageTags[this.language]);
    if (this.language === 'en_US') assert.doesNotMatch(shown, /\p{Script=Han}/u);
  }
  async fits(): Promise<void> {
    const width = await this.page.evaluate(() =>
      Math.max(
        ...[...document.querySelectorAll('html, body, .login-form, .notices, .ant-drawer-body')].map(one => one.scrollWidth),
      ),
    );
    assert.ok(width <= 390, `${this.page.url()} is ${width} px wide`);
  }

  /** The server refuses: that is told at once, and typing goes to where it is mended. */
  async refused(sentence: string, field: string): Promise<void> {
    await this.visitor.message(sentence);
    assert.equal(await this.page.locator('.notice-error:not([role=alert])').count(), 0);
    await this.fits();
    await this.in(field);
    this.visitor.takeProblems();
  }
  /** The form refuses: at the field, which says why to whoever does not see it. */
  async wrong(field: string, sentence: string): Promise<void> {
    await this.in(field);
    const said = await this.page.evaluate(() => {
      const at = document.activeElement!;
      const why = document.getElementById(at.getAttribute('aria-describedby') ?? '')?.textContent;
      return at.getAttribute('aria-invalid') === 'true' ? why : 'it is not marked';
    });
    assert.equal(said, sentence);
  }

  login = async () => {
    await this.visitor.context.clearCookies();
    await this.visitor.go('/user');
    await this.at('login.title', ['login.email', 'login.password', 'login.submit', 'login.passkey']);
  };
  async credentials(email: string, secret = password): Promise<void> {
    await this.type('email', email);
    await this.page.keyboard.press('Tab');
    await this.type('password', secret);
    await this.enter();
  }
  async inside(): Promise<void> {
    await this.visitor.message(this.say('message.loginSuccess'));
    await this.page.waitForURL('**/user/dashboard');
    await this.visitor.complete();
    await this.fits();
    assert.deepEqual(this.visitor.takeProblems(), []);
  }
  /** Ann at the provider: its own pages. */
  async there(login: string): Promise<void> {
    await this.type('login', login);
    await this.page.keyboard.press('Tab');
    await this.type('password', 'any');
    await this.enter();
    await this.page.waitForFunction(() => !document.querySelector('input[name=login]') && document.querySelector('button'));
    for (let n = 0; n < 9 && !(await this.page.evaluate(() => document.activeElement?.matches('button'))); n++)
      await this.page.keyboard.press('Tab');
    await this.enter();
  }
}
