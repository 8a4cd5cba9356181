/** First windows of connections: what a visitor's kernel makes of them, in a network namespace of its own. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { genevaTable, tableOf } from '#agent/geneva.ts';

interface Counted {
  data: number;
  first: number;
  said: number;
}
const hasNamespaces = spawnSync('unshare', ['--net', '--', 'nft', 'list', 'tables']).status === 0;

test(
  'the first request comes in pieces as small as wished, answers are whole, and nothing is left when it is taken back',
  { skip: !hasNamespaces && 'no network namespaces, or no nft, for this user' },
  () => {
    const script = new URL('geneva.ts', import.meta.url).pathname;
    const { stdout, stderr, status } = spawnSync(
      'unshare',
      ['--net', '--', 'sh', '-c', `ip link set lo up && exec ${process.execPath} ${script}`],
      {
        encoding: 'utf8',
        timeout: 60_000,
      },
    );
    assert.equal(status, 0, stderr);
    const seen = stdout
      .trim()
      .split('\n')
      .map(line => JSON.parse(line));
    const { left } = seen.pop();
    const [none, v1, v2, again] = seen as { problem: string | null; four: Counted; six: Counted }[];
    for (const one of [none!, v1!, v2!, again!]) assert.equal(one.problem, null);
    for (const family of ['four', 'six'] as const) {
      for (const { [family]: usual } of [none!, again!]) assert.equal(usual.said, 0);
      for (const { [family]: small } of [v1!, v2!]) {
        assert.ok(small.first >= 1, 'a segment that fills the window');
        assert.ok(small.data > none![family].data);
      }
      assert.deepEqual([v1![family].said, v2![family].said], [1, 2], 'the SYN-ACK; that and the first acknowledgement');
    }
    assert.deepEqual(left, ['table inet seen'], 'of ours none');
  },
);

test('a table says nothing of other ports, has a name of its node’s, and is made anew as a whole', () => {
  const text = genevaTable(tableOf('/a'), { version: 'v1', window: 60 }, [80, 443]);
  assert.notEqual(tableOf('/a'), tableOf('/b'));
  assert.ok(text.startsWith(`table inet ${tableOf('/a')}\ndelete table inet ${tableOf('/a')}\ntable inet`));
  assert.equal(text.split('window set').length, 2);
  assert.match(text, /tcp sport \{ 80, 443 \} tcp window set 60/);
});
