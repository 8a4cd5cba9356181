/** One line on a bare machine, and it serves: launcher, bundle, line and node as an operator meets them. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { makeBundle } from '#bin/bundle/make.ts';
import { projectFolder } from '#bin/launch/settings.ts';
import type { Bundle } from '#contract/node/bundle.ts';
import { freePort, poll } from '#server/store/engine-process.ts';
import { createUser } from '@nats-io/nkeys';
import { testFolder } from './engines.ts';
import { type SecondMachine, secondMachine } from './second-machine.ts';
import { joinLine, openTo, statementIn, upgraded } from './joining.ts';
import { openShop, type Shop } from './stand.ts';
import type { Whole } from './whole.ts';

let machine: SecondMachine;
let whole: Whole;
let shop: Shop;
let bundle: Bundle;
let originPort: number;
let origin: ChildProcess;
const home = testFolder('join');
const bundleFolder = join(home, 'bundle');
const host = 'second.breakwater.test';
const prefix = join(home, 'machine/programs');
const data = join(home, 'machine/data');
let ports: { http: number; https: number; health: number };
let url: string;

before(async () => {
  machine = secondMachine();
  // as `npm run bundle` does it, packed in less time
  bundle = await makeBundle(bundleFolder, 1);
  whole = await openTo(machine, home, bundleFolder);
  url = `https://${machine.ours}:${whole.env['BREAKWATER_TLS_PORT']}`;
  originPort = await freePort();
  ports = { http: await freePort(), https: await freePort(), health: await freePort() };
  mkdirSync(join(home, 'machine'));
  // on the loopback of the second machine: nobody else can fetch there
  origin = there(
    process.execPath,
    '-e',
    `require('node:http').createServer((_, answer) => answer.end('from the second machine')).listen(${originPort}, '127.0.0.1')`,
  );
  shop = await openShop(whole, 'second', originPort);
});
after(async () => {
  if (existsSync(join(prefix, 'uninstall'))) sh(`${prefix}/uninstall`);
  origin?.kill('SIGKILL');
  await whole?.stop();
  machine?.end();
});

function there(...command: string[]): ChildProcess {
  const [program, ...args] = [...machine.prefix, ...command];
  return spawn(program!, args, { stdio: 'ignore' });
}
/** A line in the shell of the second machine. */
function sh(line: string): { status: number | null; out: string; err: string } {
  const [program, ...args] = [...machine.prefix, 'sh', '-c', line];
  const { status, stdout, stderr } = spawnSync(program!, args, { encoding: 'utf8', cwd: '/', timeout: 240_000 });
  return { status, out: stdout, err: stderr };
}
const newLine = (more: Record<string, unknown> = {}) => joinLine(whole, more);
/** The line as it is copied, with what a machine without systemd is told beside it. */
const optioned = (command: string, more = '') =>
  `${command} -s -- --no-packages --no-systemd --prefix ${prefix} --data ${data} --http ${ports.http} --https ${ports.https} --health ${ports.health} ${more}`;
const ask = (path: string, port: number, name = host) =>
  sh(`curl -sS --max-time 10 -H 'Host: ${name}' http://127.0.0.1:${port}${path}`);
const inDatabase = (statement: string) => statementIn(whole, statement);
const isNothing = () => assert.ok(!existsSync(prefix) && !existsSync(data), 'nothing was changed');

test('the line pins the key of the server; what it would do is said without doing it', async () => {
  const { command, token } = await newLine();
  assert.match(command, /^curl -fsSk --pinnedpubkey 'sha256\/\/[\w+/]{43}=' https:\/\/[\d.]+:\d+\/join\/[\w-]+ \| sh$/);
  assert.ok(command.includes(`${url}/join/${token}`));
  const { status, out, err } = sh(optioned(command, '--dry-run'));
  assert.equal(status, 0, err);
  assert.match(out, new RegExp(`becomes a node of ${url}`));
  assert.match(out, /programs below \S+ \(\d+ MB to download\): Breakwater 0\.1\.0-[\da-f]{12}, Node 24\./);
  isNothing();
});

