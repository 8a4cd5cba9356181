/** The shipper on a real nginx, a real bus with a node's credentials, and a test that plays the server's part. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import zlib from 'node:zlib';
import { type TestContext, test } from 'node:test';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect, credsAuthenticator } from '@nats-io/transport-node';
import { LogFolder, writersOf } from '#agent/ship/files.ts';
import { type Shipper, type ShipperOptions, startShipper } from '#agent/ship/ship.ts';
import { type LogMark, accessLogFormat, logHeaders } from '#contract/edge/log.ts';
import { streams, subjects } from '#contract/edge/subjects.ts';
import { ensureLogStream } from '#server/bus/streams.ts';
import { findProgram, freePort, poll, spawnEngine } from '#server/store/engine-process.ts';
import { nats, testFolder } from '#system/engines.ts';
import { connectNode, nodesOf } from '../../../server/test/bus/rig.ts';

interface Got {
  file: string;
  kind: string;
  from: number;
  to: number;
  data: Buffer;
}

/** A bus, a node's connection to it, and what arrives on it. */
async function setUp(t: TestContext) {
  const bus = await nats();
  const server = await connect({ servers: bus.url, authenticator: credsAuthenticator(Buffer.from(bus.serverCreds)) });
  const jsm = await jetstreamManager(server);
  await ensureLogStream(jsm);
  const nodes = await nodesOf(bus);
  const node = await connectNode(bus, (await nodes.node(5, 1)).creds, true);
  const got: Got[] = [];
  server.subscribe(subjects.logsOf(5), {
    callback: (_, message) => {
      const h = (name: string) => message.headers!.get(name);
      const data = message.data.length ? zlib.zstdDecompressSync(message.data) : Buffer.alloc(0);
      got.push({
        file: h(logHeaders.file),
        kind: h(logHeaders.kind),
        from: Number(h(logHeaders.from)),
        to: Number(h(logHeaders.to)),
        data,
      });
    },
  });
  const logDir = path.join(testFolder('ship'), 'log');
  fs.mkdirSync(logDir);
  const shippers: Shipper[] = [];
  t.after(async () => {
    for (const one of shippers) await one.stop();
    await node.close();
    await nodes.close();
    await server.close();
    await bus.stop();
  });
  return {
    jsm,
    logDir,
    got,
    start(options: Partial<ShipperOptions> = {}) {
      const shipper = startShipper({ nc: node, logDir, ...options });
      shippers.push(shipper);
      return shipper;
    },
    mark: (mark: LogMark) => server.publish(subjects.mark(5), JSON.stringify(mark)),
    /** bytes of a file as they arrived, in their places */
    bytesOf(file: string) {
      const pieces = got.filter(one => one.file === file && one.kind === 'bytes').sort((a, b) => a.from - b.from);
      let whole = Buffer.alloc(0);
      for (const piece of pieces)
        if (piece.from <= whole.length && piece.to > whole.length)
          whole = Buffer.concat([whole, piece.data.subarray(whole.length - piece.from)]);
      return whole.toString('latin1');
    },
    active: () => /access\.(\w+)\.log/.exec(fs.readlinkSync(path.join(logDir, 'access.log')))![1]!,
    files: () => fs.readdirSync(logDir).filter(name => /^access\.\w+\.(log|hole)$/.test(name)),
  };
}
const until = async (condition: () => boolean | Promise<boolean>, what: string) => assert.ok(await poll(condition, 15_000), what);
const append = (logDir: string, text: string) => fs.appendFileSync(path.join(logDir, 'access.log'), text);

test('whole lines go out, the rest of a line waits for its end', async t => {
  const s = await setUp(t);
  s.start();
  const file = s.active();
  append(s.logDir, '\x1eone\n\x1etwo\n\x1ethr');
  await until(() => s.bytesOf(file) === '\x1eone\n\x1etwo\n', 'two lines');
  append(s.logDir, 'ee\n');
  await until(() => s.bytesOf(file) === '\x1eone\n\x1etwo\n\x1ethree\n', 'the third');
});

