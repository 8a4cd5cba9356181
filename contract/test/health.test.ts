import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { languages } from '#contract/kit/text.ts';
import {
  Counted,
  type Reason,
  Tracker,
  adviceOf,
  checkIDs,
  fails,
  readChecks,
  reasons,
  sentenceOf,
  troubles,
  warns,
  well,
  worst,
} from '#contract/system/health.ts';
import { diskFinding, leastOf, sizes, wantedOf } from '#contract/system/room.ts';

const at = (seconds: number) => new Date(1_800_000_000_000 + seconds * 1000);

test('a check keeps its `since` while its state and its reason stay', () => {
  const tracker = new Tracker();
  const first = tracker.track([fails('bus.away', { detail: 'a' }), well('store')], at(0));
  assert.deepEqual(
    first.map(one => one.since),
    [at(0).toISOString(), at(0).toISOString()],
  );
  const [same] = tracker.track([fails('bus.away', { detail: 'b' })], at(5));
  assert.equal(same!.since, at(0).toISOString());
  const [other] = tracker.track([warns('bus.slow')], at(6));
  assert.equal(other!.since, at(6).toISOString());
  assert.equal(tracker.track([well('bus')], at(7))[0]!.since, at(7).toISOString());
  // gone and back is anew; two of one check are two
  tracker.track([], at(8));
  const nodes = [fails('nodes.unserved', {}, { key: '1' }), well('nodes', undefined, '2')];
  assert.equal(tracker.track([...nodes, well('bus')], at(9))[2]!.since, at(9).toISOString());
  const later = tracker.track([warns('nodes.offline', {}, { key: '1' }), nodes[1]!], at(10));
  assert.deepEqual(
    later.map(one => one.since),
    [at(10).toISOString(), at(9).toISOString()],
  );
});

test('the worst counts, and troubles are told worst and oldest first', () => {
  const tracker = new Tracker();
  tracker.track([warns('disk.low')], at(0));
  const list = tracker.track([warns('disk.low'), well('bus'), fails('store.away'), warns('process.busy')], at(1));
  assert.equal(worst(list), 'fail');
  assert.equal(worst([well('bus')]), 'ok');
  assert.deepEqual(
    troubles(list).map(one => one.id),
    ['store', 'disk', 'process'],
  );
});

test('a counter is told of while it is fresh, also when its source starts anew', () => {
  const counted = new Counted('unlogged.counted');
  const minute = 60_000;
  assert.equal(counted.look(0, minute).state, 'ok');
  assert.equal(counted.look(3, 2 * minute).params!['count'], 3);
  assert.equal(counted.look(3, 3 * minute).state, 'warn');
  assert.equal(counted.look(2, 4 * minute).params!['count'], 5, 'a counter that fell has started anew');
  assert.equal(counted.look(2, 65 * minute).state, 'ok');
  assert.equal(counted.look(4, 66 * minute).params!['count'], 2);
});

test('every reason has a sentence and advice in three languages, with the same places to fill', () => {
  const places = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();
  for (const reason of reasons) {
    const raw = (language: (typeof languages)[number]) => {
      const finding = warns(reason, {});
      return sentenceOf(finding, language);
    };
    const english = places(raw('en_US'));
    for (const language of languages) {
      assert.ok(raw(language).length > 5, `${reason} ${language}`);
      assert.deepEqual(places(raw(language)), english, `${reason} ${language}`);
      const advice = adviceOf(warns(reason, {}), language);
      assert.ok(advice.length > 10, `${reason} ${language}`);
      assert.ok(/[.。]$/.test(advice), `${reason} ${language}: advice is a sentence`);
      if (language !== 'en_US') assert.match(raw(language), /\p{Script=Han}/u);
    }
  }
  assert.match(sentenceOf(warns('origins.refused', { count: 1, sites: 'a' }), 'en_US'), /^1 domain has origins/);
  assert.match(sentenceOf(warns('origins.refused', { count: 2, sites: 'a' }), 'en_US'), /^2 domains have origins/);
  for (const reason of reasons)
    for (const language of languages)
      for (const text of [sentenceOf(warns(reason, { count: 1 }), language), adviceOf(warns(reason, { count: 1 }), language)]) {
        assert.doesNotMatch(text, /, one:/, reason);
        assert.doesNotMatch(text, /\b1 [a-z]+s\b(?<! 1 s)/, `${reason}: one is not many`);
      }
  // a finding of a node that is told by somebody else begins with the node's name
  assert.match(sentenceOf(warns('nginx.away', { node: 'tpe-1', detail: 'x' }), 'en_US'), /^tpe-1: nginx/);
  assert.doesNotMatch(sentenceOf(warns('nodes.offline', { node: 'tpe-1', seconds: 1 }), 'en_US'), /^tpe-1:/);
});

