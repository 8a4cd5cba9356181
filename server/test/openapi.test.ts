/** The API document made from the contract. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { groups } from '#contract/index.ts';
import { mounted } from '#contract/kit/call.ts';
import { openApi } from '#server/kit/openapi.ts';

describe('the API document', () => {
  type Json = Record<string, any>; // oxlint-disable-line typescript/no-explicit-any -- walked by hand
  const document = JSON.parse(JSON.stringify(openApi(groups))) as Json;
  const operations = Object.entries(document['paths'] as Json).flatMap(([path, item]) =>
    Object.entries(item as Json).map(([method, operation]) => ({ path, method, operation: operation as Json })),
  );

  test('holds every mounted call, and nothing else', () => {
    assert.equal(document['openapi'], '3.1.0');
    assert.deepEqual(
      operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`).sort(),
      [...mounted(groups)].map(call => `${call.method} ${call.path}`).sort(),
    );
  });

  test('operation ids are unique and made for code', () => {
    const ids = operations.map(({ operation }) => operation['operationId'] as string);
    assert.equal(new Set(ids).size, ids.length);
    for (const one of ids) assert.match(one, /^[A-Za-z][A-Za-z0-9_]*$/);
  });

  test('every path parameter is declared, once, and only those', () => {
    for (const { path, operation } of operations) {
      const wanted = [...path.matchAll(/\{(\w+)\}/g)].map(m => m[1]);
      const declared = (operation['parameters'] as Json[]).filter(p => p['in'] === 'path');
      assert.deepEqual(
        declared.map(p => p['name']),
        wanted,
        path,
      );
      assert.ok(declared.every(p => p['required'] === true && p['schema']));
      const all = (operation['parameters'] as Json[]).map(p => `${p['in']} ${p['name']}`);
      assert.equal(new Set(all).size, all.length, path);
    }
  });

  test('every reference leads somewhere; schemas are JSON Schema 2020-12', () => {
    const types = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']);
    let references = 0;
    const walk = (node: unknown, at: string): void => {
      if (Array.isArray(node)) return node.forEach((one, i) => walk(one, `${at}/${i}`));
      if (node === null || typeof node !== 'object') return;
      const one = node as Json;
      if (typeof one['$ref'] === 'string') {
        references++;
        const target = (one['$ref'] as string)
          .replace(/^#\//, '')
          .split('/')
          .reduce<unknown>((found, step) => (found as Json | undefined)?.[step], document);
        assert.ok((one['$ref'] as string).startsWith('#/') && target, `${at}: ${one['$ref']}`);
      }
      if (
        'type' in one &&
        typeof one['type'] === 'string' &&
        !at.endsWith('/securitySchemes/bearer') &&
        !at.endsWith('/properties')
      )
        assert.ok(types.has(one['type']), `${at}: ${one['type']}`);
      assert.equal('nullable' in one && !at.endsWith('/properties'), false, `${at}: nullable is of OpenAPI 3.0`);
      for (const [key, value] of Object.entries(one)) walk(value, `${at}/${key}`);
    };
    walk(document, '#');
    assert.ok(references > 100);
  });

  test('each operation says what it takes and answers', () => {
    for (const { path, method, operation } of operations) {
      const where = `${method} ${path}`;
      const answers = operation['responses'] as Json;
      assert.ok(answers['200']?.content, where);
      for (const [status, answer] of Object.entries(answers)) {
        assert.match(status, /^[1-5]\d\d$/);
        assert.ok((answer as Json)['description'], where);
      }
      if (operation['requestBody']) assert.ok(operation['requestBody'].content, where);
      if (method === 'get') assert.equal(operation['requestBody'], undefined, where);
      assert.ok(Array.isArray(operation['security']));
    }
  });

  test('errors are said once; of a licence where one is asked for, of another version where If-Match is heeded', () => {
    const said = (operation: Json, status: number) => String(operation['responses'][status]?.description ?? '').split('; ');
    for (const { operation } of operations)
      for (const [status, { description }] of Object.entries(operation['responses'] as Json))
        if (status !== '200') assert.equal(new Set(description.split('; ')).size, description.split('; ').length, description);
    for (const call of mounted(groups)) {
      const { operation } = operations.find(one => one.path === call.path && one.method === call.method.toLowerCase())!;
      if (call.takesLicence) assert.ok(said(operation, 403).includes('101019 License Expired'), call.path);
      else if (!call.def.errors?.includes('licenseExpired'))
        assert.ok(!said(operation, 403).includes('101019 License Expired'), call.path);
      const isHeeded = (operation['parameters'] as Json[]).some(one => one['name'] === 'If-Match' && one['in'] === 'header');
      assert.equal(isHeeded, call.heeds, call.path);
      assert.equal(
        said(operation, 409).some(one => one.includes('stale')),
        call.heeds,
        call.path,
      );
    }
    const log = document['paths']['/client/setting/system/log'].put as Json;
    assert.ok(said(log, 403).includes('101019 License Expired'));
    assert.ok(said(document['paths']['/client/node'].patch, 409).some(one => one.startsWith('202002 ')));
  });
});
