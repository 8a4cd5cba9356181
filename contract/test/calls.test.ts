/** Who may call what, and from where: the table of calls as a reviewed file, and a screen for every call. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Mounted } from '#contract/kit/call.ts';
import { calls } from './guards/built.ts';
import { lineOf } from './guards/declarations.ts';
import { reached } from './guards/imports.ts';
import { screenProblems, shown } from './guards/screens.ts';
import { sources } from './guards/sources.ts';
import { apiOnly, waits, waitsMost } from './without-screen.ts';

const clean = (problems: string[]) => assert.deepEqual(problems, [], problems.slice(0, 40).join('\n'));
const golden = new URL('calls-keys.txt', import.meta.url);
/** `POST /proxy accounts.edit any audit`: `-` where no key is asked or no row written. */
const keysOf = (all: readonly Mounted[]) =>
  all
    .map(
      call =>
        `${lineOf(call)} ${call.permission ?? '-'} ${call.auth}${call.def.owner ? ' owner' : ''}${call.def.present ? ' present' : ''} ${call.audit ? 'audit' : call.auditsRefusals ? 'refused' : '-'}`,
    )
    .sort();

test('key, authentication and audit of every call are as they were reviewed', () => {
  const now = keysOf(calls);
  if (process.env.UPDATE_GOLDEN) writeFileSync(golden, `${now.join('\n')}\n`);
  assert.deepEqual(now, readFileSync(golden, 'utf8').trimEnd().split('\n'));
});
test('sample: another key, another authentication, no audit: each is another line', () => {
  const call = calls.find(one => one.method === 'POST' && one.permission !== null)!;
  const line = keysOf([call]);
  for (const changed of [{ permission: 'accounts.view' }, { permission: null }, { auth: 'public' as const }, { audit: false }])
    assert.notDeepEqual(keysOf([{ ...call, ...changed }]), line);
});

test('sample: a call without a screen, a reason for one that has one', () => {
  const files = [
    {
      file: 'a.tsx',
      text: "call('GET /{area}/x') // 'GET /{area}/none'\nconst make = (base: string) => call(`PUT ${base}/rule`); make('/client/y'); make2(`POST ${base}`)",
    },
  ];
  const onScreen = shown(files);
  assert.deepEqual([...onScreen].sort(), ['GET /{area}/x', 'POST /client/y', 'PUT /client/y/rule']);
  const unused = [
    "type Row = RowOf<'GET /{area}/typed'>;",
    "const rows = useState<RowOf<'GET /{area}/typed'>[]>([]);",
    "const key = given as 'GET /{area}/cast';",
    "export const forgotten = 'GET /{area}/forgotten';",
  ];
  for (const text of unused) assert.deepEqual([...shown([{ file: 'a.tsx', text }])], [], text);
  const used = ["const table = resource<'GET /a'>({ list: 'GET /a' });", "export const known = 'GET /a';\ncall(known);"];
  for (const text of used) assert.deepEqual([...shown([{ file: 'a.tsx', text }])], ['GET /a'], text);
  const setting =
    "const s: SettingOfLevels = {\n  at: { zone: '/client/zone/{id}/s', site: '/{area}/s' },\n};\nexport const S = settingPanel(s, 'site');";
  const ofSetting = [...shown([{ file: 'a.tsx', text: setting }])];
  assert.deepEqual(ofSetting, ['GET /{area}/s', 'PUT /{area}/s', 'DELETE /{area}/s'], 'a level without a panel is on no screen');
  assert.equal(screenProblems(['GET /{area}/x', 'GET /{area}/none'], onScreen, []).length, 1);
  clean(screenProblems(['GET /{area}/x', 'GET /{area}/none'], onScreen, ['GET /{area}/none']));
  assert.equal(screenProblems(['GET /{area}/x'], onScreen, ['GET /{area}/x']).length, 1);
  assert.equal(screenProblems([], onScreen, ['GET /gone']).length, 1);
  assert.equal(screenProblems(['GET /none'], onScreen, ['GET /none', 'GET /none']).length, 1);
});
test('a screen calls every call, or a reason says why none does', () => {
  const console = reached(sources('console/src/**/*.{ts,tsx}'), 'console/src/main.tsx');
  clean(
    screenProblems(
      calls.map(call => call.key),
      shown(console),
      [...Object.keys(waits), ...Object.keys(apiOnly)],
    ),
  );
  for (const reason of [...Object.values(waits), ...Object.values(apiOnly)]) assert.ok(reason.length > 10, reason);
});
test('what waits for a screen only gets less', () => assert.equal(Object.keys(waits).length, waitsMost));
