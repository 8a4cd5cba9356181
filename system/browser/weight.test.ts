/**
 * No page grows without anybody noticing: every screen of every area, each of its tabs and its form, judged by what a browser on a
 * telephone loads that has never been here, and by how far things jump while they come, with something wrong told above them.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Area, picture, Visitor } from './browser.ts';
import { demo } from './demo.ts';
import { budget, forgetful, pathsOf, tooMuch, weigh, weighed } from './weight.ts';

const telephone = { width: 390, height: 844 } as const;
const stand = demo();

const trouble = {
  check: 'node.offline',
  key: 'n1',
  state: 'fail',
  since: '2026-11-01T00:00:00.000Z',
  sentence: '節點 edge-1 已離線：十分鐘沒有心跳，訪客的請求由其他節點回應。',
  advice: '請確認該機器的電源與網路，並查看節點上的日誌。',
  nodeID: 1,
};

for (const area of ['user', 'client', 'admin'] as const satisfies Area[])
  test(`${area}: every page holds its budget of scripts and requests, and nothing jumps`, async () => {
    const stranger = await Visitor.open(stand.browser, stand.whole.origin, { ...telephone, language: 'zh_TW' });
    await stranger.go(`/${area}`);
    const wrong = tooMuch(await weighed(stranger.page), budget.login).map(one => `login: ${one}`);
    await stranger.close();

    const visitor = await stand.inside(area, { ...telephone, language: 'zh_TW' });
    await forgetful(visitor);
    await visitor.page.route('**/systemHealth', route => route.fulfill({ json: { state: 'fail', troubles: [trouble] } }));
    let pages = 0;
    for (const path of pathsOf(area))
      await weigh(visitor, `/${area}/${path}`, async (at, weight, kind) => {
        pages++;
        assert.ok(weight.scripts > 3 && weight.scriptBytes > 100_000, `${at}: what was measured is no page`);
        if (!at.endsWith('(form)'))
          assert.ok(await visitor.page.locator('.health').isVisible(), `${at}: nothing is told above it`);
        const most = kind === 'form' ? budget.form : at.endsWith('/dashboard') ? budget.dashboard : budget.page;
        wrong.push(...tooMuch(weight, most).map(one => `${at}: ${one}`));
        if (weight.shift > 0.02) await picture(visitor.page, `shift${at.replace(/\W+/g, '-')}`);
      });
    assert.deepEqual(wrong, []);
    assert.ok(pages >= pathsOf(area).length);
    assert.deepEqual(visitor.takeProblems(), []);
    await visitor.close();
  });
