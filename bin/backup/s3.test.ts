/** A store that means ill gets neither our time nor our memory: what it says is bounded, and it gives what it is asked for or nothing. */
import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { AddressPolicy } from '#contract/rules/address-policy.ts';
import { testFolder } from '#system/engines.ts';
import { S3, type S3Options } from './s3.ts';

const folder = testFolder('s3');
const policy = new AddressPolicy({ operator: [], environment: ['127.0.0.0/8'], own: [] });
let serial = 0;
async function storeOf(t: TestContext, answer: RequestListener, more: Partial<S3Options> = {}) {
  const server = createServer(answer);
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  assert.ok(typeof address === 'object' && address);
  const endpoint = `http://127.0.0.1:${address.port}`;
  return new S3({ endpoint, region: 'r', bucket: 'b', prefix: '', accessKey: 'a', secretKey: 'sssssssssss', policy, ...more });
}
const file = () => join(folder, String(++serial));

test('a list without an end is left after a thousand pages, and nothing but what was asked for is kept', async t => {
  let asked = 0;
  const s3 = await storeOf(t, (_, response) =>
    response.end(
      `<Contents><Key>ours</Key></Contents><Contents><Key>x${++asked}</Key></Contents><IsTruncated>true</IsTruncated><NextContinuationToken>${asked}</NextContinuationToken>`,
    ),
  );
  await assert.rejects(s3.list(new Set(['ours', 'gone'])), /its list of files has no end/);
  assert.equal(asked, 1000);
  assert.deepEqual(await s3.list(new Set(['ours'])), ['ours'], 'what is found is enough');
  assert.equal(asked, 1001);
});

test('less than was asked for, of another place or another length, is no answer', async t => {
  const ranges: [range: string, body: string][] = [
    ['bytes 0-0/500', 'x'],
    ['bytes 5-14/500', '0123456789'],
    ['bytes 0-9/*', '0123456789'],
    ['bytes 0-9/0', ''],
  ];
  for (const [range, body] of ranges) {
    let asked = 0;
    const s3 = await storeOf(
      t,
      (_, response) => {
        asked++;
        response.writeHead(206, { 'content-range': range }).end(body);
      },
      { partBytes: 10 },
    );
    await assert.rejects(s3.get('n', file(), 500), /it gave less than it was asked for/, range);
    assert.equal(asked, 1);
  }
  // it grows while it is fetched
  let grown = 10;
  const growing = await storeOf(
    t,
    (request, response) => {
      const from = Number(/\d+/.exec(request.headers.range ?? '')?.[0]);
      response.writeHead(206, { 'content-range': `bytes ${from}-${from + 9}/${(grown += 10)}` }).end('0123456789');
    },
    { partBytes: 10 },
  );
  await assert.rejects(growing.get('n', file(), 1000), /it gave less than it was asked for/);
  assert.equal(grown, 30);
});

test('a store that never ends its answer is left when its time is over, and says which', async t => {
  const s3 = await storeOf(t, (_, response) => void response.write('x'), { patienceMs: 200 });
  await assert.rejects(s3.get('n', file(), 1), { name: 'S3Error', message: 'S3 GET: it took too long' });
  await assert.rejects(s3.list(new Set(['n'])), { name: 'S3Error', message: 'S3 GET: it took too long' });
});
