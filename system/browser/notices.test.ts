/** The licences of what is bundled travel with the bundle: every package is named with its text, served, and linked. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import Fastify from 'fastify';
import { serveConsole } from '#server/console.ts';
import { noticeOf, packageFolder } from '../../console/notices.ts';

const root = new URL('../../', import.meta.url).pathname;
const text = readFileSync(`${root}console/dist/NOTICES/third-party.txt`, 'utf8');
interface Locked {
  version: string;
  dependencies?: Record<string, string>;
}
const { packages } = JSON.parse(readFileSync(`${root}package-lock.json`, 'utf8')) as { packages: Record<string, Locked> };

/** Types alone, helpers of builds, or what the console never calls (the last two the build takes out): nothing of them is code in a page. */
const notBundled = new Set([
  'csstype',
  'seroval-plugins',
  'cookie-es',
  'isbot',
  '@lezer/lr',
  '@rc-component/async-validator',
  'compute-scroll-into-view',
]);

test('each package that the console imports, and each that one of those needs, is in it', () => {
  const sources = globSync('{console,contract}/src/**/*.{ts,tsx}', { cwd: root }).map(file => readFileSync(root + file, 'utf8'));
  const imported = sources.flatMap(source =>
    [...source.matchAll(/(?:from|import)\s*\(?\s*'((?:@[a-z][^/']*\/)?[a-z][^/':]*)[^':]*'/g)].map(match => match[1]!),
  );
  const wanted = [...new Set(imported)].filter(name => `node_modules/${name}` in packages);
  assert.ok(wanted.includes('antd') && wanted.includes('react') && wanted.includes('zod'), wanted.join());
  wanted.push('@fontsource-variable/inter');
  for (const name of wanted)
    for (const next of Object.keys(packages[`node_modules/${name}`]!.dependencies ?? {}))
      if (!wanted.includes(next)) wanted.push(next);
  assert.ok(wanted.length > 60);
  const missing = wanted.filter(
    name => !notBundled.has(name) && !text.includes(`\n${name} ${packages[`node_modules/${name}`]!.version} (`),
  );
  assert.deepEqual(missing, []);
});

test('each stands there with the text of its licence', () => {
  const parts = text.split(`\n${'-'.repeat(80)}\n`).slice(1);
  assert.ok(parts.length > 60);
  for (const part of parts)
    assert.match(
      part,
      /Permission is hereby granted|Redistribution and use|SIL OPEN FONT LICENSE|Apache License|Permission to use/i,
      part.slice(0, 80),
    );
  assert.throws(() => noticeOf(`${root}node_modules`), /ENOENT/);
  assert.equal(packageFolder('\0/x/node_modules/@a/b/node_modules/c/d.js?v=1'), '/x/node_modules/@a/b/node_modules/c');
  assert.equal(packageFolder('/x/console/src/main.tsx'), undefined);
});

test('it is served as text', async t => {
  const app = Fastify();
  t.after(() => app.close());
  await serveConsole(app);
  const answer = await app.inject({ url: '/NOTICES/third-party.txt' });
  assert.equal(answer.statusCode, 200);
  assert.match(String(answer.headers['content-type']), /^text\/plain/);
  assert.equal(answer.body, text);
});
