/** Samples of the API's documentation run as they are shown, with whatever stands in a body. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { exampleOf, fieldLines, type Schema, typeOf, urlOf } from '../src/account/api-schema.ts';
import { type SampleLanguage, sampleOf } from '../src/account/api-samples.ts';

interface Heard {
  method: string;
  url: string;
  authorization: string | undefined;
  type: string | undefined;
  seen: string | undefined;
  body: string;
}
const calls: Heard[] = [];
const server = createServer((request, response) => {
  let body = '';
  request.on('data', part => (body += String(part)));
  request.on('end', () => {
    const { authorization, 'content-type': type, 'if-match': seen } = request.headers;
    calls.push({ method: request.method!, url: request.url!, authorization, type, seen, body });
    response.end('{"isFine":true}');
  });
});
let base = '';
let folder = '';
before(async () => {
  const [from] = (process.env.TEST_PORTS ?? '').split('-').map(Number);
  await new Promise<void>(done => server.listen(from || 0, '127.0.0.1', done));
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  base = `http://127.0.0.1:${address.port}`;
  folder = mkdtempSync(join(tmpdir(), 'samples-'));
});
after(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

const strange = {
  name: `it's "quoted" $HOME \`id\` \\n ${'\u2028'} 台灣`,
  list: [1, true, null, { deep: [] }],
  empty: {},
  none: null,
};
function run(command: string, args: string[]): Promise<{ code: number | null; out: string; isThere: boolean }> {
  return new Promise(done => {
    const child = spawn(command, args, { env: { ...process.env, BREAKWATER_TOKEN: 'bwt_1_x' } });
    let out = '';
    child.stdout.on('data', part => (out += String(part)));
    child.stderr.on('data', part => (out += String(part)));
    child.on('error', () => done({ code: null, out, isThere: false }));
    child.on('close', code => done({ code, out, isThere: true }));
  });
}
const start: Record<Exclude<SampleLanguage, 'go'>, (sample: string) => ReturnType<typeof run>> = {
  curl: sample => run('sh', ['-c', sample]),
  node: sample => {
    const file = join(folder, 'sample.mjs');
    writeFileSync(file, sample);
    return run(process.execPath, [file]);
  },
  python: sample => {
    const file = join(folder, 'sample.py');
    writeFileSync(file, sample);
    return run('python3', [file]);
  },
};

describe('samples', () => {
  for (const language of ['curl', 'node', 'python'] as const)
    for (const [method, body] of [
      ['GET', undefined],
      ['POST', strange],
      ['DELETE', { ids: [1] }],
    ] as const)
      test(`${language} ${method}`, async context => {
        calls.length = 0;
        const seen = method === 'GET' ? undefined : '"7"';
        const sample = sampleOf(language, {
          method,
          url: `${base}/api/v1/user/sites?siteName=a%27b`,
          ...(seen ? { headers: { 'If-Match': seen } } : {}),
          ...(body ? { body } : {}),
        });
        const { code, out, isThere } = await start[language](sample);
        if (!isThere || (language === 'curl' && code === 127)) return context.skip('not on this machine');
        assert.equal(code, 0, `${out}\n${sample}`);
        assert.match(out, /isFine/);
        assert.equal(calls.length, 1);
        const { body: text, type, ...rest } = calls[0]!;
        assert.deepEqual(rest, { method, url: '/api/v1/user/sites?siteName=a%27b', authorization: 'Bearer bwt_1_x', seen });
        if (!body) return undefined;
        assert.deepEqual(JSON.parse(text), body);
        return assert.equal(type, 'application/json');
      });

  test('Go: a body is one literal, whatever stands in it', () => {
    const sample = sampleOf('go', { method: 'POST', url: 'https://x.test/a', body: strange });
    const literal = sample.split('\n').find(line => line.includes('NewReader('))!;
    const text: string = JSON.parse(literal.slice(literal.indexOf('("') + 1, -1));
    assert.deepEqual(JSON.parse(text), strange);
    assert.match(
      sampleOf('go', { method: 'POST', url: 'https://x.test/a', body: { a: 1 } }),
      /NewReader\(`\{\n {2}"a": 1\n\}`\)/,
    );
    const seen = sampleOf('go', { method: 'PUT', url: 'https://x.test/a', headers: { 'If-Match': '"7"' }, body: {} });
    assert.ok(seen.includes('request.Header.Set("If-Match", "\\"7\\"")'), seen);
    assert.ok(!sampleOf('go', { method: 'GET', url: 'https://x.test/a' }).includes('strings'));
  });
});

describe('what a schema says', () => {
  const schema: Schema = {
    type: 'object',
    required: ['items'],
    properties: {
      items: {
        type: 'array',
        minItems: 1,
        maxItems: 9,
        items: {
          type: 'object',
          required: ['kind', 'until'],
          properties: {
            kind: { enum: ['deny', 'drop'] },
            until: { anyOf: [{ type: 'string', format: 'date-time' }, { type: 'null' }] },
            port: { type: 'integer', minimum: 1, maximum: 65_535 },
          },
        },
      },
    },
  };
  test('types, fields and an example', () => {
    assert.equal(typeOf({ type: 'integer', minimum: 1, maximum: 2 ** 31 - 1 }), 'integer ≥ 1');
    assert.deepEqual(fieldLines(schema), [
      { path: 'items', type: 'array of object (1–9)', isRequired: true },
      { path: 'items[].kind', type: '"deny" | "drop"', isRequired: true },
      { path: 'items[].until', type: 'date-time | null', isRequired: true },
      { path: 'items[].port', type: 'integer (1–65535)', isRequired: false },
    ]);
    assert.deepEqual(exampleOf(schema), { items: [{ kind: 'deny', until: null }] });
  });
  test('an address has what was filled in, and says what was not', () => {
    const operation = {
      tags: [],
      security: [],
      responses: {},
      parameters: [{ name: 'page', in: 'query' as const, required: false, schema: {} }],
    };
    const call = { key: '', method: 'GET', path: '/user/site/{siteID}/x/{id}', operation };
    assert.equal(urlOf('/api', call, { siteID: '7', page: '2&3' }), '/api/user/site/7/x/{id}?page=2%263');
  });
});