test('a rotated file is deleted when all of it is stored and nobody writes to it, not before', async t => {
  const s = await setUp(t);
  const shipper = s.start({ reopen: () => undefined });
  const first = s.active();
  append(s.logDir, '\x1ea\n');
  const writer = fs.openSync(path.join(s.logDir, 'access.log'), 'a');
  await until(() => s.bytesOf(first) === '\x1ea\n', 'the first line');
  shipper.rotate();
  const second = s.active();
  assert.notEqual(second, first);
  s.mark({ marks: { [first]: 3 } });
  // Whoever still has the old file open may write on; those lines are not lost.
  fs.writeSync(writer, '\x1eb\n\x1ehalf');
  append(s.logDir, '\x1ec\n');
  await until(
    () => s.bytesOf(first) === '\x1ea\n\x1eb\n' && s.bytesOf(second) === '\x1ec\n',
    'late lines of the old file and the new file',
  );
  s.mark({ marks: { [first]: 6 } });
  assert.ok(fs.existsSync(path.join(s.logDir, `access.${first}.log`)));
  fs.closeSync(writer);
  await until(() => s.bytesOf(first).endsWith('half'), 'a half line of a finished file goes out as it is');
  s.mark({ marks: { [first]: 11 } });
  await until(() => !fs.existsSync(path.join(s.logDir, `access.${first}.log`)), 'deleted');
  assert.deepEqual(s.files(), [`access.${second}.log`]);
});

test('asked to, it sends again from there; of a file it no longer has it says so', async t => {
  const s = await setUp(t);
  s.start();
  const file = s.active();
  append(s.logDir, '\x1eone\n\x1etwo\n');
  await until(() => s.bytesOf(file).length === 10, 'sent');
  s.got.length = 0;
  s.mark({ rewind: { [file]: 5 } });
  await until(() => s.got.some(one => one.from === 5 && one.data.toString('latin1') === '\x1etwo\n'), 'from position 5 on');
  s.mark({ rewind: { aaaaaaaaaaaaaaaa: 7 } });
  await until(() => s.got.some(one => one.file === 'aaaaaaaaaaaaaaaa' && one.kind === 'gone'), 'gone');
});

test('an announcement that got lost is asked for', async t => {
  const s = await setUp(t);
  s.start();
  const file = s.active();
  append(s.logDir, '\x1eone\n');
  await until(() => s.got.some(one => one.file === file && one.from === 5 && one.to === 5), 'an empty range as a question');
});

test('after a restart it goes on where the server had stored, and from the start without that note', async t => {
  const s = await setUp(t);
  const shipper = s.start();
  const file = s.active();
  append(s.logDir, '\x1eone\n\x1etwo\n');
  await until(() => s.bytesOf(file).length === 10, 'sent');
  s.mark({ marks: { [file]: 5 } });
  await until(() => shipper.stats().waitingBytes === 5, 'heard');
  await shipper.stop();
  s.got.length = 0;
  const again = s.start();
  assert.equal(s.active(), file, 'the same byte stream');
  await until(() => s.got.length > 0, 'sent again');
  assert.equal(s.got[0]?.from, 5);
  await again.stop();
  fs.rmSync(path.join(s.logDir, 'access.marks.json'));
  s.got.length = 0;
  s.start();
  await until(() => s.bytesOf(file) === '\x1eone\n\x1etwo\n', 'from the start');
});

test('while the bus is away lines wait, then all arrive', async t => {
  const s = await setUp(t);
  const shipper = s.start();
  const file = s.active();
  await s.jsm.streams.delete(streams.logs);
  append(s.logDir, '\x1eone\n');
  await until(() => shipper.stats().problem !== null, 'it says so');
  assert.equal(shipper.stats().waitingBytes, 5);
  s.got.length = 0;
  await ensureLogStream(s.jsm);
  await until(() => shipper.stats().problem === null && s.bytesOf(file) === '\x1eone\n', 'sent');
});

