/** What an operator sees of a node and sets of it: live figures, further addresses, a memo where it stands, forms for several. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { picture, type Visitor } from './browser.ts';
import { demo } from './demo.ts';

const stand = demo();
const drawer = (visitor: Visitor) => visitor.page.locator('.ant-drawer-open').last();

test('an operator opens a node: its machine, live figures, a memo changed in place and a further address', async () => {
  const visitor = await stand.inside('client');
  const { page } = visitor;
  await visitor.go('/client/nodeManage/nodesList');
  const row = page.locator('.ant-table-row', { hasText: 'local-1' });
  await row.getByText('Normal').first().waitFor();
  await row
    .getByRole('button', { name: 'local-1' })
    .or(row.getByText('local-1', { exact: true }))
    .first()
    .click();
  const cpu = drawer(visitor).locator('.node-share', { hasText: 'CPU' }).locator('.node-figure');
  const figures = async () => (await drawer(visitor).locator('.facts').allInnerTexts()).join('\n');
  await page.waitForFunction(() => /\d%/.test(document.querySelector('.node-figure')?.textContent ?? ''));
  assert.match(await cpu.innerText(), /^\d+\.\d%$/);
  assert.match(await figures(), new RegExp(`Node\\.js\\s+${process.version}`));
  assert.match(await figures(), /per second, \d/);
  await picture(page, 'node');

  await drawer(visitor).getByRole('button', { name: 'Change memo' }).click();
  await page.keyboard.type('rack 7');
  await page.keyboard.press('Enter');
  await page.locator('.ant-table-row', { hasText: 'local-1' }).waitFor();
  await drawer(visitor).getByText('rack 7').waitFor();

  await drawer(visitor)
    .getByRole('button', { name: /Create|Add|New/ })
    .last()
    .click();
  await page.fill('.ant-drawer-open form #address', 'fe80::1');
  await page.locator('.ant-drawer-footer .ant-btn-primary').last().click();
  await page.locator('.ant-form-item-explain-error').first().waitFor();
  await page.fill('.ant-drawer-open form #address', '203.0.113.7');
  await page.locator('.ant-drawer-footer .ant-btn-primary').last().click();
  await visitor.message('Add Sub Node Success!');
  await drawer(visitor).locator('.ant-table-row', { hasText: '203.0.113.7' }).waitFor();
  await picture(page, 'node-subs');
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});

test('forms for several nodes say what is recommended, and save', async () => {
  const visitor = await stand.inside('client');
  const { page } = visitor;
  await visitor.go('/client/nodeManage/nodesList');
  await page.locator('.ant-table-row .ant-checkbox-input').first().check();
  const bar = page.locator('.toolbar-chosen');
  const act = async (name: string) => {
    const button = bar.getByRole('button', { name, exact: true });
    if (!(await button.isVisible())) await bar.getByRole('button', { name: /More/ }).click();
    await button
      .or(page.getByRole('menuitem', { name, exact: true }))
      .first()
      .click();
  };
  await act('Geneva window');
  await page.getByText('v1', { exact: true }).click();
  await page.fill('.ant-drawer-open #window', '500');
  const recommended = page.getByText('Recommended: 1–60 for v1, 1 for v2');
  await recommended.waitFor();
  await page.fill('.ant-drawer-open #window', '40');
  await recommended.waitFor({ state: 'detached' });
  await page.getByText('v2', { exact: true }).click();
  await recommended.waitFor();
  await picture(page, 'node-geneva');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Discard' }).click();
  await act('Log files');
  await page.fill('.ant-drawer-open #logRotateTime', '59');
  await page.locator('.ant-drawer-footer .ant-btn-primary').last().click();
  await page.locator('.ant-form-item-explain-error').first().waitFor();
  await page.fill('.ant-drawer-open #logRotateTime', '3600');
  await page.locator('.ant-drawer-footer .ant-btn-primary').last().click();
  await visitor.message('Saved; the nodes take it up at once');
  assert.deepEqual(visitor.takeProblems(), []);
  await visitor.close();
});

test('what a node shows fits a telephone, by night too; a zone has its shares', async () => {
  for (const [theme, width] of [
    ['light', 390],
    ['dark', 1440],
    ['dark', 390],
  ] as const) {
    const visitor = await stand.inside('client', { language: 'zh_TW', theme, width });
    const { page } = visitor;
    await visitor.go('/client/nodeManage/nodesList');
    await page.getByText('local-1').first().click();
    await page.waitForFunction(() => /\d%/.test(document.querySelector('.node-figure')?.textContent ?? ''));
    await picture(page, `node-${theme}-${width}`);
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width);
    await visitor.go('/client/nodeManage/zoneSetting?zoneID=1&tab=resource');
    await page.locator('#cpu').waitFor();
    await picture(page, `zone-resource-${theme}-${width}`);
    assert.deepEqual(visitor.takeProblems(), []);
    await visitor.close();
  }
});

test('open join lines stand in the dialog of new ones', async () => {
  const visitor = await stand.inside('client');
  const { page } = visitor;
  const open = () => page.getByRole('button', { name: 'Join a node' }).first().click();
  await visitor.go('/client/nodeManage/nodesList');
  await open();
  await page.fill('.ant-modal #name', 'edge-9');
  await page.getByRole('button', { name: 'Make the command' }).click();
  await page.locator('.ant-modal-footer').getByRole('button', { name: 'Close' }).click();
  await open();
  const line = page.locator('.open-lines li', { hasText: 'edge-9' });
  await line.waitFor();
  await picture(page, 'join-open-lines');
  const small = await stand.inside('client', { language: 'zh_TW', theme: 'dark', width: 390 });
  await small.go('/client/nodeManage/nodesList');
  await small.page.locator('.ant-btn-primary').first().click();
  await small.page.locator('.open-lines li').first().waitFor();
  await picture(small.page, 'join-open-lines-dark-390');
  assert.ok((await small.page.evaluate(() => document.documentElement.scrollWidth)) <= 390);
  await small.close();
  await visitor.close();
});
