/** What is opened to other machines: read from the environment, and vouched for by an authority of our own. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { issue, makeAuthority, newKey, pinOf } from '#host/certificates.ts';
import { StartError } from '#server/store/engine-process.ts';
import { addressEnvironment } from './own-authority.ts';
import { portVariables, readSettings } from './settings.ts';

const home = mkdtempSync(join(tmpdir(), 'breakwater-addresses-'));
after(() => rmSync(home, { recursive: true, force: true }));
let folders = 0;
const folder = () => join(home, String(++folders));
const settings = (env: NodeJS.ProcessEnv, dataFolder = folder()) => readSettings([], { BREAKWATER_DATA: dataFolder, ...env });
/** As the start does on a folder that is there. */
function started(env: NodeJS.ProcessEnv, dataFolder = folder()) {
  execFileSync('mkdir', ['-p', dataFolder]);
  return addressEnvironment(settings(env, dataFolder));
}
const tls = (dataFolder: string, name: string) => join(dataFolder, 'tls', name);

test('without an address nothing is opened and nothing is made', () => {
  const dataFolder = folder();
  assert.deepEqual(settings({}, dataFolder).addresses, {});
  assert.deepEqual(started({}, dataFolder), {});
  assert.deepEqual(readdirSync(dataFolder), []);
  assert.deepEqual(settings({ BREAKWATER_HOST: '127.0.0.1' }).addresses, {});
});

test('one address opens console, API and bus, each at a port of its own', () => {
  const { addresses, ...rest } = settings({ BREAKWATER_HOST: '192.0.2.1' });
  assert.deepEqual(addresses, {
    outer: { host: '192.0.2.1', port: 8444 },
    publicUrl: 'https://192.0.2.1:8444',
    bus: { host: '192.0.2.1', port: 4222 },
    busAddress: '192.0.2.1',
  });
  const named = Object.fromEntries(portVariables({ addresses, ...rest }));
  assert.equal(named['BREAKWATER_TLS_PORT'], 8444);
  assert.equal(named['BREAKWATER_BUS_PORT'], 4222);
  const six = settings({ BREAKWATER_HOST: '::', BREAKWATER_PUBLIC_URL: 'https://[2001:db8::1]:9000/' }).addresses;
  assert.equal(six.publicUrl, 'https://[2001:db8::1]:9000');
  assert.equal(six.busAddress, '[2001:db8::1]');
  const closed = settings({ BREAKWATER_HOST: '192.0.2.1', BREAKWATER_BUS_HOST: '127.0.0.1' }).addresses;
  assert.equal(closed.bus, undefined);
  assert.equal(settings({ BREAKWATER_HOST: '192.0.2.1', NATS_URL: 'tls://bus.test:4222' }).addresses.bus, undefined);
});

for (const [what, env, sentence] of [
  [
    'a plain public address',
    { BREAKWATER_HOST: '0.0.0.0', BREAKWATER_PUBLIC_URL: 'http://cdn.test:8444' },
    /would be plain.*https:\/\/cdn\.test:8444\.$/,
  ],
  ['no address that can be told', { BREAKWATER_HOST: '0.0.0.0' }, /BREAKWATER_PUBLIC_URL, for example/],
  ['everywhere as an address', { BREAKWATER_PUBLIC_URL: 'https://0.0.0.0:8444' }, /https address without a path/],
  ['a path', { BREAKWATER_PUBLIC_URL: 'https://cdn.test/admin' }, /https address without a path/],
  ['a name to listen on', { BREAKWATER_HOST: 'cdn.test' }, /BREAKWATER_HOST must be an IP address/],
  ['half a pair', { BREAKWATER_HOST: '192.0.2.1', BREAKWATER_TLS_CERT: '/cert.pem' }, /belong together/],
  ['a certificate for nothing', { BREAKWATER_TLS_CERT: '/cert.pem', BREAKWATER_TLS_KEY: '/key.pem' }, /set BREAKWATER_HOST too/],
  [
    'a port without an address',
    { BREAKWATER_HOST: '127.0.0.1', BREAKWATER_TLS_PORT: '8444' },
    /^BREAKWATER_TLS_PORT is for an address beyond loopback: BREAKWATER_HOST=127\.0\.0\.1 is none/,
  ],
  ['a port twice', { BREAKWATER_HOST: '192.0.2.1', BREAKWATER_TLS_PORT: '4222' }, /are both 4222/],
] as const)
  test(`${what} is refused with one sentence`, () => {
    assert.throws(
      () => settings(env),
      error => error instanceof StartError && sentence.test(error.message) && !error.message.includes('\n'),
    );
  });

