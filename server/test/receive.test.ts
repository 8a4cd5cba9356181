/** What strangers and slow callers hold: bodies that never come to their end, forms, connections. */
import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { after, before, test, type TestContext } from 'node:test';
import { connect as connectTLS } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import { groups } from '#contract/index.ts';
import { calls, mounted } from '#contract/kit/call.ts';
import { file, obj, opt, str } from '#contract/kit/schema.ts';
import { selfSigned } from '#host/certificates.ts';
import { implement } from '#server/kit/implement.ts';
import { createServer } from '#server/kit/mount.ts';
import { registry } from '#server/kit/metrics.ts';
import { Networks } from '#server/kit/networks.ts';
import { openBytes } from '#server/kit/receive.ts';
import { listenOutside } from '#server/services/outside.ts';
import { freePort, poll } from '#server/store/engine-process.ts';
import { generate } from './guards/generate.ts';
import { largest } from './guards/largest.ts';
import { Api, type Tenant } from './harness.ts';

let api: Api;
let a: Tenant;
let app: FastifyInstance;
let port: number;
const sockets: Socket[] = [];
before(async () => {
  api = await Api.start();
  a = await api.tenant('a');
  const group = calls(
    { base: '/sample', resource: 'sample', auth: 'public' },
    {
      'POST /text': { body: obj({ text: str(60_000) }), answer: obj({ text: str(60_000) }), audit: false },
      'POST /form': { upload: true, body: obj({ logo: opt(file(1000, ['image/png'])) }), audit: false },
    },
  );
  app = createServer({
    services: api.services,
    groups: [group],
    implementations: [
      implement(group, { 'POST /text': async ({ body }) => ({ text: body.text }), 'POST /form': async () => ({}) }),
    ],
    params: {},
    log: () => {},
    pace: { windowMs: 1500, bytes: 10, windows: 99 },
  });
  port = Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port);
});
after(async () => {
  for (const one of sockets) one.destroy();
  await app?.close();
  await api?.stop();
});

/** Sends the head of a call and some of its body. */
function begin(at: number, path: string, length: number | string, sent: string, headers = 'Content-Type: application/json') {
  const socket = connect(at, '127.0.0.1');
  sockets.push(socket);
  const said = { text: '', isClosed: false };
  socket
    .setEncoding('utf8')
    .on('data', chunk => (said.text += chunk))
    .on('error', () => {})
    .on('close', () => (said.isClosed = true));
  socket.write(
    `POST /api/v1${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n${typeof length === 'string' ? length : `Content-Length: ${length}`}\r\n\r\n${sent}`,
  );
  return { socket, said };
}
const answer = async ({ said }: ReturnType<typeof begin>) => {
  assert.ok(await poll(() => said.text.endsWith('}'), 20_000), `no answer but ${said.text}`);
  return { status: Number(said.text.split(' ')[1]), body: JSON.parse(said.text.split('\r\n\r\n')[1]!) };
};
const form = 'Content-Type: multipart/form-data; boundary=b';
const part = '--b\r\nContent-Disposition: form-data; name="logo"; filename="a"\r\nContent-Type: image/png\r\n\r\nx';

test('a call without an account takes a small body, and the largest valid one', async () => {
  const open = [...mounted(groups)].filter(call => (call.auth === 'public' || call.auth === 'node') && call.def.body);
  assert.ok(open.length > 15);
  for (const { def, key } of open) {
    const bytes = Buffer.byteLength(JSON.stringify(largest(def.body!, generate(def.body!, 'x'), 1_000_000)));
    assert.ok(bytes <= openBytes, `${key} takes ${bytes}`);
  }
  const text = (length: number) =>
    ({ payload: { text: 'x'.repeat(length) }, method: 'POST', url: '/api/v1/sample/text' }) as const;
  assert.equal((await app.inject(text(openBytes - 20))).statusCode, 200);
  const refused = await app.inject(text(openBytes));
  assert.deepEqual([refused.statusCode, refused.json().errorData[0].rule], [413, 'tooLarge']);
  // also where it does not say beforehand how much there is
  const endless = begin(port, '/sample/text', 'Transfer-Encoding: chunked', `${(openBytes + 1).toString(16)}\r\n`);
  endless.socket.write('x'.repeat(openBytes + 1));
  assert.equal((await answer(endless)).status, 413);
});

test('a body that stops on its way is not waited for; one that goes on arriving is, however long that takes', async () => {
  for (const one of [begin(port, '/sample/text', 5000, '{"text":"'), begin(port, '/sample/form', 5000, part, form)]) {
    const { status, body } = await answer(one);
    assert.deepEqual([status, body.code, body.errorData[0].rule], [408, 101003, 'tooSlow']);
    assert.ok(await poll(() => one.said.isClosed, 20_000));
  }
  const text = 'x'.repeat(1000);
  const body = JSON.stringify({ text });
  const slow = begin(port, '/sample/text', body.length, '');
  for (let at = 0; at < body.length; at += 20) {
    slow.socket.write(body.slice(at, at + 20));
    await new Promise(next => setTimeout(next, 80));
  }
  assert.deepEqual(await answer(slow), { status: 200, body: { text } });
});

