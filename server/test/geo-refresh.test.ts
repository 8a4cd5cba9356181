/** An owner's source of data of places, on a real HTTP server: taken once, refused when it should be, and its secret nowhere to be read. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { sql } from 'kysely';
import { geoLimits } from '#contract/limits.ts';
import { sentenceOf } from '#contract/system/health.ts';
import { Health } from '#server/kit/health.ts';
import { GeoData } from '#server/resolution/geo/data.ts';
import { geoRefreshWork } from '#server/resolution/geo-refresh.ts';
import { beginDue } from '#server/resolution/geo-source.ts';
import { rows } from '#server/store/db.ts';
import { addFailingSourceCheck } from '#server/system/failing-source.ts';
import { testFolder } from '#system/engines.ts';
import { cityOf, mmdb } from './geo-files.ts';
import { a, api, b, db, ended, tasksRig } from './tasks-rig.ts';

tasksRig([geoRefreshWork]);
const path = '/client/setting/dns/geoData/source';
const secret = 'Bearer a-secret-of-this-test';
const city = (country: string) => mmdb({ '198.51.100.0/24': cityOf('AS', country) });
let geo: GeoData;
let base: string;
let asked: IncomingMessage[] = [];
let reply: (request: IncomingMessage, response: ServerResponse) => void;
const server = createServer((request, response) => {
  asked.push(request);
  reply(request, response);
});
const gives = (bytes: Buffer, headers: Record<string, string> = {}) => {
  reply = (_, response) => void response.writeHead(200, headers).end(bytes);
};
const token = () => a.client.token;
const state = async () => (await api.call('GET', path, { token: token() })).body;
const put = async (body: object) =>
  api.call('PUT', path, { token: token(), body: { url: `${base}/city`, headerName: 'Authorization', every: 'off', ...body } });
const country = async () => (await geo.places())?.of('198.51.100.1')?.country;
async function refresh(end: 'succeeded' | 'failed') {
  asked = [];
  const begun = await api.call('POST', `${path}/refresh`, { token: token() });
  assert.equal(begun.status, 200, begun.text);
  const { lines } = await ended(a.client, begun.body.taskID, end, 120_000); // the builder gives way to whoever else works
  return (lines as { code: string }[]).map(({ code }) => code);
}
/** A tar of one file. */
function tarOf(name: string, bytes: Buffer): Buffer {
  const head = Buffer.alloc(512);
  head.write(name, 0);
  head.write(`${bytes.length.toString(8).padStart(11, '0')}\0`, 124);
  head.write('0', 156);
  head.write('ustar\0', 257);
  return Buffer.concat([head, bytes, Buffer.alloc(1024 + ((512 - (bytes.length % 512)) % 512))]);
}