test('the certificate holds for every address, strictly checked; all of it is for us alone', () => {
  const dataFolder = folder();
  const env = started(
    {
      BREAKWATER_HOST: '192.0.2.1',
      BREAKWATER_PUBLIC_URL: 'https://cdn.test:8444',
      BREAKWATER_BUS_ADDRESS: '[2001:db8::5]:4222',
    },
    dataFolder,
  );
  const verify = (...more: string[]) =>
    execFileSync(
      'openssl',
      ['verify', '-x509_strict', '-CAfile', env['BREAKWATER_TLS_CA']!, ...more, env['BREAKWATER_TLS_CERT']!],
      {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
  for (const name of ['cdn.test', 'localhost', env['BREAKWATER_BUS_NAME']!]) assert.match(verify('-verify_hostname', name), /OK/);
  for (const ip of ['192.0.2.1', '2001:db8::5', '127.0.0.1', '::1']) assert.match(verify('-verify_ip', ip), /OK/);
  assert.throws(() => verify('-verify_hostname', 'other.test'));
  assert.throws(() => verify('-verify_ip', '192.0.2.2'));
  assert.equal(statSync(join(dataFolder, 'tls')).mode & 0o777, 0o700);
  for (const name of readdirSync(join(dataFolder, 'tls')))
    assert.equal(statSync(tls(dataFolder, name)).mode & 0o777, 0o600, name);
});

test('the pin is the one curl and openssl reckon', () => {
  const dataFolder = folder();
  started({ BREAKWATER_HOST: '192.0.2.1' }, dataFolder);
  const reckoned = execFileSync(
    'sh',
    [
      '-c',
      'openssl x509 -in "$0" -noout -pubkey | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | base64',
      tls(dataFolder, 'server.pem'),
    ],
    { encoding: 'utf8' },
  ).trim();
  assert.equal(pinOf(readFileSync(tls(dataFolder, 'server.pem'), 'utf8')), `sha256//${reckoned}`);
});

test('a second start changes nothing; another address makes another certificate of the same key and authority', () => {
  const dataFolder = folder();
  const read = () => ['ca.pem', 'ca.key', 'server.key', 'server.pem'].map(name => readFileSync(tls(dataFolder, name), 'utf8'));
  started({ BREAKWATER_HOST: '192.0.2.1' }, dataFolder);
  const first = read();
  started({ BREAKWATER_HOST: '192.0.2.1' }, dataFolder);
  assert.deepEqual(read(), first);
  started({ BREAKWATER_HOST: '192.0.2.2' }, dataFolder);
  const second = read();
  assert.deepEqual(second.slice(0, 3), first.slice(0, 3));
  assert.notEqual(second[3], first[3]);
  assert.equal(pinOf(second[3]!), pinOf(first[3]!));
  assert.ok(new X509Certificate(second[3]!).checkIP('192.0.2.2'));
});

test('a certificate whose life is more than half over is signed anew', () => {
  const dataFolder = folder();
  started({ BREAKWATER_HOST: '192.0.2.1' }, dataFolder);
  const [ca, key, file] = [tls(dataFolder, 'ca.pem'), tls(dataFolder, 'ca.key'), tls(dataFolder, 'server.pem')];
  const names = ['breakwater.internal', 'localhost', '127.0.0.1', '::1', '192.0.2.1'];
  const before = new X509Certificate(readFileSync(file));
  const old = issue(new X509Certificate(readFileSync(ca)), createPrivateKey(readFileSync(key)), before.publicKey, names, 4);
  writeFileSync(file, old);
  started({ BREAKWATER_HOST: '192.0.2.1' }, dataFolder);
  const now = new X509Certificate(readFileSync(file));
  assert.ok(new Date(now.validTo).getTime() > Date.now() + 9 * 365 * 86_400_000);
  assert.ok(now.publicKey.equals(before.publicKey));
});

test('an authority whose certificate was lost is the same again; one whose key was lost is refused, and so is another’s', () => {
  const dataFolder = folder();
  started({ BREAKWATER_HOST: '192.0.2.1' }, dataFolder);
  const ca = tls(dataFolder, 'ca.pem');
  const before = readFileSync(ca, 'utf8');
  rmSync(ca);
  started({ BREAKWATER_HOST: '192.0.2.1' }, dataFolder);
  // who trusts the one of before believes the server still
  const kept = join(home, 'kept.pem');
  writeFileSync(kept, before);
  assert.match(
    execFileSync('openssl', ['verify', '-x509_strict', '-CAfile', kept, tls(dataFolder, 'server.pem')], { encoding: 'utf8' }),
    /OK/,
  );
  const restore = /restore it from the backup of the data folder/;
  writeFileSync(ca, makeAuthority('Breakwater', createPrivateKey(newKey())));
  assert.throws(() => started({ BREAKWATER_HOST: '192.0.2.1' }, dataFolder), restore);
  writeFileSync(ca, before);
  rmSync(tls(dataFolder, 'ca.key'));
  assert.throws(() => started({ BREAKWATER_HOST: '192.0.2.1' }, dataFolder), restore);
});

test('certificates that somebody gives are used as they are', () => {
  const dataFolder = folder();
  const env = started(
    {
      BREAKWATER_HOST: '192.0.2.1',
      BREAKWATER_TLS_CERT: '/cert.pem',
      BREAKWATER_TLS_KEY: '/key.pem',
      BREAKWATER_BUS_HOST: '127.0.0.1',
    },
    dataFolder,
  );
  assert.equal(env['BREAKWATER_TLS_CERT'], '/cert.pem');
  assert.equal(env['BREAKWATER_TLS_CA'], undefined);
  assert.deepEqual(readdirSync(dataFolder), []);
});