test('of one operator one form is read at a time, a few wait unread, and one more is refused', async () => {
  const at = Number(new URL(await api.app.listen({ host: '127.0.0.1', port: 0 })).port);
  const headers = `Authorization: Bearer ${a.client.token}\r\n${form}`;
  const held = Array.from({ length: 5 }, () => begin(at, '/client/setting/logo', 3_000_000, part, headers));
  // one is read, and four wait
  const waiting = async () => /^breakwater_queue_waiting\{queue="uploads"\} 4$/m.test(await registry.metrics());
  assert.ok(await poll(waiting, 20_000));
  const refused = await answer(begin(at, '/client/setting/logo', 3_000_000, part, headers));
  assert.deepEqual([refused.status, refused.body.errorData[0].rule], [429, 'tooManyCalls']);
  // whoever leaves gives way
  for (const { socket } of held) socket.destroy();
  const isFree = async () => {
    const end = '\r\n--b--\r\n';
    const title = '--b\r\nContent-Disposition: form-data; name="title"\r\n\r\nmine';
    const { status } = await answer(begin(at, '/client/setting/logo', title.length + end.length, title + end, headers));
    return status === 200;
  };
  assert.ok(await poll(isFree, 20_000));
});

/** Calls of people with accounts, with a pace of their own. */
async function paced(t: TestContext): Promise<number> {
  const group = calls(
    { base: '/{area}/paced', areas: ['user', 'client'], resource: 'sample' },
    {
      'POST /form': { upload: true, permission: null, body: obj({ logo: opt(file(1_000_000, ['image/png'])) }), audit: false },
      'POST /large': { permission: null, bodyLimit: 6_000_000, body: obj({ text: str(6_000_000) }), audit: false },
      'POST /held': { permission: null, bodyLimit: 6_000_000, body: obj({ text: str(6_000_000) }), audit: false },
    },
  );
  const server = createServer({
    services: api.services,
    groups: [group],
    implementations: [
      implement(group, {
        'POST /form': async () => ({}),
        'POST /large': async () => ({}),
        'POST /held': async () => {
          holding++;
          await answered.promise;
          return {};
        },
      }),
    ],
    params: {},
    log: () => {},
    pace: { windowMs: 500, bytes: 10, windows: 4 },
  });
  t.after(async () => {
    for (const one of sockets) one.destroy();
    await server.close();
  });
  return Number(new URL(await server.listen({ host: '127.0.0.1', port: 0 })).port);
}
const answered = Promise.withResolvers<void>();
/** calls that were read and are not answered */
let holding = 0;
const bearer = (token: string, type: string) => `Authorization: Bearer ${token}\r\n${type}`;

test('a form that goes on arriving keeps its place until somebody else waits for it', async t => {
  const at = await paced(t);
  const send = (token: string, length: number, sent: string) =>
    begin(at, '/client/paced/form', length, sent, bearer(token, form));
  const people = [];
  for (let n = 0; n < 8; n++) people.push(await api.account('client', `form-${n}@test.test`));
  const end = '\r\n--b--\r\n';
  const slow = people.map(({ token }) => send(token, 900_000, part));
  const drip = () => slow.forEach(({ socket }) => socket.writable && socket.write('x'.repeat(20)));
  // one's own keeps waiting
  const own = send(people[0]!.token, part.length + end.length, part + end);
  for (let n = 0; n < 80; n++) {
    drip();
    await new Promise(next => setTimeout(next, 50));
  }
  const goesOn = setInterval(drip, 50);
  t.after(() => clearInterval(goesOn));
  assert.deepEqual(
    [own, ...slow].map(({ said }) => said.text),
    Array(9).fill(''),
  );
  const other = send(a.client.token, part.length + end.length, part + end);
  assert.equal((await answer(other)).status, 200);
  // one gave way, whichever was looked at first, and the others go on
  assert.ok(await poll(() => slow.some(({ said }) => said.text !== ''), 20_000));
  const [gone, ...others] = slow.filter(({ said }) => said.text !== '');
  assert.deepEqual(others, []);
  const { status, body } = await answer(gone!);
  assert.deepEqual([status, body.errorData[0].rule], [408, 'tooSlow']);
});

