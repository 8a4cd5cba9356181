/** A node's room on the bus is full of lines that were given back to it: what it sends again must find room. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { logMessagesPerNode } from '#server/bus/streams.ts';
import { known, line, setUp, until } from './ingest-rig.ts';

test('lines that could not be judged while the database was away are sent again, however many messages they came in', async t => {
  const rig = await setUp(t);
  const source = known();
  let isAway = false;
  let asked = 0;
  const ingest = rig.start({
    members: {
      load: async since => {
        if (isAway && since !== undefined) throw new Error('away');
        return source.load(since);
      },
      find: async () => {
        asked++;
        if (isAway) throw new Error('away');
        return [{ kind: 'domain', id: 2, of: 1, start: 0, end: 0, host: 'new.test' }];
      },
    },
  });
  const text = (n: number) => line(`r${String(n).padStart(3, '0')}`, n < 5 ? {} : { domain_id: 2, host: 'new.test' });
  const texts = Array.from({ length: logMessagesPerNode + 20 }, (_, n) => text(n));
  const from = texts.map((_, n) => texts.slice(0, n).join('').length);
  for (let n = 0; n < 5; n++) await rig.send(from[n]!, texts[n]!);
  await until(async () => (await rig.rids()).split(' ').length === 5, 'what is known is stored');
  isAway = true;
  let n = 5;
  const isTaken = () =>
    rig.send(from[n]!, texts[n]!).then(
      () => true,
      () => false,
    );
  // more than the node has room for: some are given back, and those after them stay where they are
  while (n < texts.length && (await isTaken())) n++;
  assert.ok(asked > 0 || n > 5);
  await until(() => ingest.stats().kept > 0, 'they are given back');
  isAway = false;
  // as a node does: it goes on where it is, and goes back to where it is told to
  let at = n;
  await until(
    async () => {
      const rewind = rig.marks.splice(0).findLast(mark => mark.rewind)?.rewind;
      if (rewind) at = Math.max(from.indexOf(Object.values(rewind)[0]!), 0);
      if (at >= texts.length) at = texts.length - 1;
      const sent = await rig.send(from[at]!, texts[at]!).then(
        () => true,
        () => false,
      );
      if (sent) at++;
      return (await rig.rids()).split(' ').length === texts.length;
    },
    () => `all are stored: at ${at} of ${texts.length}, ${JSON.stringify(ingest.stats())}`,
  );
  assert.equal(await rig.rids(), texts.map((_, i) => `r${String(i).padStart(3, '0')}`).join(' '));
});
