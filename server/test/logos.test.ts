/** Branding over HTTP: by hostname, for everybody; images drawn anew, whatever was in the file; nothing of it ever a page. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { sql } from 'kysely';
import sharp from 'sharp';
import { rows } from '#server/store/db.ts';
import { Api, type Tenant } from './harness.ts';
import { TxtServer } from './txt-server.ts';

let api: Api;
let dns: TxtServer;
let owner: Tenant;
let other: Tenant;
before(async () => {
  dns = await TxtServer.start();
  api = await Api.start({ dns: { resolvers: [dns.address], apis: {} } });
  [owner, other] = [await api.tenant('owner'), await api.tenant('other')];
  dns.provesTo(api.services, other.client.id);
});
after(async () => {
  dns?.stop();
  await api?.stop();
});

type Fields = Record<string, string | { type: string; bytes: Buffer }>;
function form(fields: Fields) {
  const boundary = 'of-a-test';
  const parts = Object.entries(fields).flatMap(([name, value]) =>
    typeof value === 'string'
      ? [`--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`]
      : [
          `--${boundary}\r\nContent-Disposition: form-data; name="${name}"; filename="a"\r\nContent-Type: ${value.type}\r\n\r\n`,
          value.bytes,
          '\r\n',
        ],
  );
  return {
    raw: Buffer.concat([...parts, `--${boundary}--\r\n`].map(part => Buffer.from(part as string))),
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
  };
}
const save = (tenant: Tenant, fields: Fields, method = 'POST') =>
  api.call(method, '/client/setting/logo', { token: tenant.client.token, ...form(fields) });
const shown = async (host: string, area = 'user') => (await api.call('GET', `/${area}/logo`, { headers: { host } })).body;
const problems = (reply: { body: { errorData?: { path: string; rule: string }[] } }) =>
  (reply.body.errorData ?? []).map(one => `${one.path} ${one.rule}`);
const fetched = (path: string) => api.app.inject({ method: 'GET', url: path });
const picture = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 4, background: '#0a7' } })
    .withExif({ IFD0: { Copyright: 'somebody' } })
    .png()
    .toBuffer();
const png = { type: 'image/png', bytes: Buffer.alloc(0) };
before(async () => void (png.bytes = await picture(1000, 100)));

test('who has set nothing shows the defaults', async () => {
  for (const area of ['user', 'client', 'admin'])
    assert.deepEqual(await shown('console.test', area), {
      title: 'Breakwater',
      copyright: 'Breakwater inc. All Rights Reserved.',
      logo: '',
      favicon: '',
      backgroundImage: '',
      sidebarLogo: '',
      sidebarSimpleLogo: '',
    });
});

test('a brand is shown by its hostname, else that of the owner; a hostname is one operator’s', async () => {
  const mine = await save(other, { hostname: 'cdn.other.test', title: 'Other', logo: png });
  assert.equal(mine.status, 200, mine.text);
  assert.equal((await shown('cdn.other.test')).title, 'Other');
  assert.equal((await shown('cdn.other.test')).copyright, 'Other inc. All Rights Reserved.');
  assert.equal((await shown('elsewhere.test')).title, 'Breakwater');
  assert.equal((await save(other, { title: 'Default of other' })).status, 200);
  assert.equal((await shown('elsewhere.test')).title, 'Breakwater', 'of another operator it is on no hostname but its own');
  assert.equal((await save(owner, { title: 'Owner', copyright: '© Owner' })).status, 200);
  assert.deepEqual([(await shown('elsewhere.test')).title, (await shown('elsewhere.test')).copyright], ['Owner', '© Owner']);
  assert.equal((await save(owner, { hostname: 'cdn.other.test' })).body.code, 101025);
  assert.equal((await save(owner, { title: 'again' })).body.code, 101025);
  // everybody's own hostname
  assert.deepEqual(problems(await save(other, { hostname: 'console.test' })), ['hostname hostOfInstallation']);
  assert.deepEqual(problems(await save(other, { hostname: '127.0.0.1' })), ['hostname hostOfInstallation']);
  for (const bad of ['https://a.test', 'A.test', 'a b.test', 'a.test:80'])
    assert.deepEqual(problems(await save(other, { hostname: bad })), ['hostname wrongFormat'], bad);
  const [id] = mine.body.ids;
  assert.equal((await save(owner, { id: String(id), title: 'x' }, 'PUT')).status, 404);
  assert.equal((await save(other, { id: String(id), title: 'Else' }, 'PUT')).status, 200);
  assert.equal((await shown('cdn.other.test')).title, 'Else');
});

test('an image is drawn anew and served as a picture and nothing else; what is shown nowhere is gone', async () => {
  // a file of two kinds: a picture, with a page behind it
  const both = { type: 'image/png', bytes: Buffer.concat([png.bytes, Buffer.from('<script>alert(1)</script>')]) };
  const made = await save(other, { hostname: 'images.test', logo: both, favicon: png });
  assert.equal(made.status, 200, made.text);
  const { logo, favicon } = await shown('images.test');
  const answer = await fetched(logo);
  assert.equal(answer.statusCode, 200);
  assert.deepEqual(
    [answer.headers['content-type'], answer.headers['x-content-type-options'], answer.headers['content-security-policy']],
    ['image/png', 'nosniff', "default-src 'none'; sandbox"],
  );
  assert.ok(!answer.rawPayload.includes('script') && !answer.rawPayload.includes('somebody'));
  const { width, height, exif } = await sharp(answer.rawPayload).metadata();
  assert.deepEqual([width, height, exif], [640, 64, undefined]);
  assert.equal((await sharp((await fetched(favicon)).rawPayload).metadata()).width, 64);
  const [id] = made.body.ids;
  assert.equal((await save(other, { id: String(id), logo: '' }, 'PUT')).status, 200);
  assert.equal((await shown('images.test')).logo, '');
  assert.equal((await shown('images.test')).favicon, favicon);
  await api.call('DELETE', '/client/setting/logos', { token: other.client.token, body: { ids: [id] } });
  assert.equal((await fetched(favicon)).statusCode, 404);
  assert.equal((await fetched('/branding/..%2f..%2fsecret.key')).statusCode, 404);
});

test('a bomb, a page, a script in a picture and a file of another kind are refused at their field', async () => {
  const svg = (inner: string, attributes = '') => ({
    type: 'image/svg+xml',
    bytes: Buffer.from(
      `<svg xmlns="http://www.w3.org/2000/svg" width="40" height="10" ${attributes}>${inner}<rect width="40" height="10"/></svg>`,
    ),
  });
  // 50 megapixels of one colour: some kilobytes
  const bomb = await sharp({ create: { width: 10_000, height: 5000, channels: 3, background: 'red' } })
    .png({ palette: true })
    .toBuffer();
  assert.ok(bomb.length < 1_000_000);
  const refused = async (file: Fields[string], rule: string, why: string) =>
    assert.deepEqual(problems(await save(owner, { hostname: 'bad.test', logo: file })), [`logo ${rule}`], why);
  await refused({ type: 'image/png', bytes: bomb }, 'imageTooLarge', 'a bomb');
  await refused(
    svg('', 'viewBox="0 0 9 9" style="width:1px"').bytes.length ? svg('<script>alert(1)</script>') : png,
    'imageHasScript',
    'script',
  );
  for (const inner of [
    '<a href="javascript:alert(1)"/>',
    '<image href="http://127.0.0.1/x"/>',
    '<image xlink:href=file:///etc/passwd />',
    '<foreignObject/>',
    '<set attributeName="x"/>',
    '<style>@import "http://a.test"</style>',
    '<rect fill="url(http://a.test/#x)"/>',
  ])
    await refused(svg(inner), 'imageHasScript', inner);
  await refused(svg('', 'onload="alert(1)"'), 'imageHasScript', 'a handler');
  const entity = Buffer.from(`<!DOCTYPE svg [<!ENTITY a "x">]>${svg('').bytes.toString()}`);
  await refused({ type: 'image/svg+xml', bytes: entity }, 'imageHasScript', 'an entity');
  // what a reader of XML would see and a search for words would not
  const hidden = Buffer.from(`<?xml version="1.0" encoding="utf-7"?>${svg('').bytes.toString()}`);
  await refused({ type: 'image/svg+xml', bytes: hidden }, 'imageUnreadable', 'another encoding');
  // packed, nobody sees what it holds or how much
  for (const inner of ['<script>alert(1)</script>', ' '.repeat(20_000_000)])
    await refused({ type: 'image/svg+xml', bytes: gzipSync(svg(inner).bytes) }, 'imageUnreadable', 'packed');
  await refused({ type: 'image/png', bytes: Buffer.from('<html><script>alert(1)</script>') }, 'imageUnreadable', 'a page');
  await refused({ type: 'image/png', bytes: png.bytes.subarray(0, 40) }, 'imageUnreadable', 'a part of one');
  assert.equal((await save(owner, { logo: { type: 'text/html', bytes: png.bytes } })).status, 400);
  assert.equal((await save(owner, { logo: { type: 'image/png', bytes: Buffer.alloc(4_000_001) } })).status, 413);
  // each level five times the one before
  const levels = ['<g id="a0"><rect width="1" height="1"/></g>'];
  for (let n = 1; n < 8; n++) levels.push(`<g id="a${n}">${`<use href="#a${n - 1}"/>`.repeat(5)}</g>`);
  await refused(svg(levels.join('')), 'imageHasScript', 'uses of uses');
  await refused(
    svg(
      '<filter id="f"><feTurbulence numOctaves="10" baseFrequency="0.9"/></filter><rect filter="url(#f)" width="9" height="9"/>',
    ),
    'imageHasScript',
    'a filter',
  );
  const good = await save(owner, { hostname: 'good.test', logo: svg('<g id="a"/><use href="#a"/>') });
  assert.equal(good.status, 200, good.text);
  const drawn = await fetched((await shown('good.test')).logo);
  assert.equal((await sharp(drawn.rawPayload).metadata()).format, 'png');
});

test('a picture within an SVG counts at its own size, and what draws has a bound for its memory', async () => {
  const svg = (inner: string) => ({
    type: 'image/svg+xml',
    bytes: Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="2000" height="2000">${inner}</svg>`),
  });
  const within = (bytes: Buffer | string) =>
    `<image width="9" height="9" href="data:image/png;base64,${Buffer.from(bytes).toString('base64')}"/>`;
  const flat = (width: number, height: number) =>
    sharp({ create: { width, height, channels: 3, background: 'red' } })
      .png({ palette: true })
      .toBuffer();
  const draws = async (inner: string) => problems(await save(owner, { hostname: 'within.test', backgroundImage: svg(inner) }));
  const half = within(await flat(3000, 3000));
  for (const [inner, rule] of [
    [within(await flat(8000, 8000)), 'imageTooLarge'],
    // each is small enough
    [half + half, 'imageTooLarge'],
    [within('<svg xmlns="http://www.w3.org/2000/svg" width="30000" height="30000"/>'), 'imageUnreadable'],
    [within('no picture'), 'imageUnreadable'],
    [within(await flat(9, 9)).replace(';base64,', ','), 'imageUnreadable'],
    // each level holds a picture of its own while the next is drawn
    [
      `${'<g style="mix-blend-mode:multiply">'.repeat(250)}<rect width="2000" height="2000"/>${'</g>'.repeat(250)}`,
      'imageUnreadable',
    ],
  ] as const)
    assert.deepEqual(await draws(inner), [`backgroundImage ${rule}`], inner.slice(0, 200));
  assert.deepEqual(await draws(half), []);
});

test('an image that a browser holds is not sent again', async () => {
  assert.equal((await save(other, { hostname: 'held.test', logo: png })).status, 200);
  const { logo } = await shown('held.test');
  const first = await fetched(logo);
  const tag = String(first.headers['etag']);
  assert.match(tag, /^"[0-9a-f]{64}\.png"$/);
  const again = (held: string) => api.app.inject({ method: 'GET', url: logo, headers: { 'if-none-match': held } });
  for (const held of [tag, `W/${tag}`, `"x", ${tag}`]) {
    const answer = await again(held);
    assert.deepEqual([answer.statusCode, answer.rawPayload.length, answer.headers['etag']], [304, 0, tag], held);
  }
  assert.equal((await again('"x"')).rawPayload.length, first.rawPayload.length);
});

test('a brand may be shown on an IPv6 address, however it is written', async () => {
  const made = await save(owner, { hostname: '2001:db8:0::1', title: 'Six' });
  assert.equal(made.status, 200, made.text);
  for (const host of ['[2001:db8::1]', '[2001:db8::1]:8080', '[2001:DB8:0:0:0:0:0:1]:80'])
    assert.equal((await shown(host)).title, 'Six', host);
  assert.equal((await save(owner, { hostname: '[2001:db8::1]' })).body.code, 101025);
  for (const bad of ['[2001:db8::1', '[192.0.2.1]', '[2001:db8::1]:80', '2001:db8::g'])
    assert.deepEqual(problems(await save(owner, { hostname: bad })), ['hostname wrongFormat'], bad);
});

test('an operator that is removed leaves its hostname to others, and its images are gone', async () => {
  const admin = await api.account('admin', 'vendor@test.test');
  const gone = await api.account('client', 'gone@test.test');
  // as an upload leaves it
  const name = `${'a'.repeat(64)}.png`;
  const { db } = api.database;
  await sql`insert into "brandImage" ("clientID", name, bytes) values (${gone.id}, ${name}, ${png.bytes})`.execute(db);
  await sql`insert into brand ("clientID", hostname, logo) values (${gone.id}, 'free.test', ${name})`.execute(db);
  const { logo } = await shown('free.test');
  assert.equal((await fetched(logo)).statusCode, 200);
  const removed = await api.call('DELETE', '/admin/account', { token: admin.token, body: { ids: [gone.id] } });
  assert.equal(removed.status, 200, removed.text);
  assert.equal((await fetched(logo)).statusCode, 404);
  const mine = await save(other, { hostname: 'free.test', title: 'Mine' });
  assert.equal(mine.status, 200, mine.text);
  assert.equal((await shown('free.test')).title, 'Mine');
  const [line] = await rows<{ changes: { table: string }[] }>(
    api.database.db,
    sql`select changes from audit where touched @> array[${`account:${gone.id}`}] and method = 'DELETE'`,
  );
  assert.deepEqual([...new Set(line?.changes.map(one => one.table))].sort(), ['account', 'brand', 'brandImage']);
});
