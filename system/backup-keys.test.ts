/** Keys of signed zones in a backup: one that is encrypted has them, and what is restored from it signs as before; one that is not says so. */
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { createReadStream, createWriteStream, writeFileSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { after, before, test } from 'node:test';
import { encrypted } from '#bin/backup/cipher.ts';
import { prove } from '#bin/backup/prove.ts';
import { projectFolder } from '#bin/launch/settings.ts';
import { poll } from '#server/store/engine-process.ts';
import { copyDemoFolder } from './demo-folder.ts';
import { testFolder } from './engines.ts';
import { dig } from './name-server.ts';
import { Whole } from './whole.ts';

const folder = testFolder('backup-keys');
const passphrase = join(folder, 'passphrase');
const zone = 'cdn.kept.test';
let first: Whole;
let second: Whole | undefined;
before(async () => {
  const data = join(folder, 'data');
  copyDemoFolder(data);
  first = await Whole.start(['--demo'], data);
  writeFileSync(passphrase, 'nine grey lighthouses\n', { mode: 0o600 });
});
after(async () => {
  await first?.stop();
  await second?.stop();
});

const breakwater = (data: string, args: string[], more: Record<string, string> = {}): Promise<string> =>
  new Promise((done, failed) =>
    execFile(
      process.execPath,
      [join(projectFolder, 'bin/cli.ts'), ...args],
      { env: { PATH: process.env.PATH, HOME: process.env.HOME, BREAKWATER_DATA: data, ...more } },
      (error, stdout, stderr) => (error ? failed(new Error(stdout + stderr, { cause: error })) : done(stdout + stderr)),
    ),
  );
const dnsPort = (whole: Whole) => Number(whole.env['BREAKWATER_DNS']);
/** The zone's own key and that of its groups, as the world sees them. */
const keysOf = async (whole: Whole) => [
  ...(await dig(dnsPort(whole), zone, 'DNSKEY')),
  ...(await dig(dnsPort(whole), `l.${zone}`, 'DNSKEY')),
];
interface Cname {
  id: number;
  domainName: string;
  ds: string[];
}
async function told(whole: Whole): Promise<Cname | undefined> {
  const { body } = await whole.call('GET', '/client/setting/dns/cnames', await whole.signIn('client'));
  return (body.data as Cname[]).find(one => one.domainName === zone);
}

test('a restored installation signs with the keys it had, so that the DS above stays right', { timeout: 300_000 }, async () => {
  const token = await first.signIn('client');
  const settings = (await first.call('GET', '/client/setting/dns', token)).body.data as { id: number; driver: string }[];
  const knot = settings.find(one => one.driver === 'knot');
  const dnsSettingID = knot?.id ?? (await first.call('POST', '/client/setting/dns', token, { driver: 'knot' })).body.ids[0];
  const made = await first.call('POST', '/client/setting/dns/cname', token, { domainName: zone, dnsSettingID });
  assert.equal(made.status, 200, JSON.stringify(made.body));
  const signed = await first.call('PUT', '/client/setting/dns/cname', token, { id: made.body.ids[0], signed: true });
  assert.equal(signed.status, 200, JSON.stringify(signed.body));
  assert.ok(await poll(async () => ((await told(first))?.ds.length ?? 0) > 0, 60_000, 200));
  const { ds } = (await told(first))!;
  const keys = await keysOf(first);
  assert.equal(keys.length, 2, keys.join('\n'));

  const plain = join(folder, 'plain.tar.zst');
  const said = await breakwater(first.folder, ['backup', plain, '--without-logs']);
  assert.match(said, /Not in it: keys of signed zones \(DNSSEC\), 2 of them, as it is not encrypted/);
  assert.doesNotMatch(execFileSync('tar', ['--zstd', '-tf', plain], { encoding: 'utf8' }), /dns\/db|\.pem/);
  assert.match(await breakwater(first.folder, ['snapshot']), /Not in it: keys of signed zones \(DNSSEC\), 2 of them/);

  const hidden = join(folder, 'hidden.tar.zst.age');
  const secret = { BREAKWATER_BACKUP_PASSPHRASE_FILE: passphrase };
  assert.doesNotMatch(await breakwater(first.folder, ['backup', hidden, '--without-logs'], secret), /Not in it/);
  // whoever restores without them is told before anything is signed with others; with a passphrase it is no proof
  const without = join(folder, 'without/data');
  assert.match(
    await breakwater(without, ['restore', plain]),
    /BEFORE YOU START: 1 zones are signed \(cdn\.kept\.test\), and of their 2 keys 0 are here/,
  );
  const keyless = join(folder, 'keyless.age');
  await pipeline(createReadStream(plain), bytes => encrypted(bytes, 'any'), createWriteStream(keyless));
  await assert.rejects(prove(keyless, folder, { passphrase: 'any' }), /lacks keys: 1 zones are signed/);
  await prove(plain, folder, {});
  const target = join(folder, 'new/data');
  assert.doesNotMatch(await breakwater(target, ['restore', hidden], secret), /BEFORE YOU START/);
  await first.stop();
  second = await Whole.start(['--demo'], target);
  const whole = second;
  let now: string[] = [];
  assert.ok(
    await poll(async () => String((now = await keysOf(whole))) === String(keys), 60_000, 200),
    `${now.join('\n')}\ninstead of\n${keys.join('\n')}`,
  );
  assert.ok(await poll(async () => ((await told(whole))?.ds.length ?? 0) > 0, 60_000, 200));
  assert.deepEqual((await told(whole))!.ds, ds);
  assert.equal((await keysOf(whole)).length, 2, 'no other key beside');
});