test('how long something takes is told as people say it', () => {
  const said = (seconds: number, language: (typeof languages)[number]) =>
    sentenceOf(warns('nodes.offline', { node: 'tpe-1', seconds }), language);
  for (const [seconds, words] of [
    [119, '119 s'],
    [120, '2 min'],
    [7199, '119 min'],
    [10_802, '3 h'],
    [172_799, '47 h'],
    [172_800, '2 days'],
  ] as const)
    assert.equal(said(seconds, 'en_US'), `Node tpe-1 has not been heard of for ${words}.`);
  assert.equal(said(10_802, 'zh_TW'), '節點 tpe-1 已 3 小時沒有消息。');
  assert.equal(said(600, 'zh_CN'), '节点 tpe-1 已 10 分钟没有消息。');
});

test('each check has its paragraph in the handbook, with every reason it may give', () => {
  const page = readFileSync(new URL('../../docs/handbook/health.md', import.meta.url), 'utf8');
  const sections = new Map(page.split(/^## /m).map(part => [part.split('\n')[0]!.replaceAll('`', ''), part]));
  for (const id of checkIDs) {
    const section = sections.get(id);
    assert.ok(section && section.length > 200, `docs/handbook/health.md lacks "## \`${id}\`"`);
    for (const reason of reasons.filter(one => one.startsWith(`${id}.`)))
      assert.ok(section.includes(`\`${reason}\``), `docs/handbook/health.md: ${id} says nothing of ${reason}`);
  }
});

test('checks from another process are read with care', () => {
  const good = { id: 'bus', state: 'fail', reason: 'bus.away', params: { detail: 'x' }, since: at(0).toISOString() };
  assert.equal(readChecks([good])[0]!.reason, 'bus.away');
  for (const bad of [
    null,
    1,
    {},
    { ...good, id: 'other' },
    { ...good, state: 'odd' },
    { ...good, reason: 'bus.other' },
    { ...good, id: 'documents' },
  ])
    assert.deepEqual(readChecks([bad]), [], JSON.stringify(bad));
  for (const bad of [undefined, 'x', { 0: good }]) assert.deepEqual(readChecks(bad), []);
  assert.equal(readChecks(Array(500).fill(good)).length, 100);
  const odd = readChecks([
    { ...good, key: 'x'.repeat(200), since: 'yesterday', params: { a: 'y'.repeat(600), b: {}, c: 1 } },
  ])[0]!;
  assert.deepEqual([odd.key, odd.since, odd.params], [undefined, new Date(0).toISOString(), { c: 1 }]);
  assert.equal(readChecks([{ ...good, state: 'ok', reason: 'nonsense' }])[0]!.reason, undefined);
});

test('one set of thresholds: what is full, what is low, and what may grow how far', () => {
  const GB = 1e9;
  const large = { freeBytes: 100 * GB, totalBytes: 250 * GB };
  assert.equal(diskFinding('/d', large).state, 'ok');
  assert.equal(diskFinding('/d', { ...large, freeBytes: 1.9 * GB }).reason, 'disk.low' satisfies Reason);
  assert.equal(diskFinding('/d', { ...large, freeBytes: 0.5 * GB }).reason, 'disk.full' satisfies Reason);
  const small = { freeBytes: 0.9 * GB, totalBytes: 1 * GB };
  assert.equal(diskFinding('/d', small).state, 'ok', 'a small disk is full by share');
  const files = { ...large, totalFiles: 1e6, freeFiles: 30_000 };
  assert.equal(diskFinding('/d', files).state, 'ok');
  assert.equal(diskFinding('/d', { ...files, freeFiles: 19_000 }).reason, 'disk.fewFiles' satisfies Reason);
  assert.equal(diskFinding('/d', { ...files, freeFiles: 900 }).reason, 'disk.noFiles' satisfies Reason);
  assert.equal(diskFinding('/d', { ...large, totalFiles: 0, freeFiles: 0 }).state, 'ok', 'it makes them as it goes');
  assert.equal(sizes.cacheFiles(files), 700_000);
  for (const totalBytes of [0.3 * GB, 1 * GB, 8 * GB, 250 * GB]) {
    for (const share of [0, 0.01, 0.2, 0.5, 1]) {
      const disk = { totalBytes, freeBytes: totalBytes * share };
      assert.ok(leastOf(disk) < wantedOf(disk));
      const streams = sizes.logStreamBytes(disk);
      const files = sizes.nodeLogBytes(disk);
      assert.ok(streams >= 16 * 2 ** 20 && streams <= 4 * 2 ** 30);
      if (disk.freeBytes > leastOf(disk) + 64 * 2 ** 20)
        assert.ok(streams + files <= disk.freeBytes - leastOf(disk), `${totalBytes} ${share}: all of it may not fill the disk`);
      assert.ok(sizes.busStoreBytes(disk) >= streams, 'JetStream lends what a stream reserves');
    }
  }
  assert.equal(sizes.logStreamBytes(large), 4 * 2 ** 30);
  // what a stream holds already is room it has
  assert.ok(sizes.logStreamBytes({ totalBytes: 10 * GB, freeBytes: 0 }, 2 * GB) > 200e6);
});
