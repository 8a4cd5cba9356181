/** A disk that has no room, or fills up while a version is fetched or placed: the node goes on as it was, and says why. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { smallDisk } from '#system/small-disk.ts';
import { testFolder } from '#system/engines.ts';
import { until } from './node.ts';
import { stand } from './upgrading.ts';
import { Versions } from './versions.ts';

test('a full disk, of the programs or of what the node keeps, leaves it as it was', async t => {
  using programs = smallDisk(t, 'size=120m');
  using kept = smallDisk(t, 'size=400m');
  if (!programs || !kept) return;
  const all = await Versions.in(testFolder('full'));
  // the versions alone lie on the small disk: a runtime has a hundred megabytes
  const made = await all.prefix('programs');
  const prefix = join(programs.folder, 'node');
  mkdirSync(join(prefix, 'versions'), { recursive: true });
  renameSync(join(made, 'runtime'), `${made}-runtime`);
  symlinkSync(`${made}-runtime`, join(prefix, 'runtime'));
  await all.place(prefix);
  const data = join(kept.folder, 'data');
  const { node, upgrade, lua, version, gate } = await stand(t, { all, prefix, data });
  const second = await all.made('second');
  const stays = async (why: RegExp) => {
    assert.match((await upgrade(second)) ?? `it was done: ${node.log.slice(-3000)}`, why);
    assert.equal(await version(), all.first);
    assert.equal(await lua(), join(prefix, 'versions', all.first, 'edge/lua'));
    assert.equal(await node.visit('a.test'), 'one');
    assert.deepEqual(readdirSync(join(prefix, 'versions')), [all.first], 'nothing is left');
    gate.asked = () => {};
    for (const disk of [programs, kept]) disk.empty();
  };

  // there is room where archives are fetched to, and none where they are unpacked
  programs.fill(20e6);
  await stays(new RegExp(`the disk of ${prefix} has \\d+ MB free, and the new version needs \\d+: nothing was changed`));
  kept.fill(20e6);
  await stays(/the disk of \S+\/data\/upgrade has \d+ MB free, and the new version needs \d+: nothing was changed/);

  gate.asked = () => kept.fill(0);
  await stays(/the disk of \S+\/data\/upgrade is full: ENOSPC/);
  gate.asked = () => programs.fill(0);
  await stays(new RegExp(`the disk of ${prefix} is full: nothing was placed`));

  // of a version that was given up, in the midst of being fetched
  const given = join(data, 'upgrade/application-bbbbbbbbbbbb.tar.gz.part');
  writeFileSync(given, 'half');
  assert.equal(await upgrade(second), null, node.log.slice(-3000));
  await until('with room it becomes the new one', async () => (await version()) === second.version);
  assert.ok(!existsSync(given));
});
