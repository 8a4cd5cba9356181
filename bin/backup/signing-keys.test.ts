/** What of the name server's folder goes into an archive: its keys, and nothing that it leads to elsewhere. */
import assert from 'node:assert/strict';
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { testFolder } from '#system/engines.ts';
import { signingKeys, signingPlaces } from './signing-keys.ts';

const name = `${'a1'.repeat(20)}.pem`;
function made(): string {
  const folder = testFolder('signing');
  mkdirSync(join(folder, 'dns/db/keys/keys'), { recursive: true });
  writeFileSync(join(folder, 'dns/db/keys/data.mdb'), 'which');
  writeFileSync(join(folder, 'dns/db/keys/lock.mdb'), 'who');
  writeFileSync(join(folder, 'dns/db/keys/keys', name), 'a key');
  writeFileSync(join(folder, 'dns/db/keys/keys/notes.txt'), 'no key');
  return folder;
}

test('the keys and what speaks of them are taken; without a key, or a name server, nothing', async () => {
  const folder = made();
  assert.deepEqual(
    (await signingKeys(folder)).map(({ place, bytes }) => `${place} ${bytes.toString()}`),
    ['dns/db/keys/data.mdb which', `dns/db/keys/keys/${name} a key`],
  );
  rmSync(join(folder, 'dns/db/keys/keys', name));
  assert.deepEqual(await signingKeys(folder), []);
  assert.deepEqual(await signingKeys(testFolder('empty')), []);
});

test('a zone that is signed, or goes, meanwhile takes no key from it that the database speaks of, and breaks nothing off', async () => {
  const folder = made();
  const keys = join(folder, 'dns/db/keys/keys');
  const later = `${'b2'.repeat(20)}.pem`;
  const meanwhile = () => {
    writeFileSync(join(keys, later), 'a later key');
    rmSync(join(keys, name), { force: true });
  };
  assert.deepEqual(
    (await signingKeys(folder, meanwhile)).map(({ place, bytes }) => `${place} ${bytes.toString()}`),
    ['dns/db/keys/data.mdb which', `dns/db/keys/keys/${later} a later key`],
  );
});

test('where they are left out they are counted alone, whatever the name server made of them', async () => {
  const folder = made();
  rmSync(join(folder, 'dns/db/keys/data.mdb'));
  await assert.rejects(signingKeys(folder), /ENOENT/);
  assert.equal((await signingPlaces(folder)).length, 1);
  writeFileSync(join(folder, 'dns/db/keys/data.mdb'), 'which');
  writeFileSync(join(folder, 'dns/db/keys/keys', name), Buffer.alloc(70_000));
  await assert.rejects(signingKeys(folder), /no file of the name server/);
});

test('a file or a folder that leads elsewhere is refused: who runs the name server may not have others’ files read', async () => {
  const [folder, elsewhere] = [made(), testFolder('elsewhere')];
  const keys = join(folder, 'dns/db/keys/keys');
  const secret = join(elsewhere, name);
  writeFileSync(secret, 'root’s');
  rmSync(join(keys, name));
  symlinkSync(secret, join(keys, name));
  await assert.rejects(signingKeys(folder));
  rmSync(join(keys, name));
  linkSync(secret, join(keys, name));
  await assert.rejects(signingKeys(folder), /no file of the name server/);
  rmSync(keys, { recursive: true });
  symlinkSync(elsewhere, keys);
  rmSync(secret);
  writeFileSync(secret, 'root’s');
  await assert.rejects(signingKeys(folder), /no file of the name server/);
  rmSync(keys);
  renameSync(elsewhere, keys);
  assert.equal((await signingKeys(folder)).length, 2);
  assert.equal(readFileSync(join(keys, name), 'utf8'), 'root’s');
});
