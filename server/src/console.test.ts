/** What the console's page says of itself to browsers. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import Fastify from 'fastify';
import { serveConsole } from './console.ts';
import { acceptUploads } from './kit/upload.ts';

const readyMs = 20_000;

test('the page may load and run what is ours alone, and stand in no frame; its nonce is another each time', async t => {
  const dist = mkdtempSync(join(tmpdir(), 'console-'));
  t.after(() => rmSync(dist, { recursive: true }));
  mkdirSync(join(dist, 'assets'));
  writeFileSync(join(dist, 'index.html'), '<!doctype html><script nonce="__NONCE__"></script><style nonce="__NONCE__"></style>');
  const app = Fastify();
  t.after(() => app.close());
  await serveConsole(app, `${dist}/`);
  const nonces = new Set<string>();
  for (const path of ['/', '/user', '/user/sites', '/client/x', '/admin', '/whatever', '/user']) {
    const reply = await app.inject({ method: 'GET', url: path });
    const [, nonce] = /<script nonce="([A-Za-z0-9+/]{22}==)">/.exec(reply.payload)!;
    assert.ok(reply.payload.includes(`<style nonce="${nonce}">`));
    assert.ok(!nonces.has(nonce!));
    nonces.add(nonce!);
    const policy = String(reply.headers['content-security-policy']);
    const directives = policy.split(';').map(one => one.trim().split(/ +/));
    assert.deepEqual(Object.fromEntries(directives.map(([name, ...values]) => [name, values])), {
      'default-src': ["'self'"],
      'script-src': ["'self'", `'nonce-${nonce}'`],
      'style-src': ["'self'", `'nonce-${nonce}'`],
      'style-src-attr': ["'unsafe-inline'"],
      'img-src': ["'self'", 'data:', 'blob:'],
      'font-src': ["'self'", 'data:'],
      'connect-src': ["'self'"],
      'object-src': ["'none'"],
      'base-uri': ["'self'"],
      'form-action': ["'self'"],
      'frame-ancestors': ["'none'"],
    });
    assert.equal(new Set(directives.map(([name]) => name)).size, directives.length, 'a second one would not count');
    assert.deepEqual([reply.headers['x-frame-options'], reply.headers['cache-control']], ['DENY', 'no-cache']);
  }
});

test('a server that takes uploads and serves the console begins to listen', { timeout: readyMs }, async t => {
  const dist = mkdtempSync(join(tmpdir(), 'console-'));
  t.after(() => rmSync(dist, { recursive: true }));
  mkdirSync(join(dist, 'assets'));
  writeFileSync(join(dist, 'index.html'), '<!doctype html>');
  const app = Fastify();
  acceptUploads(app);
  await serveConsole(app, `${dist}/`);
  assert.match(await app.listen({ host: '127.0.0.1', port: 0 }), /^http:/);
  await app.close();
});
