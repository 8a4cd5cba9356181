/** One upgrade gives one bundle: what the first node proved is what the others get. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { sql } from 'kysely';
import type { Bundle } from '#contract/node/bundle.ts';
import { rows } from '#server/store/db.ts';
import { Offer } from '#server/bus/offer.ts';
import { api, begin, db, heard, looked, name, nodes, passes } from './upgrading.ts';

test('another runtime under the same version is another bundle: the upgrade stops before the others get it', async () => {
  const ids = await nodes(8);
  const taskID = await begin(ids);
  await heard(taskID, `done ${name(1)}`);
  const { offer } = api.services;
  assert.ok(offer instanceof Offer);
  const list = join(offer.folder, 'bundle.json');
  const bundle = JSON.parse(readFileSync(list, 'utf8')) as Bundle;
  const runtime = { ...bundle.runtime, sha256: 'f'.repeat(64), file: 'runtime-ffffffffffff.tar.gz' };
  writeFileSync(list, JSON.stringify({ ...bundle, runtime }));
  await passes(70);
  await looked(taskID);
  const { task } = await heard(taskID, undefined, 400, 60_000);
  assert.notEqual(task.state, 'succeeded');
  const sent = await rows<{ nodeID: number }>(
    db(),
    sql`select "nodeID" from "nodeCommand" where "taskID" = ${taskID} and verb = 'upgrade'`,
  );
  assert.deepEqual(
    sent.map(one => one.nodeID),
    [ids[0]],
  );
});
