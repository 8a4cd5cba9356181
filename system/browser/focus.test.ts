/** Where somebody stands who works by keyboard, after what they opened has closed: on what opened it, or nearest to where that was. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import type { Visitor } from './browser.ts';
import { demo } from './demo.ts';
import { focusedIs, pressKeys, press, typeInto } from './keys.ts';

const stand = demo();

const drawer = '.ant-drawer-open';
const rowOf = (page: Page, name: string) => page.locator('.ant-table-row', { hasText: name });
const gone = (page: Page, what: string) => page.locator(what).waitFor({ state: 'detached' });

/** What the page does after the event of the moment is done. */
const settled = (page: Page) => page.evaluate(() => new Promise(done => setTimeout(done)));

async function roles(): Promise<Visitor> {
  const token = await stand.whole.signIn('client');
  for (const name of ['Anna', 'Bert', 'Carl']) {
    const body = { name, permissionKeys: ['sites.view'] };
    const { status, body: answer } = await stand.whole.call('POST', '/client/role', token, body);
    // the first test made them
    assert.ok(status < 300 || answer.code === 101_005 || status === 409, JSON.stringify(answer));
  }
  const visitor = await stand.inside('client');
  await visitor.load('/client/userManagement/roles');
  return visitor;
}

test('a drawer gives the focus back: given up, saved, and to the row it belongs to', async () => {
  const visitor = await roles();
  const { page } = visitor;
  // the button of the page, by Escape
  await press(page, 'button', 'Create');
  await page.locator(`${drawer} #name`).waitFor();
  await pressKeys(page, 'Escape');
  await gone(page, drawer);
  await focusedIs(page, page.locator('[data-create]'));

  // a row by its name: saved, and the row is drawn anew
  await press(page, 'button', 'Bert');
  await typeInto(page, `${drawer} #name`, 'Berta');
  await pressKeys(page, 'Control+Enter');
  await gone(page, drawer);
  await rowOf(page, 'Berta').waitFor();
  await focusedIs(page, rowOf(page, 'Berta').getByRole('button', { name: 'Berta' }));

  // by a shortcut nothing was left: the button that does the same
  await page.evaluate(() => (document.activeElement as HTMLElement).blur());
  await settled(page);
  await pressKeys(page, 'c');
  await page.locator(`${drawer} #name`).waitFor();
  await pressKeys(page, 'Escape');
  await gone(page, drawer);
  await focusedIs(page, page.locator('[data-create]'));
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});

test('a menu, and a question that it asks, give it back to the button of the row; with the row gone, to that of the next', async () => {
  const visitor = await roles();
  const { page } = visitor;
  const more = (name: string) => rowOf(page, name).getByRole('button', { name: 'More' });
  const openMenu = async (name: string) => {
    await more(name).focus();
    await pressKeys(page, 'Enter');
    await page.getByRole('menuitem', { name: 'Delete' }).waitFor();
  };
  await openMenu('Anna');
  await pressKeys(page, 'Escape');
  await page.getByRole('menuitem', { name: 'Delete' }).waitFor({ state: 'hidden' });
  await focusedIs(page, more('Anna'));

  const ask = async (name: string) => {
    await openMenu(name);
    const item = page.getByRole('menuitem', { name: 'Delete' });
    for (let n = 0; n < 12 && !(await item.evaluate(one => one === document.activeElement)); n++)
      await pressKeys(page, n === 0 ? 'Tab' : 'ArrowDown');
    await pressKeys(page, 'Enter');
    // what has to be typed is typed at once
    await focusedIs(page, page.locator('.ant-modal .confirm-word input'));
  };
  await ask('Anna');
  await pressKeys(page, 'Escape');
  await gone(page, '.ant-modal-wrap');
  await focusedIs(page, more('Anna'));

  // the row that follows has its place
  const names = await page.locator('.ant-table-row').evaluateAll(all => all.map(row => row.textContent));
  const at = names.findIndex(text => text.includes('Anna'));
  await ask('Anna');
  await typeInto(page, '.ant-modal .confirm-word input', 'Anna');
  await pressKeys(page, 'Enter');
  await rowOf(page, 'Anna').waitFor({ state: 'detached' });
  await focusedIs(page, page.locator('.ant-table-row').nth(at).getByRole('button', { name: 'More' }));
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});

test('a question over a form gives it back to the form; the form to what opened it', async () => {
  const visitor = await roles();
  const { page } = visitor;
  await press(page, 'button', 'Create');
  await typeInto(page, `${drawer} #name`, 'Never');
  await pressKeys(page, 'Escape');
  await focusedIs(page, page.locator('.ant-modal-wrap').getByRole('button', { name: 'Cancel' }));
  await pressKeys(page, 'Escape');
  await gone(page, '.ant-modal-wrap');
  await focusedIs(page, page.locator(`${drawer} #name`));
  await pressKeys(page, 'Escape');
  await page.locator('.ant-modal-wrap').waitFor();
  await press(page, 'button', 'Discard', '.ant-modal-wrap');
  await gone(page, drawer);
  await focusedIs(page, page.locator('[data-create]'));

  // whoever let go of it by a press beside everything is left alone
  await page.mouse.click(700, 880);
  await page.evaluate(() => document.querySelector('.ant-table-row')?.remove());
  await settled(page);
  assert.equal(await page.evaluate(() => document.activeElement === document.body), true);
  await visitor.close();
});
