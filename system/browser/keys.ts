/** A person whose hands are on the keyboard: they go to things by Tab, and nowhere by pressing with a mouse. */
import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import { poll } from '#server/store/engine-process.ts';

const stepsMost = 200;
const isFocused = (at: Locator) => at.evaluate(one => one === document.activeElement);

export const pressKeys = async (page: Page, ...keys: string[]): Promise<void> => {
  for (const key of keys) await page.keyboard.press(key);
};

/** Goes there by Tab, however far it is. */
export async function tabTo(page: Page, at: Locator): Promise<void> {
  // boxes of a group of choices stand hidden under what is drawn for them
  await at.waitFor({ state: 'attached' });
  for (let steps = 0; steps < stepsMost; steps++) {
    if (await isFocused(at)) return;
    await page.keyboard.press('Tab');
  }
  assert.fail(`Tab does not come to ${String(at)}`);
}

/** Presses what has this role and a name that holds this. */
export async function press(
  page: Page,
  role: 'button' | 'link' | 'checkbox' | 'switch' | 'radio' | 'menuitem' | 'tab',
  name: string | RegExp,
  within = 'body',
  key = 'Enter',
): Promise<void> {
  await tabTo(page, page.locator(within).getByRole(role, { name }).first());
  await page.keyboard.press(key);
}

/** Goes to a field and types over what stands in it. */
export async function typeInto(page: Page, field: string, text: string): Promise<void> {
  await tabTo(page, page.locator(field));
  await page.keyboard.press('Control+A');
  await page.keyboard.type(text);
}

/** Waits until the keyboard is there. */
export async function focusedIs(page: Page, at: Locator): Promise<void> {
  const isThere = await poll(() => isFocused(at).catch(() => false), 20_000, 50);
  if (isThere) return;
  const found = await page.evaluate(() => document.activeElement?.outerHTML.slice(0, 300));
  assert.fail(`the keyboard is not at ${String(at)}, but at ${found}`);
}
