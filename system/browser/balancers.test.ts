/** Load balancers in front of the nodes of a zone: named on the screen, and believed by the nodes. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { freePort } from '../../edge/test/harness.ts';
import { type Look, picture } from './browser.ts';
import { demo } from './demo.ts';

const stand = demo();
const path = '/client/nodeManage/zoneSetting?tab=proxyProtocol';
const bar = '.save-bar';

/** The status of an answer through an entrance, 0 where there is none. */
const through = (port: number) =>
  new Promise<number>(done => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () =>
      socket.write(
        'PROXY TCP4 198.51.100.7 127.0.0.1 50000 80\r\nGET / HTTP/1.1\r\nHost: demo.breakwater.test\r\nConnection: close\r\n\r\n',
      ),
    );
    socket.setEncoding('latin1').on('data', (piece: string) => (text += piece));
    socket.on('error', () => {}).on('close', () => done(Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0)));
  });

test('an operator names the balancers and where they come; what would believe everybody is refused at its field', async () => {
  const port = await freePort();
  const operator = await stand.inside('client');
  const { page } = operator;
  await operator.go(path);
  await page.fill('#httpPort', String(port));
  await page.click(`${bar} .ant-btn-primary`);
  await page.locator('[data-field=networks] .ant-form-item-explain-error').waitFor();
  await page.fill('#networks', '0.0.0.0/0');
  await page.click(`${bar} .ant-btn-primary`);
  await page.locator('[data-field=networks] .ant-form-item-explain-error', { hasText: '0.0.0.0/0' }).waitFor();
  await picture(page, 'balancers-refused');
  await page.fill('#networks', '127.0.0.0/8\n2001:db8::1');
  await page.click(`${bar} .ant-btn-primary`);
  await page.locator(bar).waitFor({ state: 'detached' });
  for (const end = performance.now() + 60_000; (await through(port)) !== 200;) {
    assert.ok(performance.now() < end, 'the entrance opens');
    await new Promise(next => setTimeout(next, 50));
  }
  operator.takeProblems();
  await operator.close();
});

for (const look of [
  { width: 1440, language: 'zh_TW', theme: 'light' },
  { width: 1440, language: 'en_US', theme: 'dark' },
  { width: 390, language: 'zh_CN', theme: 'light' },
  { width: 390, language: 'zh_TW', theme: 'dark' },
] as const satisfies Look[])
  test(`the card fits its place, ${look.width} ${look.language} ${look.theme}`, async () => {
    const visitor = await stand.inside('client', look);
    await visitor.go(path);
    await visitor.page.locator('#networks').waitFor();
    await visitor.complete();
    await picture(visitor.page, `balancers-${look.width}-${look.language}-${look.theme}`);
    const wide = await visitor.page.$eval('body', body => body.scrollWidth > innerWidth);
    assert.ok(!wide, 'nothing lies beyond the edge');
    await visitor.close();
  });