test('another key than the pinned one is not believed', async () => {
  const { command } = await newLine();
  const { out, err } = sh(optioned(command.replace(/sha256\/\/.{43}=/, `sha256//${Buffer.alloc(32).toString('base64')}`)));
  assert.match(err, /SSL|pinned/);
  assert.equal(out, '');
  isNothing();
});

test('a line that is nobody’s, and one that is over, say so', async () => {
  const { command, token } = await newLine();
  // made by another machine of the control plane, which has another bundle
  const other = `${url}/join/${token}/application?sha256=${'0'.repeat(64)}`;
  assert.equal(sh(`curl -s -o /dev/null -w '%{http_code}' -k '${other}'`).out, '503');
  const unknown = sh(optioned(command.replace(token, `${token.slice(0, -4)}AAAA`)));
  assert.equal(unknown.status, 1);
  assert.match(unknown.err, /not one of this installation/);
  await inDatabase(`update "joinToken" set "expiredAt" = now() - interval '1 minute'`);
  const late = sh(optioned(command));
  assert.equal(late.status, 1);
  assert.match(late.err, /not valid any more/);
  assert.equal(sh(`curl -s -o /dev/null -w '%{http_code}' -k ${url}/join/${token}/runtime`).out, '404');
  isNothing();
});

test('what is no Debian 12 or 13 is left alone', { skip: process.getuid?.() !== 0 && 'takes a view of its own' }, async () => {
  const { command } = await newLine();
  const fake = join(home, 'os-release');
  writeFileSync(fake, 'ID=ubuntu\nVERSION_ID="24.04"\n');
  const { status, err } = sh(
    `exec unshare --mount sh -c 'mount --bind ${fake} /etc/os-release && ${optioned(command).replaceAll("'", `'\\''`)}'`,
  );
  assert.equal(status, 1, err);
  assert.match(err, /runs on Debian 12 or 13; this is ubuntu 24\.04\. Nothing was changed\./);
  isNothing();
});

test('archives that were changed on their way are not unpacked', async () => {
  const { command } = await newLine();
  const file = join(bundleFolder, bundle.application.file);
  cpSync(file, `${file}.kept`);
  appendFileSync(file, 'x');
  const list = join(bundleFolder, 'bundle.json');
  const before_ = readFileSync(list, 'utf8');
  writeFileSync(list, JSON.stringify({ ...bundle, application: { ...bundle.application, bytes: bundle.application.bytes + 1 } }));
  const { status, err } = sh(optioned(command));
  writeFileSync(list, before_);
  cpSync(`${file}.kept`, file);
  assert.equal(status, 1);
  assert.match(err, /is not the application that the line speaks of: it was changed or cut\. Nothing of it was run\./);
  assert.ok(!existsSync(join(prefix, 'current')) && !existsSync(data));
});

test('the line alone makes the machine a node that serves', async () => {
  const { command } = await newLine({ name: 'second' });
  const { status, out, err } = sh(optioned(command));
  const log = existsSync(join(data, 'agent.log')) ? readFileSync(join(data, 'agent.log'), 'utf8') : '';
  assert.equal(status, 0, `${out}\n${err}\n${log}`);
  assert.match(out, /joined as node \d+, in zone 1/);
  assert.match(out, /It serves\./);
  await shop.addDomain(host);
  assert.ok(await poll(() => ask('/', ports.http).out === 'from the second machine', 60_000, 200), 'it serves the site');
  if (machine.isApart) assert.notEqual((await whole.visit(host, '/')).status, 200, 'and is another machine than ours');

  const nodes = await whole.call('GET', '/client/nodes', await whole.signIn('client'));
  const mine = nodes.body.data.find((one: { name: string }) => one.name === 'second');
  assert.equal(mine?.zoneName, 'local');
  const { ca, grant, server } = JSON.parse(readFileSync(join(data, 'identity.json'), 'utf8'));
  assert.equal(server, url);
  assert.equal(ca.trim(), readFileSync(join(whole.folder, 'tls/ca.pem'), 'utf8').trim());
  assert.match(grant.natsUrl, /^tls:/);
  // nobody but root changes what it runs, and its secrets are its own
  assert.equal(statSync(join(prefix, 'versions', bundle.version, 'agent.mjs')).mode & 0o022, 0);
  assert.equal(statSync(join(data, 'identity.json')).mode & 0o077, 0);
  assert.ok(!existsSync(join(data, 'join.token')));
});

test('one line is for one machine', async () => {
  const { command } = await newLine();
  const elsewhere = (name: string) =>
    optioned(command)
      .replaceAll(prefix, join(home, name, 'programs'))
      .replaceAll(data, join(home, name, 'data'))
      .replace(`--health ${ports.health}`, `--health ${ports.health} --name ${name}`);
  // spent by the node that is there already, under its own key
  assert.equal(sh(optioned(command)).status, 0);
  const again = sh(elsewhere('third'));
  assert.equal(again.status, 1);
  assert.match(again.err, /used already: each is for one machine/);
  assert.ok(!existsSync(join(home, 'third')));
});

/** The script of a line, fetched while the line was good: what happens to the line meanwhile is found out by joining. */
async function fetched(name: string) {
  const { command, token } = await newLine();
  const file = join(home, `${name}.sh`);
  assert.equal(sh(`${command.slice(0, command.lastIndexOf('|'))} > ${file}`).status, 0);
  return { token, run: optioned(`cat ${file} | sh`) };
}
const pidOf = (of = prefix) => readFileSync(join(of, 'pid'), 'utf8').trim();
/** The node of the second machine is the process it was, and serves. */
function isAsItWas(pid: string) {
  assert.equal(pidOf(), pid);
  assert.ok(existsSync(`/proc/${pid}`), 'the same agent runs');
  assert.equal(ask('/', ports.http).out, 'from the second machine');
  assert.equal(sh(`curl -sS -o /dev/null -w '%{http_code}' http://127.0.0.1:${ports.health}/readyz`).out, '200');
  assert.ok(!existsSync(join(prefix, 'joining')) && !existsSync(join(prefix, 'run.new')));
}

test('two machines with one line at the same time: one joins, the other is told why and serves what it served', async () => {
  const { run } = await fetched('both');
  const pid = pidOf();
  const third = { prefix: join(home, 'third/programs'), data: join(home, 'third/data') };
  const [http, https, health] = [await freePort(), await freePort(), await freePort()];
  mkdirSync(join(home, 'third'));
  const elsewhere = run
    .replaceAll(prefix, third.prefix)
    .replaceAll(data, third.data)
    .replace(/--http .*/, `--http ${http} --https ${https} --health ${health} --name third`);
  const [program, ...args] = [...machine.prefix, 'sh', '-c'];
  const all = [run, elsewhere].map(line => {
    const child = spawn(program!, [...args, line], { stdio: ['ignore', 'pipe', 'pipe'], cwd: '/' });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (said += text));
    return new Promise<{ status: number | null; said: string }>(done => child.on('close', status => done({ status, said })));
  });
  const [second, other] = await Promise.all(all);
  const both = [second!, other!];
  assert.deepEqual(both.map(({ status }) => status).sort(), [0, 1], both.map(({ said }) => said).join('\n'));
  const loser = both.find(({ status }) => status === 1)!;
  assert.match(loser.said, /This machine has not joined: the reason stands above\./);
  if (loser === second) isAsItWas(pid);
  else assert.ok(!existsSync(join(third.data, 'identity.json')));
  assert.equal(ask('/', ports.http).out, 'from the second machine');
  if (loser === second) assert.equal(sh(`${third.prefix}/uninstall`).status, 0);
});

test('it fetches credentials by the authority it was told of, and serves while the control plane is away', async () => {
  await whole.stop();
  assert.equal(ask('/while-away', ports.http).out, 'from the second machine');
  assert.equal(sh(`curl -sS -o /dev/null -w '%{http_code}' http://127.0.0.1:${ports.health}/readyz`).out, '200');
  await whole.up();
  const later = 'later.breakwater.test';
  await shop.addDomain(later);
  assert.ok(await poll(() => ask('/', ports.http, later).out === 'from the second machine', 120_000, 500), 'it is in step again');
});

test('a machine that gets another address says so by itself', async t => {
  if (!machine.isApart) return t.skip('takes a network of its own');
  const client = await whole.signIn('client');
  const addresses = async () => {
    const nodes = await whole.call('GET', '/client/nodes', client);
    return nodes.body.data.find((one: { name: string }) => one.name === 'second').addresses as string[];
  };
  const another = '198.19.7.7';
  assert.ok(!(await addresses()).includes(another));
  const { status, err } = sh(`ip address add ${another}/32 dev $(ip -o -4 address show scope global | awk '{ print $2; exit }')`);
  assert.equal(status, 0, err);
  assert.ok(await poll(async () => (await addresses()).includes(another), 120_000, 500), 'it is known there');
});

test('from the console it becomes another version: fetched over TLS, placed by root, tried, and served by', async () => {
  const was = bundle.version;
  const notices = join(projectFolder, 'LICENSE');
  bundle = await makeBundle(bundleFolder, 1, folder => cpSync(notices, join(folder, 'edge/nginx/LICENSE')));
  assert.notEqual(bundle.version, was);
  const { node, task: ended, lines } = await upgraded(whole, 'second', bundle.version);
  assert.equal(
    ended.state,
    'succeeded',
    `${JSON.stringify(lines)}\n${readFileSync(join(data, 'agent.log'), 'utf8').slice(-3000)}`,
  );
  assert.equal(node.version, bundle.version);
  assert.equal(ask('/', ports.http).out, 'from the second machine');
  // root placed it: nobody but root changes what it runs
  const agent = statSync(join(prefix, 'versions', bundle.version, 'agent.mjs'));
  assert.equal(agent.mode & 0o022, 0);
  assert.equal(agent.uid, process.getuid?.());
  // what the machine starts is what it became
  const pid = readFileSync(join(prefix, 'pid'), 'utf8').trim();
  assert.ok(readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`versions/${bundle.version}/agent.mjs`));
});

