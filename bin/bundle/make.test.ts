/** What a node of another machine is given. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { debianPackages, nodePackages } from '../bootstrap.js';
import { projectFolder } from '../launch/settings.ts';
import { makeBundle, pack, stageApplication } from './make.ts';

const home = mkdtempSync(join(tmpdir(), 'breakwater-bundle-'));
after(() => rmSync(home, { recursive: true, force: true }));

test('a node is given the packages of agent and edge, and no service of the control plane', async () => {
  // Debian's own scripts enable what has a service of its own: an edge would be a name server from its next start on
  const ours = debianPackages.filter(name => !nodePackages.includes(name));
  assert.deepEqual(ours, ['nats-server', 'knot', 'knot-module-geoip']);
  const { packages } = await makeBundle(join(home, 'whole'), 1);
  assert.deepEqual(packages, nodePackages);
});

test('the application is the same bytes whoever makes it and when, and runs with nothing beside it', async () => {
  const made = [];
  for (const name of ['one', 'two']) {
    const folder = join(home, name);
    mkdirSync(folder);
    const staged = await stageApplication(join(folder, 'staged'));
    if (name === 'two') utimesSync(join(staged, 'agent.mjs'), 1, 1);
    const packed = await pack(staged, folder, 'application');
    const bytes = readFileSync(join(folder, packed.file));
    assert.equal(createHash('sha256').update(bytes).digest('hex'), packed.sha256);
    assert.equal(bytes.length, packed.bytes);
    made.push({ ...packed, path: join(folder, packed.file) });
  }
  assert.equal(made[0]!.sha256, made[1]!.sha256);

  const unpacked = join(home, 'unpacked');
  mkdirSync(unpacked);
  execFileSync('tar', ['-xzf', made[0]!.path, '-C', unpacked]);
  for (const part of ['edge/nginx/nginx.conf', 'edge/lua/core', 'NOTICES']) assert.ok(existsSync(join(unpacked, part)), part);
  // joins nobody, for nobody answers; that takes all of its modules
  const run = spawnSync(
    process.execPath,
    [join(unpacked, 'agent.mjs'), '--data', join(home, 'data'), '--server', 'http://127.0.0.1:9', '--join', 'x', '--join-only'],
    { cwd: '/', env: { PATH: process.env.PATH }, encoding: 'utf8' },
  );
  assert.equal(run.status, 1);
  assert.match(run.stderr, /^the server http:\/\/127\.0\.0\.1:9 cannot be reached: .+\n$/);
});

test('a folder of packages that is a link makes the same bytes', async () => {
  const linked = join(home, 'linked');
  for (const part of ['agent/src', 'contract/src', 'host', 'edge', 'package.json', 'tsconfig.json'])
    cpSync(join(projectFolder, part), join(linked, part), { recursive: true });
  symlinkSync(realpathSync(join(projectFolder, 'node_modules')), join(linked, 'node_modules'));
  const hashes = [];
  for (const project of [projectFolder, linked]) {
    const staged = await stageApplication(join(home, `of-${hashes.length}`), project);
    hashes.push((await pack(staged, home, 'application')).sha256);
  }
  assert.equal(hashes[0], hashes[1]);
});
