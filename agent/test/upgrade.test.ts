/** A node becomes another version while visitors ask: none of them notices, and of a bad version nothing is left. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import type { Bundle } from '#contract/node/bundle.ts';
import { testFolder } from '#system/engines.ts';
import { until } from './node.ts';
import { stand } from './upgrading.ts';
import { edit, Versions } from './versions.ts';

const home = testFolder('upgrade');
let all: Versions;
let prefix: string;
let first: string;

before(async () => {
  all = await Versions.in(home);
  prefix = await all.prefix('programs');
  ({ first } = all);
});
const made = (name: string, change?: (folder: string) => void) => all.made(name, change);
const versions = () => readdirSync(join(prefix, 'versions')).sort();

test('a node becomes another version under traffic; of a bad one it is told why, and goes on as it was', async t => {
  const { node, upgrade, lua, visitors, version, rig, gate } = await stand(t, { all, prefix });
  const pid = node.process!.pid;
  const master = node.nginx();
  const over = visitors();
  t.after(over);
  const stays = async (bundle: Bundle, why: RegExp, more = {}) => {
    const said = await upgrade(bundle, more);
    assert.match(said ?? 'it was done', why, node.log.slice(-3000));
    const old = join(prefix, 'versions', first, 'edge/lua');
    await until('the old one is there', async () => (await version()) === first && (await lua().catch(() => '')) === old);
    assert.equal(node.process!.exitCode, null);
    assert.ok(!existsSync(join(node.data, 'shadow')));
  };
  const second = await made('second');

  await stays(second, /not signed by the installation/, {
    signer: new (rig.signer.constructor as new (seed: string) => typeof rig.signer)(Buffer.alloc(32, 7).toString('base64url')),
  });
  await stays(second, /not signed by the installation/, { manifest: JSON.stringify({ ...second, version: 'other' }) });
  await stays({ ...second, application: { ...second.application, sha256: 'a'.repeat(64) } }, /is not the \S+ that was announced/);
  await stays({ ...second, application: { ...second.application, bytes: 1e14 } }, /MB free, and the new version needs/);
  assert.deepEqual(versions(), [first], 'nothing was placed');

  const lead = (line: string) => (text: string) => `${line}\n${text}`;
  await stays(
    await made('mute', edit('agent.mjs', lead('throw new Error("it cannot");'))),
    /the new agent does not start: .*it cannot/,
  );
  await stays(
    await made('broken', edit('edge/lua/phases/front.lua', lead('this is no Lua'))),
    /does not serve beside the old one: .*front\.lua/,
  );
  await stays(
    await made(
      'wrong',
      edit('edge/lua/phases/front.lua', text =>
        text.replace('function M.rewrite()', 'function M.rewrite()\n  error "at run time"'),
      ),
    ),
    /answers otherwise: .*a\.test (500|nothing) instead of 200|answers otherwise: .*500 instead of/,
  );
  // what only the real door shows
  await stays(
    await made(
      'there',
      edit('edge/lua/phases/front.lua', text =>
        text.replace(
          'function M.rewrite()',
          `function M.rewrite()\n  if ngx.var.server_port == "${node.httpPort}" and ngx.var.http_user_agent then error "here alone" end`,
        ),
      ),
    ),
    /did not pass its trial: visitors are answered otherwise: .*500 instead of/,
  );
  await stays(
    await made('dies', edit('agent.mjs', lead('if (process.argv.includes("--trial")) process.exit(7);'))),
    /did not pass its trial: it ended with code 7/,
  );

  gate.breakAfter = 5000;
  gate.ranges = [];
  assert.equal(await upgrade(second), null, node.log.slice(-3000));
  assert.deepEqual(gate.ranges, ['whole', 'bytes=5000-'], 'it went on where it broke off');
  assert.equal(await lua(), join(prefix, 'versions', second.version, 'edge/lua'));
  await until('it says so', async () => (await version()) === second.version);
  assert.equal(readFileSync(join(node.data, 'upgrade/current'), 'utf8'), second.version);
  assert.deepEqual([node.process!.pid, node.process!.exitCode], [pid, null], 'whoever watches over the agent noticed nothing');
  assert.equal(node.nginx(), master, 'nginx was never ended');
  const { asked, wrong } = await over();
  assert.deepEqual(wrong, []);
  assert.ok(asked > 500, `${asked} visitors`);
  t.diagnostic(`${asked} visitors, all answered`);

  // told again, as when its answer was lost, nothing happens
  assert.equal(await upgrade(second, { idAgain: true }), null);
  await node.kill('SIGKILL');
  node.start();
  await until(
    'it starts as what it became',
    async () => (await version()) === second.version && (await node.visit('a.test')) === 'one',
  );
});

test('power is lost while a version is tried: the one of before is what starts', async t => {
  const { node, upgrade, lua, version } = await stand(t, { all, prefix });
  const slow = await made(
    'slow',
    edit(
      'agent.mjs',
      text => `if (process.argv.includes("--trial")) await new Promise(next => setTimeout(next, 600000));\n${text}`,
    ),
  );
  const told = upgrade(slow);
  await until('it is tried', () => existsSync(join(node.data, 'upgrade/trial.json')), 60_000);
  await node.kill('SIGKILL');
  node.start();
  assert.match((await told) ?? 'it was done', /restarted while the new version was tried: it goes on with/);
  assert.equal(await version(), first);
  assert.equal(await lua(), join(prefix, 'versions', first, 'edge/lua'));
  assert.equal(await node.visit('a.test'), 'one');
});

test('the agent is killed while a version is tried that hangs and holds the folder: what starts is not kept out', async t => {
  const { node, upgrade, version } = await stand(t, { all, prefix });
  const hangs = `if (process.argv.includes("--trial")) {
    const [fs, run] = [await import("node:fs"), await import("node:child_process")];
    const folder = fs.openSync(process.argv[process.argv.indexOf("--data") + 1], "r");
    while (run.spawnSync("flock", ["--nonblock", "3"], { stdio: ["ignore", "ignore", "ignore", folder] }).status);
    fs.writeFileSync(process.argv[process.argv.indexOf("--trial") + 1] + ".held", "");
    for (;;);
  }`;
  const told = upgrade(
    await made(
      'hangs',
      edit('agent.mjs', text => `${hangs}\n${text}`),
    ),
  );
  await until('it holds the folder', () => existsSync(join(node.data, 'upgrade/trial.json.held')), 60_000);
  await node.kill('SIGKILL');
  node.start();
  assert.match(
    (await told) ?? 'it was done',
    /restarted while the new version was tried: it goes on with/,
    node.log.slice(-1000),
  );
  assert.equal(await version(), first);
  assert.equal(await node.visit('a.test'), 'one');
});