test('beyond its room the oldest file is dropped, and the hole is told', async t => {
  const s = await setUp(t);
  const shipper = s.start({ diskBudgetBytes: 1000, rotateBytes: 400 });
  const first = s.active();
  for (let i = 0; i < 8; i++) {
    append(s.logDir, `\x1e${'x'.repeat(198)}\n`);
    await until(() => s.bytesOf(s.active()).length > 0 || shipper.stats().files > 1 + i / 2, `line ${i}`);
  }
  await until(() => s.files().some(name => name.endsWith('.hole')), 'a hole');
  assert.ok(!fs.existsSync(path.join(s.logDir, `access.${first}.log`)), 'the oldest is gone');
  // The server has nothing of it: it asks from 0 and is told what is missing.
  s.got.length = 0;
  s.mark({ rewind: { [first]: 0 } });
  await until(() => s.got.some(one => one.file === first && one.kind === 'hole' && one.from === 0 && one.to >= 400), 'told');
  s.mark({ marks: { [first]: s.got.find(one => one.kind === 'hole')!.to } });
  await until(() => !s.files().includes(`access.${first}.hole`), 'recorded and forgotten');
});

test('positions are given once: a file that lost its end is left for another, whoever sees it', async t => {
  const s = await setUp(t);
  const said: string[] = [];
  const log = (event: string) => void said.push(event);
  const before = s.start({ log });
  const first = s.active();
  append(s.logDir, '\x1eone\n\x1etwo\n');
  await until(() => s.bytesOf(first).length === 10, 'sent');
  s.mark({ marks: { [first]: 10 } });
  await until(() => before.stats().waitingBytes === 0, 'stored');
  await before.stop();
  // power was cut
  fs.truncateSync(path.join(s.logDir, 'access.log'), 5);
  const shipper = s.start({ log, reopen: () => undefined });
  await until(() => s.active() !== first, 'another file at a start');
  const second = s.active();
  append(s.logDir, '\x1enew\n');
  await until(() => s.bytesOf(second) === '\x1enew\n', 'what came afterwards');
  assert.equal(shipper.stats().cutBytes, 5);
  await until(() => !s.files().includes(`access.${first}.log`), 'the short one is stored as far as it goes');
  // somebody empties it while we look
  fs.truncateSync(path.join(s.logDir, 'access.log'), 0);
  await until(() => s.active() !== second, 'another file while running');
  const third = s.active();
  append(s.logDir, '\x1eafter\n');
  await until(() => s.bytesOf(third) === '\x1eafter\n', 'what came after that');
  assert.equal(shipper.stats().cutBytes, 10);
  // our own notes went with the end: the server knows more of the file than there is
  s.mark({ marks: { [third]: 100 } });
  await until(() => s.active() !== third, 'another file when the server says so');
  append(s.logDir, '\x1elast\n');
  await until(() => s.bytesOf(s.active()) === '\x1elast\n', 'what came last');
  assert.equal(shipper.stats().cutBytes, 103);
  assert.equal(said.filter(event => event.includes('shorter')).length, 3);
});

test('after a start of the machine lines go to a new file; an empty one serves', () => {
  const folder = new LogFolder(path.join(testFolder('ship'), 'log'));
  const first = folder.active().id;
  folder.begin();
  assert.equal(folder.active().id, first);
  append(folder.dir, '\x1eone\n');
  folder.begin();
  assert.notEqual(folder.active().id, first);
  assert.equal(fs.readFileSync(folder.pathOf(first), 'utf8'), '\x1eone\n');
});

test('a log file that is there and cannot be opened is kept, named, and sent once it can be; others go on', async t => {
  const s = await setUp(t);
  const old = 'a'.repeat(20);
  const file = path.join(s.logDir, `access.${old}.log`);
  fs.symlinkSync(path.basename(file), file); // whoever may read everything cannot follow it either
  const shipper = s.start();
  await until(() => shipper.stats().unread !== null, 'told');
  assert.match(shipper.stats().unread!, new RegExp(`access\\.${old}\\.log: ELOOP`));
  append(s.logDir, '\x1eother\n');
  await until(() => s.bytesOf(s.active()) === '\x1eother\n', 'the others');
  assert.ok(fs.lstatSync(file).isSymbolicLink(), 'kept');
  fs.rmSync(file);
  fs.mkdirSync(file); // opens, and cannot be read
  await until(() => shipper.stats().unread?.includes('EISDIR') ?? false, 'the other reason');
  fs.rmdirSync(file);
  await shipper.stop();
  fs.writeFileSync(file, '\x1eone\n');
  const again = s.start();
  await until(() => s.bytesOf(old) === '\x1eone\n', 'sent');
  assert.equal(again.stats().unread, null);
});

