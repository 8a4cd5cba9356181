/** The session on the wire (§4 Session refresh, §7), against a real HTTP server. */
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, beforeEach, test } from 'node:test';
import { credentialStore, type Jar, type Tab } from '../src/kit/credentials.ts';
import { fileName } from '../src/kit/file-name.ts';
import { ApiError, BrokenOff, createTransport, type TransportOptions } from '../src/kit/transport.ts';

/** `document.cookie` for one site: writing sets one cookie, reading lists those that have not expired. */
class CookieJar implements Jar {
  written: string[] = [];
  #held = new Map<string, string>();
  get cookie() {
    return [...this.#held].map(([name, value]) => `${name}=${value}`).join('; ');
  }
  set cookie(line: string) {
    this.written.push(line);
    const [pair = '', ...attributes] = line.split('; ');
    const [name = '', value = ''] = pair.split('=');
    if (attributes.includes('max-age=0')) this.#held.delete(name);
    else this.#held.set(name, value);
  }
}

/** The store of one tab. */
class TabStore implements Tab {
  #value: string | null = null;
  get = () => this.#value;
  set = (value: string | null) => void (this.#value = value);
}

interface Seen {
  method: string;
  url: string;
  authorization?: string;
  contentType?: string;
  language?: string;
  body: unknown;
}
const seen: Seen[] = [];
/** The token the server takes; a refresh makes the next one. */
let valid = 'a1';
let refreshStatus = 200;

const refuse = (code: number, message: string, status = 401) => ({ status, body: { isError: true, code, message } });

function answer(request: Seen): { status: number; body: unknown } {
  if (request.method === 'PATCH' && request.url === '/user') {
    if (refreshStatus !== 200) return refuse(101016, 'Refresh Token Failed', refreshStatus);
    const { accessToken } = request.body as { accessToken: string };
    valid = `a${Number(accessToken.slice(1)) + 1}`;
    return { status: 200, body: { accessToken: valid, refreshToken: `r${valid}`, tokenType: 'Bearer' } };
  }
  if (request.url.startsWith('/user/login')) return refuse(101013, 'Wrong verification code');
  if (request.url.startsWith('/user/gone')) return refuse(101013, 'Invalid Token');
  if (request.url.startsWith('/user/broken')) return { status: 500, body: 'oops' };
  if (request.authorization === undefined) return refuse(101012, 'Credential Verification Failed');
  if (request.authorization !== `Bearer ${valid}`) return refuse(101014, 'Token Expired');
  return { status: 200, body: { ok: true } };
}

async function read(request: IncomingMessage): Promise<Seen> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  const { authorization, 'content-type': contentType, 'accept-language': language } = request.headers;
  return {
    method: request.method!,
    url: request.url!,
    authorization,
    contentType,
    language,
    body: text ? JSON.parse(text) : undefined,
  };
}

const server: Server = createServer((request, response) => {
  void read(request).then(what => {
    seen.push(what);
    const { status, body } = answer(what);
    response.writeHead(status, { 'content-type': typeof body === 'string' ? 'text/html' : 'application/json' });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
});
await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
after(() => server.close());

let ends: string[] = [];
function open(token = 'a1', jar = new CookieJar(), tab = new TabStore(), more: Partial<TransportOptions> = {}) {
  const credentials = credentialStore('user', jar, true, tab);
  credentials.write({ accessToken: token, refreshToken: `r${token}`, tokenType: 'Bearer' });
  const transport = createTransport({
    area: 'user',
    credentials,
    language: () => 'zh-Hant-TW',
    onSessionEnd: message => void ends.push(message),
    base,
    delayMs: 0,
    ...more,
  });
  return { ...transport, jar };
}
const codeOf = (code: number) => (error: unknown) => error instanceof ApiError && error.code === code;

beforeEach(() => {
  seen.length = 0;
  ends = [];
  valid = 'a1';
  refreshStatus = 200;
});

test('cookies are prefixed by area, last two years, and stay on this host over https', () => {
  const { jar, credentials } = open();
  assert.equal(jar.written[0], 'u_accessToken=a1; max-age=63072000; path=/; SameSite=Strict; Secure');
  assert.deepEqual(credentials.read(), { accessToken: 'a1', refreshToken: 'ra1', tokenType: 'Bearer' });
  jar.cookie = 'u_tokenType=; max-age=0';
  assert.equal(credentials.read(), null, 'a session requires all three');
});

test("somebody else's session beside one's own is this tab's alone, and ending it leaves one's own", async () => {
  const jar = new CookieJar();
  const own = open('a0', jar);
  const { call, credentials } = open('a0', jar);
  const written = jar.written.length;
  credentials.write({ accessToken: 'a1', refreshToken: 'ra1', tokenType: 'Bearer' }, true);
  assert.equal(credentials.read()!.accessToken, 'a1');
  assert.equal(own.credentials.read()!.accessToken, 'a0', 'another tab');
  valid = 'a2';
  await Promise.all([call('GET /{area}/sites'), call('GET /{area}/roles')]).catch(() => {});
  assert.equal(credentials.read()!.accessToken, valid, 'what is renewed stays in this tab');
  assert.equal(jar.written.length, written);
  // it is ended: the first refusal gives way to one's own, those that come later say nothing of that
  const late = [call('GET /{area}/gone'), call('GET /{area}/gone'), call('GET /{area}/gone')];
  const settled = Promise.allSettled(late);
  await assert.rejects(Promise.race(late), codeOf(101013));
  assert.equal(credentials.read()!.accessToken, 'a0');
  await call('GET /{area}/sites').catch(() => {});
  await settled;
  assert.deepEqual(ends, ['Invalid Token']);
  assert.notEqual(own.credentials.read(), null);
});

test('a call carries the token and the language, and a content type only with a body', async () => {
  const { call } = open();
  await call('GET /{area}/sites', { query: { page: 2 } });
  await call('POST /{area}/role', { body: { name: 'x' } });
  assert.deepEqual(seen[0], {
    method: 'GET',
    url: '/user/sites?page=2',
    authorization: 'Bearer a1',
    contentType: undefined,
    language: 'zh-Hant-TW',
    body: undefined,
  });
  assert.equal(seen[1]!.contentType, 'application/json');
});

test('cookies go with the calls that show the mark of a device, and with no other', async t => {
  const sent: (string | undefined)[] = [];
  const real = globalThis.fetch;
  t.mock.method(globalThis, 'fetch', (url: string, init: RequestInit) => {
    sent.push(init.credentials);
    return real(url, init);
  });
  const { call } = open();
  await call('POST /{area}/verify', { body: { email: 'a@test.test', password: 'x' } }, { from: 'login' }).catch(() => {});
  await call('POST /{area}/login', { body: {} }, { from: 'login' }).catch(() => {});
  await call('PATCH /{area}/password', { body: {} }).catch(() => {});
  await call('GET /{area}/sites');
  await call('POST /{area}/role', { body: { name: 'x' } });
  assert.deepEqual(sent, ['same-origin', 'same-origin', 'same-origin', 'omit', 'omit']);
});

test('101014 refreshes once for all who wait, and each is made again', async () => {
  valid = 'a2';
  const { call, credentials } = open('a1');
  const answers = await Promise.all(Array.from({ length: 5 }, () => call('GET /{area}/sites')));
  assert.deepEqual(answers, Array(5).fill({ ok: true }));
  assert.equal(seen.filter(one => one.method === 'PATCH').length, 1);
  assert.deepEqual(seen.find(one => one.method === 'PATCH')!.body, { accessToken: 'a1', refreshToken: 'ra1' });
  assert.equal(credentials.read()!.accessToken, 'a2');
  assert.deepEqual(ends, []);
});

test('a call of the inside without credentials ends the session, once, and a new one may end again', async () => {
  const { call, credentials } = open('a1');
  credentials.clear();
  await Promise.all([1, 2].map(() => assert.rejects(call('GET /{area}/sites'), codeOf(101012))));
  assert.equal(ends.length, 1);
  credentials.write({ accessToken: 'a1', refreshToken: 'ra1', tokenType: 'Bearer' });
  await call('GET /{area}/sites');
  credentials.clear();
  await assert.rejects(call('GET /{area}/sites'), codeOf(101012));
  assert.equal(ends.length, 2);
});

test('a refusal of who has signed out, or in anew, meanwhile ends nothing', async () => {
  for (const next of [null, 'a7']) {
    const { call, credentials } = open('a1');
    const refused = assert.rejects(call('GET /{area}/gone'), codeOf(101013));
    if (next) credentials.write({ accessToken: next, refreshToken: `r${next}`, tokenType: 'Bearer' });
    else credentials.clear();
    await refused;
    assert.equal(credentials.read()?.accessToken, next ?? undefined);
    assert.deepEqual(ends, []);
  }
});

test('a call that waits for long says so, until it ends', async t => {
  const answers: (() => void)[] = [];
  t.mock.method(globalThis, 'fetch', () => new Promise(done => answers.push(() => done(Response.json({})))));
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let waiting = 0;
  const { call } = createTransport({
    area: 'user',
    credentials: open().credentials,
    language: () => 'en-US',
    onSessionEnd: () => {},
    base,
    delayMs: 0,
    slow: { afterMs: 10_000, waits: () => (waiting++, () => void waiting--) },
  });
  const [quick, slow] = [call('GET /{area}/sites'), call('GET /{area}/sites')];
  t.mock.timers.tick(9_999);
  answers[0]!();
  await quick;
  t.mock.timers.tick(1);
  assert.equal(waiting, 1);
  answers[1]!();
  await slow;
  assert.equal(waiting, 0);
});

test('another tab that has refreshed meanwhile is believed', async () => {
  const jar = new CookieJar();
  valid = 'a2';
  const first = open('a1', jar);
  const second = createTransport({
    area: 'user',
    credentials: first.credentials,
    language: () => 'en-US',
    onSessionEnd: message => void ends.push(message),
    base,
    delayMs: 0,
    // the lock is held by the first tab until it has written
    lock: async (_name, task) => {
      await first.call('GET /{area}/sites');
      return task();
    },
  });
  assert.deepEqual(await second.call('GET /{area}/sites'), { ok: true });
  assert.equal(seen.filter(one => one.method === 'PATCH').length, 1);
});

test('a refused refresh ends the session once, with a message', async () => {
  valid = 'other';
  refreshStatus = 401;
  const { call, credentials } = open('a1');
  const results = await Promise.allSettled([call('GET /{area}/sites'), call('GET /{area}/sites')]);
  assert.ok(results.every(result => result.status === 'rejected' && codeOf(101016)(result.reason)));
  assert.equal(ends.length, 1);
  assert.equal(credentials.read(), null);
});

test('a refresh without an answer ends nothing', async () => {
  valid = 'other';
  refreshStatus = 503;
  const { call, credentials } = open('a1');
  await assert.rejects(call('GET /{area}/sites'));
  assert.deepEqual(ends, []);
  assert.notEqual(credentials.read(), null);
});

test('101013 ends the session, but on a login-type page it is only a message', async () => {
  const { call, credentials } = open();
  await assert.rejects(call('POST /{area}/login', { body: {} }, { from: 'login' }), codeOf(101013));
  assert.deepEqual(ends, []);
  assert.notEqual(credentials.read(), null);
  await assert.rejects(call('GET /{area}/gone'), codeOf(101013));
  assert.equal(ends.length, 1);
  assert.equal(credentials.read(), null);
});

test('a step that judges a code of one’s own has the session, refreshes it, and refuses without ending it', async () => {
  const { call } = open();
  await assert.rejects(call('POST /{area}/login2fa/phase2', { body: {} }, { from: 'step' }), codeOf(101013));
  assert.deepEqual([seen.at(-1)!.authorization, ends], ['Bearer a1', []]);
  valid = 'a2';
  await call('GET /{area}/thing', {}, { from: 'step' });
  assert.deepEqual([seen.at(-1)!.authorization, ends], ['Bearer a2', []]);
});

test('credentials on trial are neither stored nor refreshed', async () => {
  const { call, credentials } = open();
  const trial = { accessToken: 'foreign', refreshToken: 'r', tokenType: 'Bearer' };
  await assert.rejects(call('GET /{area}/account/self', {}, { as: trial }), codeOf(101014));
  assert.equal(seen.at(-1)!.authorization, 'Bearer foreign');
  assert.equal(credentials.read()!.accessToken, 'a1');
  assert.equal(seen.length, 1);
});

test('an answer that is not ours still is an error with its status', async () => {
  const { call } = open();
  await assert.rejects(
    call('GET /{area}/broken'),
    error => error instanceof ApiError && error.code === 0 && error.status === 500,
  );
});

test('no server at all is code 0', async () => {
  const closed = createServer();
  await new Promise<void>(resolve => closed.listen(0, '127.0.0.1', resolve));
  const { port } = closed.address() as AddressInfo;
  await new Promise(resolve => closed.close(resolve));
  const { credentials } = open();
  const transport = createTransport({
    area: 'user',
    credentials,
    language: () => 'en-US',
    onSessionEnd: () => {},
    base: `http://127.0.0.1:${port}`,
    delayMs: 0,
  });
  await assert.rejects(
    transport.call('GET /{area}/sites'),
    error => error instanceof ApiError && error.code === 0 && error.status === 0,
  );
});

test('a file is called what the server calls it, in all its letters', () => {
  assert.equal(
    fileName(`attachment; filename="___-domains.csv"; filename*=UTF-8''${encodeURIComponent('站點-domains.csv')}`),
    '站點-domains.csv',
  );
  assert.equal(fileName('attachment; filename="demo-domains.csv"'), 'demo-domains.csv');
  assert.equal(fileName(`attachment; filename="a.csv"; filename*=UTF-8''%E0%A4`), 'a.csv');
  assert.equal(fileName(null), 'download.txt');
});

test('a large file says how much has come; one that is cut, or falls silent, broke off, and the server is no less reachable for it; it can be stopped', async () => {
  const pieces = createServer((request, response) => {
    response.writeHead(200, { 'content-type': 'text/csv', 'content-disposition': 'attachment; filename="a.csv"' });
    response.write('first\r\n', () => {
      if (request.url === '/user/whole') response.end('last\r\n');
      if (request.url === '/user/cut') response.destroy();
    });
  });
  await new Promise<void>(resolve => pieces.listen(0, '127.0.0.1', resolve));
  const heard: boolean[] = [];
  let waiting = 0;
  const at = (silenceMs: number) =>
    open('a1', new CookieJar(), new TabStore(), {
      base: `http://127.0.0.1:${(pieces.address() as AddressInfo).port}`,
      heard: one => void heard.push(one),
      slow: { afterMs: 0, waits: () => (waiting++, () => void waiting--) },
      silenceMs,
    }).call;
  try {
    const counts: number[] = [];
    const whole = (await at(60_000)('GET /{area}/whole', {}, { isFile: 'large', onBytes: count => counts.push(count) })) as {
      disposition: string;
      content: Blob;
    };
    assert.deepEqual([await whole.content.text(), whole.content.type], ['first\r\nlast\r\n', 'text/csv']);
    assert.match(whole.disposition, /a\.csv/);
    assert.deepEqual([counts[0], counts.at(-1)], [0, 13]);
    await assert.rejects(at(60_000)('GET /{area}/cut', {}, { isFile: 'large' }), BrokenOff);
    await assert.rejects(at(20)('GET /{area}/silent', {}, { isFile: 'large' }), BrokenOff);
    const stop = new AbortController();
    const stopped = at(60_000)(
      'GET /{area}/silent',
      {},
      { isFile: 'large', signal: stop.signal, onBytes: n => n && stop.abort() },
    );
    await assert.rejects(stopped, { name: 'AbortError' });
    assert.deepEqual([heard, waiting], [[true, true, true, true], 0]);
    assert.deepEqual(ends, []);
  } finally {
    pieces.closeAllConnections();
    pieces.close();
  }
});