test('a line that is refused when the machine joins leaves the node as it was, in the version it had become', async () => {
  const { token, run } = await fetched('refused');
  const pid = pidOf();
  const identity = readFileSync(join(data, 'identity.json'), 'utf8');
  const body = { token, name: 'another', publicKey: createUser().getPublicKey(), addresses: [], version: '1' };
  assert.equal((await whole.call('POST', '/node/join', undefined, body)).status, 200);
  const { status, err } = sh(run);
  assert.equal(status, 1);
  assert.match(err, /This machine has not joined: the reason stands above\. The node of before goes on as it was\./);
  isAsItWas(pid);
  assert.equal(readFileSync(join(data, 'upgrade/current'), 'utf8'), bundle.version);
  assert.equal(readFileSync(join(data, 'identity.json'), 'utf8'), identity);
});

test('another line makes it a node anew, under its number', async () => {
  const numberOf = () =>
    (JSON.parse(readFileSync(join(data, 'identity.json'), 'utf8')) as { grant: { nodeID: number } }).grant.nodeID;
  const [before_, pid] = [numberOf(), pidOf()];
  const { command } = await newLine();
  const { status, out, err } = sh(optioned(command));
  assert.equal(status, 0, `${out}\n${err}`);
  assert.equal(numberOf(), before_);
  assert.notEqual(pidOf(), pid);
  assert.ok(!existsSync(`/proc/${pid}`));
  assert.ok(await poll(() => ask('/', ports.http).out === 'from the second machine', 60_000, 200));
});

test('folders that the service sees nothing of are refused in a sentence', async () => {
  const { command } = await newLine();
  for (const option of ['--data /home/breakwater/data', '--prefix /root/programs/node', '--data /tmp/of/node']) {
    const { status, err } = sh(`${command} -s -- ${option}`);
    assert.equal(status, 1);
    assert.match(err, /must not lie below \/home, \/root, \/run\/user, \/tmp or \/var\/tmp/, option);
  }
});

test('what it was put there by takes it off again', async () => {
  const pid = readFileSync(join(prefix, 'pid'), 'utf8').trim();
  const { status, out, err } = sh(`${prefix}/uninstall`);
  assert.equal(status, 0, err);
  assert.match(out, /off this machine/);
  assert.ok(!existsSync(prefix) && !existsSync(data));
  // it has ended; whoever adopted it may not have asked for its end yet
  assert.ok(await poll(() => !existsSync(`/proc/${pid}`), 10_000, 50), 'it runs no longer');
  assert.notEqual(ask('/', ports.http).status, 0, 'nothing listens there any more');
});
