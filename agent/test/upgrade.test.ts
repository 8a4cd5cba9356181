/** A node becomes another version while visitors ask: none of them notices, and of a bad version nothing is left. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { before, test, type TestContext } from 'node:test';
import type { Bundle, Packed } from '#contract/node/bundle.ts';
import { send } from '#server/bus/commands.ts';
import { busEvents } from '#server/bus/settle.ts';
import { freePort } from '#server/store/engine-process.ts';
import { testFolder } from '#system/engines.ts';
import { origin, Plane, until } from './node.ts';
import { edit, PlacedNode, Versions } from './versions.ts';

const home = testFolder('upgrade');
let all: Versions;
let prefix: string;
let first: string;
/** What the control plane hands out under /bundle/. */
let serving: Record<string, Packed> = {};
/** bytes after which an answer breaks off, once */
let breakAfter = 0;
let ranges: string[] = [];

before(async () => {
  all = await Versions.in(home);
  prefix = await all.prefix('programs');
  ({ first } = all);
});
const made = (name: string, change?: (folder: string) => void) => all.made(name, change);
let halfOf: (part: Packed) => number;
function hand(request: http.IncomingMessage, answer: http.ServerResponse): unknown {
  const part = serving[request.url!.split('/').at(-1)!];
  if (!part) return answer.writeHead(404).end();
  const from = Number(/bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0);
  ranges.push(request.headers.range ?? 'whole');
  answer.writeHead(from ? 206 : 200, { 'content-length': part.bytes - from });
  const bytes = readFileSync(join(all.archives, part.file));
  if (!breakAfter) return answer.end(bytes.subarray(from));
  const end = breakAfter;
  breakAfter = 0;
  answer.write(bytes.subarray(0, end));
  // what a broken connection has brought by then counts
  void until('it is written down', () => halfOf(part) === end).then(() => answer.destroy());
  return undefined;
}

async function stand(t: TestContext) {
  const plane = await Plane.start(t);
  const { rig } = plane;
  const { zoneID, productID } = await rig.zone('z');
  const siteID = await rig.site(productID, 's');
  const ports = await Promise.all(['one', 'two'].map(name => origin(t, name)));
  for (const [i, port] of ports.entries()) await rig.domain(siteID, `${['a', 'b'][i]}.test`, '127.0.0.1', port);
  const token = await plane.token(zoneID);
  const node = new PlacedNode({ prefix, first }, plane, token, 'n');
  [node.httpPort, node.healthPort] = [await freePort(), await freePort()];
  // archives come from where it joined
  const calls = plane.http.listeners('request') as http.RequestListener[];
  plane.http.removeAllListeners('request');
  plane.http.on('request', (request, answer) => {
    if (request.url!.startsWith('/bundle/')) hand(request, answer);
    else for (const call of calls) call(request as never, answer as never);
  });
  t.after(() => node.end());
  halfOf = part => statSync(join(node.data, 'upgrade', `${part.file}.part`), { throwIfNoEntry: false })?.size ?? 0;
  node.start();
  await until('it serves', async () => (await node.visit('a.test')) === 'one' && (await node.visit('b.test')) === 'two');
  let count = Date.now() * 1000;
  let id = 0;
  /** Told as the control plane does: again until it has answered. */
  async function upgrade(
    bundle: Bundle,
    more: { manifest?: string; signer?: typeof rig.signer; idAgain?: boolean } = {},
  ): Promise<string | null> {
    if (!more.idAgain) id++;
    serving = { application: bundle.application, runtime: bundle.runtime };
    const manifest = JSON.stringify(bundle);
    const signature = (more.signer ?? rig.signer).bundle(manifest);
    const nodeID = await rig.one(`select id from node where name = 'n'`);
    const { promise, resolve } = Promise.withResolvers<string | null>();
    const own = new Set<number>();
    const heard = (_: number, { count, ok, why }: { count: number; ok: boolean; why?: string | undefined }) => {
      if (own.has(count)) resolve(ok ? null : (why ?? ''));
    };
    busEvents.on('answer', heard);
    const tell = () => {
      own.add(++count);
      const body = JSON.stringify({ id, manifest: more.manifest ?? manifest, signature, path: '/bundle' });
      send({ nats: rig.nc, signer: rig.signer }, { nodeID, verb: 'upgrade', count, body });
    };
    tell();
    const timer = setInterval(tell, 1000);
    const late = setTimeout(() => resolve('no answer in 150 s'), 150_000);
    try {
      return await promise;
    } finally {
      clearInterval(timer);
      clearTimeout(late);
      busEvents.off('answer', heard);
    }
  }
  const lua = () =>
    new Promise<string>((done, fail) => {
      const socketPath = join(node.data, 'run/ctl/ctl.sock');
      http
        .get({ socketPath, path: '/stat?brief=1', agent: false }, answer => {
          let text = '';
          answer.setEncoding('utf8').on('data', part => (text += part));
          answer.on('end', () => done((JSON.parse(text) as { lua: string }).lua));
        })
        .on('error', fail);
    });
  /** Visitors, until it is called: how many there were, and which were not answered as they should. */
  function visitors() {
    let [over, asked] = [false, 0];
    const wrong: string[] = [];
    const ask = async (host: string, wished: string) => {
      while (!over) {
        asked++;
        const said = await node.visit(host).catch((error: Error) => error.message);
        if (said !== wished) wrong.push(`${host} ${said}`);
        await new Promise(next => setTimeout(next, 5));
      }
    };
    const asking = [ask('a.test', 'one'), ask('b.test', 'two'), ask('a.test', 'one')];
    return async () => {
      over = true;
      await Promise.all(asking);
      return { asked, wrong };
    };
  }
  const version = () => rig.one<string>(`select version from node where name = 'n'`);
  return { plane, rig, node, upgrade, lua, visitors, version };
}
const versions = () => readdirSync(join(prefix, 'versions')).sort();

test('a node becomes another version under traffic; of a bad one it is told why, and goes on as it was', async t => {
  const { node, upgrade, lua, visitors, version, rig } = await stand(t);
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

  breakAfter = 5000;
  ranges = [];
  assert.equal(await upgrade(second), null, node.log.slice(-3000));
  assert.deepEqual(ranges, ['whole', 'bytes=5000-'], 'it went on where it broke off');
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
  const { node, upgrade, lua, version } = await stand(t);
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
  const { node, upgrade, version } = await stand(t);
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