test('of one root account bodies hold so much until they are answered; another’s, and small ones, come in all the same', async t => {
  const at = await paced(t);
  const json = 'Content-Type: application/json';
  const text = JSON.stringify({ text: 'x'.repeat(5_000_000) });
  const send = (token: string, path = 'held', sent = text) =>
    begin(at, `/user/paced/${path}`, sent.length, sent, bearer(token, json));
  const other = await api.account('user', 'bodies@test.test', { parentClient: a.client.id });
  const { token } = a.user;
  // one that is half here, and two that wait for their answer
  const half = begin(at, '/user/paced/held', text.length, text.slice(0, 4_900_000), bearer(token, json));
  const drip = setInterval(() => half.socket.writable && half.socket.write('x'.repeat(20)), 50);
  t.after(() => clearInterval(drip));
  const two = [send(token), send(token)];
  // a body that came beside them might be taken, and one of them refused
  assert.ok(await poll(() => holding === 2, 20_000));
  const refused = async () => {
    const { status, body } = await answer(send(token, 'large'));
    return status === 429 && body.errorData[0].rule === 'tooManyCalls';
  };
  assert.ok(await poll(refused, 20_000), 'a fourth one');
  assert.equal((await answer(send(token, 'large', '{"text":"small"}'))).status, 200);
  assert.equal((await answer(send(other.token, 'large'))).status, 200);
  // all are let go: who leaves, and who is answered
  half.socket.destroy();
  answered.resolve();
  for (const one of two) assert.equal((await answer(one)).status, 200);
  for (let n = 0; n < 4; n++) assert.equal((await answer(send(token, 'large'))).status, 200);
});

test('customers of one operator that hold all there is with bodies that go on slowly give way to another’s', async t => {
  const at = await paced(t);
  const sent: ReturnType<typeof begin>[] = [];
  const send = (token: string, length: number, part: number) => {
    const text = JSON.stringify({ text: 'x'.repeat(length) });
    const headers = bearer(token, 'Content-Type: application/json');
    return begin(at, '/user/paced/large', text.length, text.slice(0, part), headers);
  };
  const drip = setInterval(() => sent.forEach(({ socket }) => socket.writable && socket.write('x'.repeat(20))), 50);
  t.after(() => clearInterval(drip));
  for (let n = 0; n < 5; n++) {
    const { token } = await api.account('user', `slow-${n}@test.test`, { parentClient: a.client.id });
    // 14.6 MB of each, 8 MB of the last one
    const parts = n < 4 ? [4_900_000, 4_900_000, 4_900_000] : [4_050_000, 4_050_000];
    for (const part of parts) {
      const one = send(token, 5_900_000, part);
      sent.push(one);
      assert.ok(await poll(() => one.socket.writableLength === 0, 20_000));
    }
  }
  const other = await api.account('user', 'slow-none@test.test', { parentClient: a.client.id });
  const isTaken = async () => (await answer(send(other.token, 4_000_000, 5_000_000))).status === 200;
  assert.ok(await isTaken());
  assert.ok(await poll(() => sent.some(({ said }) => said.isClosed), 20_000), 'the connection of who gave way is closed');
  const [gone, ...others] = sent.filter(({ said }) => said.text !== '');
  assert.deepEqual(others, []);
  const { status, body } = await answer(gone!);
  assert.deepEqual([status, body.errorData[0].rule], [408, 'tooSlow']);
});

test('an address, and a network, has so many connections; whoever stands behind a proxy has them by the proxy', async () => {
  const { certificate: cert, key } = selfSigned('x.test');
  const enter = (at: number, localAddress = '127.0.0.1') =>
    new Promise<Socket | undefined>(done => {
      const socket = connectTLS({ socket: connect({ host: '127.0.0.1', port: at, localAddress }), rejectUnauthorized: false });
      sockets.push(socket);
      socket
        .on('secureConnect', () => done(socket))
        .on('error', () => {})
        .on('close', () => done(undefined));
    });
  const bounds = { address: 2, network: 3 };
  const at = await freePort();
  const outer = { host: '127.0.0.1', port: at, cert, key };
  const none = new Networks();
  let outside = await listenOutside(app, outer, none, { bounds, free: [] });
  const [first, second] = [await enter(at), await enter(at)];
  assert.ok(first && second);
  assert.equal(await enter(at), undefined, 'a third of one address');
  assert.match(await registry.metrics(), /breakwater_events_total\{part="outside",event="connectionRefused"\} [1-9]/);
  assert.ok(await enter(at, '127.0.0.2'));
  assert.equal(await enter(at, '127.0.0.3'), undefined, 'a fourth of one network');
  first.destroy();
  assert.ok(await poll(async () => (await enter(at, '127.0.0.3')) !== undefined, 20_000));
  await outside.stop();
  for (const [proxies, options] of [
    [none, { bounds }],
    [new Networks(['127.0.0.0/8']), { bounds, free: [] }],
  ] as const) {
    outside = await listenOutside(app, outer, proxies, options);
    for (let n = 0; n < 5; n++) assert.ok(await enter(at));
    await outside.stop();
  }
});
