/** A version that needs Debian packages which are not there is refused by their names, before anything is fetched. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missingPackages } from '#agent/upgrade/packages.ts';
import { Upgrade } from '#agent/upgrade/upgrade.ts';
import { testFolder } from '#system/engines.ts';

test('those that are not installed are named', async () => {
  assert.deepEqual(await missingPackages([]), []);
  assert.deepEqual(await missingPackages(['dpkg']), []);
  assert.deepEqual(await missingPackages(['breakwater-is-none', 'dpkg', 'breakwater-nor-this']), [
    'breakwater-is-none',
    'breakwater-nor-this',
  ]);
});

test('an upgrade that lacks one ends with its name, and has fetched nothing', async () => {
  const [data, prefix] = [testFolder('data'), testFolder('prefix')];
  const never = () => assert.fail('it went on');
  const upgrade = new Upgrade({
    data,
    programs: { prefix, version: '0.1.0' },
    server: () => ({ url: 'http://127.0.0.1:1', ca: undefined, isSigned: () => true }),
    hosts: () => [],
    doors: () => [],
    copy: never,
    shadow: never,
    change: never,
    become: never,
    isConnected: () => true,
    changed: () => {},
    log: () => {},
  });
  upgrade.came();
  const part = (name: string) => ({
    file: `${name}-0123456789ab.tar.gz`,
    sha256: 'a'.repeat(64),
    bytes: 1,
    tree: '',
  });
  const bundle = {
    version: '0.2.0-new',
    node: '24.0.0',
    packages: ['dpkg', 'breakwater-is-none'],
    application: part('application'),
    runtime: part('runtime'),
  };
  const body = { id: 1, manifest: JSON.stringify(bundle), signature: 'x', path: '/bundle/1' };
  await assert.rejects(
    upgrade.run(JSON.stringify(body)),
    /Debian packages are missing that 0\.2\.0-new needs: breakwater-is-none\. Install/,
  );
  const said = upgrade.report() as { steps: { step: string }[]; why: string };
  assert.deepEqual(
    said.steps.map(({ step }) => step),
    ['failed'],
  );
  assert.match(said.why, /breakwater-is-none/);
});