describe('a source of the owner’s', () => {
  before(async () => {
    geo = new GeoData(testFolder('geo-refresh'), { hasPackages: false });
    api.services.geo = geo;
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => {
    server.close();
    geo?.stop();
  });

  test('the owner alone sets it; one in the house is refused, and nothing is asked by itself without an address', async () => {
    assert.equal((await api.call('GET', path, { token: b.client.token })).status, 403);
    assert.equal((await api.call('POST', `${path}/refresh`, { token: b.client.token })).status, 403);
    const rule = async (body: object) => {
      const { status, body: said } = await put(body);
      return [status, said.errorData?.[0].path, said.errorData?.[0].rule];
    };
    assert.deepEqual(await rule({ url: 'http://169.254.169.254/x' }), [400, 'url', 'addressNotAllowed']);
    assert.deepEqual(await rule({ url: '', every: 'day' }), [400, 'url', 'required']);
    assert.deepEqual(await rule({ headerName: 'Key' }), [400, 'headerName', 'geoHeaderName']);
    assert.deepEqual(await rule({ header: 'a\r\nb: c' }), [400, 'header', 'geoHeader']);
    const none = await api.call('POST', `${path}/refresh`, { token: token() });
    assert.deepEqual([none.status, none.body.errorData[0].rule], [400, 'required']);
  });

  test('it is taken as an upload is, with the secret, which stands nowhere; what is unchanged is not fetched again', async () => {
    assert.equal((await put({ header: secret })).status, 200);
    gives(city('TW'), { etag: '"one"', 'last-modified': 'Fri, 02 Jan 2026 00:00:00 GMT' });
    assert.deepEqual(await refresh('succeeded'), ['started', 'asking', 'fetched', 'taken', 'succeeded']);
    assert.equal(asked[0]!.headers.authorization, secret);
    assert.equal(await country(), 'TW');
    const now = await state();
    assert.deepEqual(
      [now.problem, now.headerIsSet, now.dataAt, now.isRefreshing],
      [null, true, '2026-01-02T00:00:00.000Z', false],
    );
    assert.match(now.sha256, /^[0-9a-f]{64}$/);
    reply = (request, response) => void response.writeHead(request.headers['if-none-match'] === '"one"' ? 304 : 500).end();
    assert.deepEqual(await refresh('succeeded'), ['started', 'asking', 'unchanged', 'succeeded']);
    assert.equal(asked[0]!.headers['if-modified-since'], 'Fri, 02 Jan 2026 00:00:00 GMT');
    // a source that knows of no conditions: it is the same, and nothing is made of it
    const { builtAt } = geo.state.current!;
    gives(city('TW'));
    assert.deepEqual(await refresh('succeeded'), ['started', 'asking', 'unchanged', 'succeeded']);
    assert.equal(geo.state.current!.builtAt, builtAt);
    const texts = await rows<{ said: string }>(
      db(),
      sql`select t::text as said from "geoSource" t union all select t::text from audit t union all select t::text from task t
        union all select t::text from "taskLine" t union all select t::text from setting t`,
    );
    assert.ok(texts.length > 4 && texts.every(({ said }) => !said.includes('a-secret-of-this-test')));
    assert.ok(!JSON.stringify(now).includes('a-secret'));
    // to another host it is not sent unasked
    const moved = await put({ url: 'https://elsewhere.test/city' });
    assert.deepEqual([moved.status, moved.body.errorData[0].rule], [400, 'geoHeaderAgain']);
  });

  test('packed ones are unpacked; what is no good leaves what there is, and says why', async () => {
    gives(gzipSync(city('JP')));
    await refresh('succeeded');
    assert.equal(await country(), 'JP');
    gives(
      gzipSync(Buffer.concat([tarOf('a/LICENSE.txt', Buffer.from('text')).subarray(0, 1024), tarOf('a/city.mmdb', city('KR'))])),
    );
    await refresh('succeeded');
    assert.equal(await country(), 'KR');
    const redirect = (to: string) => {
      reply = ({ url }, response) => void response.writeHead(url === '/city' ? 302 : 200, { location: to }).end(city('FR'));
    };
    const good = city('DE');
    const bad: [string, () => void, RegExp][] = [
      ['garbage', () => gives(Buffer.from('nothing of the kind')), /of no use/],
      ['cut', () => gives(good.subarray(0, good.length / 2)), /of no use/],
      [
        'older than what counts',
        () => gives(mmdb({}, cityOf('EU', 'DE'), 'Test', Date.UTC(2025, 11, 1))),
        /2025-12-01.*2026-01-02/,
      ],
      ['a gzip that was cut', () => gives(gzipSync(good).subarray(0, 60)), /cannot be unpacked/],
      ['no page', () => (reply = (_, response) => void response.writeHead(404).end()), /HTTP 404/],
      ['too large', () => gives(Buffer.alloc(geoLimits.bytesMax + 1)), /more than 100 MB/],
      ['too large when unpacked', () => gives(gzipSync(Buffer.alloc(geoLimits.bytesMax + 2 ** 21))), /more than 100 MB/],
      ['a redirect into the house', () => redirect('http://169.254.169.254/x'), /169\.254\.169\.254/],
      ['hung up', () => (reply = (_, response) => void response.destroy()), /could not be reached/],
    ];
    let since: string | undefined;
    for (const [name, stage, why] of bad) {
      stage();
      assert.deepEqual(await refresh('failed'), ['started', 'asking', 'kept', 'ended'], name);
      const { problem, failedSince, sha256 } = await state();
      assert.match(problem, why, name);
      assert.match(sha256, /^[0-9a-f]{64}$/);
      assert.equal((since ??= failedSince), failedSince, name);
      assert.equal(await country(), 'KR', name);
    }
    redirect('/there');
    await refresh('succeeded');
    assert.deepEqual([await country(), (await state()).problem, (await state()).failedSince], ['FR', null, null]);
    assert.deepEqual(
      asked.map(({ url, headers }) => [url, headers.authorization]),
      [
        ['/city', secret],
        ['/there', secret],
      ],
    );
  });

  test('a redirect to another host is followed without the secret', async () => {
    const heard: IncomingMessage[] = [];
    const other = createServer((request, response) => {
      heard.push(request);
      response.end(city('IT'));
    });
    try {
      other.listen(0, '127.0.0.1');
      await once(other, 'listening');
      const { port } = other.address() as AddressInfo;
      reply = (_, response) => void response.writeHead(302, { location: `http://127.0.0.1:${port}/file` }).end();
      await refresh('succeeded');
    } finally {
      other.close();
      gives(city('IT'));
    }
    assert.deepEqual([asked.length, asked[0]!.headers.authorization, await country()], [1, secret, 'IT']);
    assert.deepEqual([heard.length, heard[0]!.url, heard[0]!.headers.authorization], [1, '/file', undefined]);
  });

  test('an address that is changed while the one before is asked is asked instead, and nothing of that one is kept', async () => {
    gives(city('FR'), { etag: '"before"' });
    const old = reply;
    reply = (request, response) => {
      if (request.url === '/next') {
        gives(city('ES'));
        return reply(request, response);
      }
      void put({ url: `${base}/next`, header: secret }).then(changed => {
        assert.equal(changed.status, 200, changed.text);
        old(request, response);
      });
    };
    const said = await refresh('succeeded');
    assert.deepEqual([asked.map(one => one.url), await country()], [['/city', '/next'], 'ES'], said.join());
    assert.equal((await state()).problem, null);
    assert.equal((await put({})).status, 200);
    gives(city('IT'));
    await refresh('succeeded');
  });

  for (const every of ['off', 'day'] as const)
    test(`included data that are chosen while it is asked stay, though a file comes then (clock: ${every})`, async () => {
      assert.equal((await put({ every })).status, 200);
      gives(city('GB'));
      const late = reply;
      reply = (request, response) => {
        void api.call('DELETE', '/client/setting/dns/geoData', { token: token() }).then(dropped => {
          assert.equal(dropped.status, 200, dropped.text);
          late(request, response);
        });
      };
      assert.deepEqual(await refresh('succeeded'), ['started', 'asking', 'dropped', 'succeeded']);
      assert.deepEqual([asked.length, await country(), geo.state.current?.own, (await state()).every], [1, null, [], 'off']);
      gives(city('IT'));
      await refresh('succeeded');
      assert.equal(await country(), 'IT', 'whoever asks again has it');
    });

  test('one that has failed for a week is told to the owner, as long as the clock asks it', async () => {
    const look = async () => {
      const health = new Health();
      addFailingSourceCheck(health, db());
      return (await health.look())[0]!;
    };
    const after = async (days: number, every: string) => {
      assert.equal((await put({ every })).status, 200);
      const failedSince = new Date(Date.now() - days * 86_400_000 - 1000).toISOString();
      const failed = JSON.stringify({ failedSince, problem: { rule: 'geoFetchStatus', bounds: { status: 403 } } });
      await sql`update setting set value = value || ${failed}::jsonb where key = 'geoFetched'`.execute(db());
      return look();
    };
    assert.equal((await after(6, 'day')).state, 'ok');
    assert.equal((await after(7, 'off')).state, 'ok', 'whoever asks by hand sees what came of it');
    const told = await after(7, 'week');
    const { host } = new URL(base);
    assert.deepEqual([told.state, told.reason, told.params], ['warn', 'geoSource.failing', { days: 7, host }]);
    assert.match(sentenceOf(told, 'en_US'), new RegExp(`${host} for 7 days`));
    gives(city('IT'));
    await refresh('succeeded');
    assert.equal((await look()).state, 'ok');
  });

  test('the clock begins it once it is due; whoever goes back to the included data stops the clock', async () => {
    const tasks = async () =>
      (await rows<{ n: number }>(db(), sql`select count(*)::int as n from task where kind = 'geoRefresh'`))[0]!.n;
    assert.equal((await put({ every: 'day' })).status, 200);
    const before = await tasks();
    await beginDue(db());
    assert.equal(await tasks(), before);
    await sql`update setting set value = jsonb_set(value, '{lookedAt}', '"2026-01-01T00:00:00.000Z"') where key = 'geoFetched'`.execute(
      db(),
    );
    await beginDue(db());
    assert.equal(await tasks(), before + 1);
    const [last] = await rows<{ id: number }>(db(), sql`select max(id) as id from task`);
    await ended(a.client, last!.id, 'succeeded', 120_000);
    assert.equal((await api.call('DELETE', '/client/setting/dns/geoData', { token: token() })).status, 200);
    assert.deepEqual([(await state()).every, (await state()).nextAt, await country()], ['off', null, null]);
  });
});