for (const notes of ['null', '7', '[]', '{"x":"y","z":-1}', '{'])
  test(`notes of marks that read ${notes} are none`, async t => {
    const s = await setUp(t);
    fs.writeFileSync(path.join(s.logDir, 'access.marks.json'), notes);
    s.start();
    append(s.logDir, '\x1eone\n');
    await until(() => s.bytesOf(s.active()) === '\x1eone\n', 'sent');
  });

test('nginx: the log format, a plain access.log taken over while it runs, rotation by USR1 without losing a line', async t => {
  const s = await setUp(t);
  const command = await findProgram('nginx');
  assert.ok(command, 'nginx is installed');
  const port = await freePort();
  const root = path.dirname(s.logDir);
  const conf = path.join(root, 'nginx.conf');
  const ours =
    'map "" $edge_site { default "3"; } map "" $edge_domain { default "31"; } map "" $edge_reason { default "-"; } map "" $edge_status { default $status; } map "" $edge_rid { default "e-$pid-$connection-$connection_requests"; } map $upstream_cache_status $edge_cache { "" "-"; default $upstream_cache_status; }';
  fs.writeFileSync(
    conf,
    `worker_processes 2; pid ${root}/pid; error_log ${root}/error.log; daemon off; events {}
     http { ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(name => `${name}_temp_path ${root}/tmp;`).join(' ')} ${ours} ${accessLogFormat('edge')}
       access_log ${s.logDir}/access.log edge buffer=16k flush=100ms;
       server { listen 127.0.0.1:${port}; return 200 ok; } }`,
  );
  fs.chmodSync(root, 0o755);
  fs.chmodSync(s.logDir, 0o755); // the workers are somebody else: the master makes the file for them
  const nginx = await spawnEngine({ command, args: ['-c', conf, '-e', `${root}/error.log`], ref: false, deathSignal: 'SIGKILL' });
  t.after(() => nginx.stop());
  let serial = 0;
  const request = async () =>
    (await fetch(`http://127.0.0.1:${port}/q${++serial}?a=%22`, { headers: { 'user-agent': 'ü "\t' + serial } })).text();
  await until(
    async () =>
      request().then(
        () => true,
        () => false,
      ),
    'nginx answers',
  );
  serial = 0;
  await until(() => (fs.statSync(path.join(s.logDir, 'access.log'), { throwIfNoEntry: false })?.size ?? 0) > 0, 'a plain file');
  const shipper = s.start();
  const ids = new Set([s.active()]);
  for (let i = 0; i < 40; i++) {
    await request();
    if (i % 10 === 9) {
      await until(() => s.bytesOf(s.active()).length > 0, 'some lines of this file');
      const old = path.join(s.logDir, `access.${s.active()}.log`);
      shipper.rotate();
      ids.add(s.active());
      await until(() => writersOf(old).pids.length === 0, 'the workers have left the old file');
    }
  }
  const lines = () => [...ids].flatMap(id => s.bytesOf(id).split('\n').slice(0, -1)).map(line => line.split('\t'));
  const uris = () => new Set(lines().map(fields => fields[5]));
  await until(() => Array.from({ length: 40 }, (_, i) => `/q${i + 1}?a=%22`).every(uri => uris().has(uri)), 'every request');
  assert.equal(ids.size, 5);
  const fields = lines().find(one => one[5] === '/q7?a=%22')!;
  assert.match(fields[0]!.replace('\x1e', 'mark'), /^mark\d+\.\d{3}$/);
  assert.deepEqual(fields.slice(1, 5), ['3', '31', '127.0.0.1', 'GET']);
  assert.equal(fields[15], '\\xFC \\x22\\x097');
  assert.deepEqual([fields[10], fields[16]], ['-', '-']);
  assert.match(fields[17]!, /^e-\d+-\d+-\d+$/);
  assert.equal(fields.length, 18);
});
