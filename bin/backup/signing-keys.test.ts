/** What of the name server's folder goes into an archive: its keys, and nothing that it leads to elsewhere. */
import assert from 'node:assert/strict';
import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { testFolder } from '#system/engines.ts';
import { lackingKeys } from './restore.ts';
import { keylessZones, signingKeys, signingPlaces } from './signing-keys.ts';

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

const options = (left: string[] = []) => ({ onLeft: (why: string) => void left.push(why) });
async function taken(folder: string, more: object = {}): Promise<string[]> {
  const files: string[] = [];
  for await (const { place, bytes } of signingKeys(folder, { ...options(), ...more })) files.push(`${place} ${bytes.toString()}`);
  return files;
}
async function leftOf(folder: string, more: object = {}): Promise<string[]> {
  const left: string[] = [];
  await taken(folder, { ...options(left), ...more });
  return left;
}
const both = ['dns/db/keys/data.mdb which', `dns/db/keys/keys/${name} a key`];

test('the keys and what speaks of them are taken; without a key, or a name server, nothing', async () => {
  const folder = made();
  assert.deepEqual(await taken(folder), both);
  rmSync(join(folder, 'dns/db/keys/keys', name));
  assert.deepEqual(await taken(folder), []);
  assert.deepEqual(await taken(testFolder('empty')), []);
});

test('a zone that is signed, or goes, meanwhile takes no key from it that the database speaks of, and breaks nothing off', async () => {
  const folder = made();
  const keys = join(folder, 'dns/db/keys/keys');
  const later = `${'b2'.repeat(20)}.pem`;
  const meanwhile = () => {
    writeFileSync(join(keys, later), 'a later key');
    rmSync(join(keys, name), { force: true });
  };
  assert.deepEqual(await taken(folder, { meanwhile }), ['dns/db/keys/data.mdb which', `dns/db/keys/keys/${later} a later key`]);
});

test('where they are left out they are counted alone, whatever the name server made of them', async () => {
  const folder = made();
  rmSync(join(folder, 'dns/db/keys/data.mdb'));
  assert.match(String(await leftOf(folder)), /^all of them: they cannot be read \(ENOENT\)$/);
  assert.equal((await signingPlaces(folder)).length, 1);
  writeFileSync(join(folder, 'dns/db/keys/data.mdb'), 'which');
  writeFileSync(join(folder, 'dns/db/keys/keys', name), Buffer.alloc(70_000));
  assert.match(String(await leftOf(folder)), /^1 of them: .*no file of the name server/);
});

test('what is none of its keys costs no backup the others, and is said', async () => {
  const folder = made();
  const keys = join(folder, 'dns/db/keys/keys');
  const elsewhere = join(testFolder('elsewhere'), name);
  writeFileSync(elsewhere, 'root’s');
  linkSync(elsewhere, join(keys, `${'00'.repeat(20)}.pem`));
  symlinkSync(elsewhere, join(keys, `${'ff'.repeat(20)}.pem`));
  assert.deepEqual(await taken(folder), both);
  assert.match(String(await leftOf(folder)), /^2 of them: /);
});

test('more of them than any installation has are not read', async () => {
  const folder = made();
  for (let n = 0; n < 40; n++) writeFileSync(join(folder, 'dns/db/keys/keys', `${'c3'.repeat(19)}${10 + n}.pem`), 'x');
  assert.equal((await taken(folder, { most: 10 })).length, 11);
  assert.match(String(await leftOf(folder, { most: 10 })), /^all but 10 of them: there are more/);
});

test('a file or a folder that leads elsewhere is refused: who runs the name server may not have others’ files read', async () => {
  const [folder, elsewhere] = [made(), testFolder('elsewhere')];
  const keys = join(folder, 'dns/db/keys/keys');
  const secret = join(elsewhere, name);
  const isRefused = async () => {
    assert.doesNotMatch(String(await taken(folder)), /root/);
    assert.equal((await leftOf(folder)).length, 1);
  };
  writeFileSync(secret, 'root’s');
  rmSync(join(keys, name));
  symlinkSync(secret, join(keys, name));
  await isRefused();
  rmSync(join(keys, name));
  linkSync(secret, join(keys, name));
  await isRefused();
  rmSync(keys, { recursive: true });
  symlinkSync(elsewhere, keys);
  rmSync(secret);
  writeFileSync(secret, 'root’s');
  await isRefused();
  rmSync(keys);
  renameSync(elsewhere, keys);
  assert.equal((await taken(folder)).length, 2);
  assert.equal(readFileSync(join(keys, name), 'utf8'), 'root’s');
});

test('a zone whose key is lost is named though there are as many keys as there should be', async () => {
  const folder = made();
  const keys = join(folder, 'dns/db/keys/keys');
  // the example of RFC 6605, 6.1
  const point = Buffer.from('GojIhhXUN/u4v54ZQqGSnyhWJwaubCvTmeexv7bR6edbkrSqQpF64cYbcB7wNcP+e+MAnLr+Wi9xMWyQLc8NAA==', 'base64');
  const text = (bytes: Buffer) => bytes.toString('base64url');
  const d = text(Buffer.from('GU6SnQ/Ou+xC5RumuIUIuJZteXT2z0O/ok1s38Et6mQ=', 'base64'));
  const jwk = { kty: 'EC', crv: 'P-256', d, x: text(point.subarray(0, 32)), y: text(point.subarray(32)) };
  const pem = { type: 'pkcs8', format: 'pem' } as const;
  const own = createPrivateKey({ key: jwk, format: 'jwk' }).export(pem);
  const other = () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export(pem);
  const ds = 'example.net. 3600 IN DS 55648 13 2 B4C8C1FE2E7477127B27115656AD6256F424625BF5C1E2770CE6D6E37DF61D17';
  const zones = [{ name: 'example.net', ds: [ds] }];
  writeFileSync(join(keys, name), own);
  writeFileSync(join(keys, `${'b2'.repeat(20)}.pem`), other());
  assert.deepEqual(await keylessZones(folder, zones), []);
  assert.deepEqual(await keylessZones(folder, [{ name: 'example.org', ds: [ds] }]), ['example.org']);
  writeFileSync(join(keys, name), other());
  const keyless = await keylessZones(folder, zones);
  assert.match(lackingKeys({ signed: ['example.net'], keys: 2, keyless })!, /the keys of 1 are not here \(example\.net\)/);
  writeFileSync(join(keys, name), 'no key');
  assert.deepEqual(await keylessZones(folder, zones), []);
});
