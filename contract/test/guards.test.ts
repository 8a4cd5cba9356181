/** The guards: each walks the table or the sources, and each is first proven on a sample that breaks it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import * as z from 'zod/mini';
import { beyond } from '#contract/beyond.ts';
import { isRuleName } from '#contract/rules/rule.ts';
import { errorNames } from '#contract/errors.ts';
import { calls as declare, mounted } from '#contract/kit/call.ts';
import type { CallDef, Group } from '#contract/kit/call.ts';
import { answerable, calls, everything } from './guards/built.ts';
import { clockProblems, wallClockOfLua } from './guards/clock.ts';
import { areaProblems, errorProblems, inputProblems, permissionProblems, schemaProblems } from './guards/declarations.ts';
import { beyondProblems, owedProblems } from './guards/owed.ts';
import {
  answered,
  constantsOf,
  dataLines,
  mentioned,
  roomProblems,
  routerPath,
  ruleProblems,
  sources,
  used,
  zodProblems,
} from './guards/sources.ts';
import { neverArises, notYet } from './not-yet.ts';

const built = everything();
const clean = (problems: string[]) => assert.deepEqual(problems, [], problems.slice(0, 40).join('\n'));
const sample = (defs: Record<string, CallDef>, options: Partial<Group> = {}) => [
  ...mounted([declare({ base: '/{area}', areas: ['user'], resource: 'samples', ...options }, defs)]),
];

/** Calls that ask nobody who they are. Exact: a new one is a decision. */
const open = ['user', 'client', 'admin']
  .flatMap(area => [
    `POST /${area}/verify`,
    `POST /${area}/code`,
    `POST /${area}/login`,
    `POST /${area}/passkey/challenge`,
    `POST /${area}/passkey/verify`,
    `PATCH /${area}`,
    `DELETE /${area}`,
    `GET /${area}/logo`,
  ])
  .concat(
    ['user', 'client'].flatMap(area => [`GET /${area}/oidc/button`, `POST /${area}/oidc/start`, `POST /${area}/oidc/finish`]),
  )
  .concat(['POST /token/check', 'POST /register/password']);
/** Calls about what is one's own, which need no key. */
const own = ['user', 'client', 'admin']
  .flatMap(area => [
    `PATCH /${area}/password`,
    `GET /${area}/account/self`,
    `PUT /${area}/account/self`,
    `GET /${area}/account/sessions`,
    `DELETE /${area}/account/session`,
    `DELETE /${area}/account/sessions`,
    `GET /${area}/account/passkeys`,
    `POST /${area}/account/passkey/options`,
    `POST /${area}/account/passkey`,
    `DELETE /${area}/account/passkey`,
    `POST /${area}/account/presence/challenge`,
    `POST /${area}/account/presence/code`,
    `POST /${area}/login2fa/phase0`,
    `POST /${area}/login2fa/phase1`,
    `POST /${area}/login2fa/phase2`,
    `GET /${area}/announcements`,
    `GET /${area}/apiDoc`,
    `GET /${area}/systemHealth`,
    // one's own inbox: each line was put there by the key its kind asks for
    `GET /${area}/notices`,
    `GET /${area}/notices/unread`,
    `POST /${area}/notices/read`,
    `GET /${area}/notices/choices`,
    `POST /${area}/notices/choices`,
    // ask for the key of the list they are about
    `GET /${area}/history`,
    `GET /${area}/history/removed`,
    // what a task works on is seen at its row: its handlers ask for that key (server/src/system/tasks.ts)
    `GET /${area}/tasks`,
    `GET /${area}/task/{taskID}`,
    `PUT /${area}/task/{taskID}/cancel`,
    `PUT /${area}/task/{taskID}/retry`,
  ])
  .concat(
    ['user', 'client'].flatMap(area => [
      `GET /${area}/account/identities`,
      `POST /${area}/account/identity/start`,
      `POST /${area}/account/identity`,
      `DELETE /${area}/account/identity`,
    ]),
  );
/** Calls that lie in no area. */
const outside = [
  'POST /token/check',
  'POST /register/password',
  'PUT /offline/license',
  'POST /node/join',
  'POST /node/credentials',
];

describe('what is owed', () => {
  test('sample: a thing in neither place, in both, twice or asked by nobody is told', () => {
    const problems = owedProblems('call', { asked: ['a', 'b', 'c'], built: ['b'], notYet: ['b', 'd', 'c', 'c'] });
    assert.deepEqual(
      problems.map(problem => problem.split(':')[0]),
      ['call a', 'call b', 'call d', 'call c'],
    );
    clean(owedProblems('call', { asked: ['a', 'b'], built: ['b'], notYet: ['a'] }));
  });

  for (const kind of Object.keys(built) as (keyof typeof built)[])
    test(`every one of the ${kind} of the specification is built or on the not-yet list, never both`, () =>
      clean(owedProblems(kind, { ...built[kind], notYet: notYet[kind] })));

  test('the lists of the specification are whole', () => {
    assert.equal(built.calls.asked.length, 706);
    assert.equal(new Set(built.calls.asked).size, 706);
    assert.equal(built.routes.asked.length, 77);
  });
});

describe('what is beyond the specification', () => {
  test('sample: no reason, an empty reason, a reason for nothing, a mount twice', () => {
    const problems = beyondProblems(['a'], ['a', 'b', 'c', 'c'], {
      c: 'because',
      d: 'a long enough reason for d',
      a: 'a long enough reason for a',
    });
    assert.deepEqual(
      problems.map(problem => problem.split(':')[0]),
      ['b', 'c', 'd', 'a', 'c'],
    );
  });
  test('every call beyond it has a reason', () =>
    clean(beyondProblems(dataLines('contract/test/calls.txt'), built.calls.built, beyond)));
});

describe('declarations', () => {
  test('sample: no area, a wrong area', () => {
    assert.equal(areaProblems(sample({ 'GET /x': {} }, { base: '/elsewhere' }), []).length, 1);
    assert.equal(areaProblems(sample({ 'GET /x': {} }), []).length, 0);
    assert.equal(
      areaProblems(
        sample({ 'GET /x': {} }).map(call => ({ ...call, area: 'admin' as const })),
        [],
      ).length,
      1,
    );
  });
  test('every call lies in an area', () => clean(areaProblems(calls, outside)));

  test('sample: open, keyless or misnamed', () => {
    assert.equal(permissionProblems(sample({ 'GET /x': { auth: 'public' } }), [], []).length, 1);
    assert.equal(permissionProblems(sample({ 'GET /x': { permission: null } }), [], []).length, 1);
    assert.equal(permissionProblems(sample({ 'GET /x': { permission: 'samples.read' } }), [], []).length, 1);
    assert.equal(permissionProblems(sample({ 'GET /x': {}, 'POST /x': {} }), [], []).length, 0);
  });
  test('every call asks for a key, save of two exact sets', () => clean(permissionProblems(calls, open, own)));

  test('sample: an error nobody knows', () =>
    assert.equal(errorProblems(sample({ 'GET /x': { errors: ['melted' as never] } })).length, 1));
  test('every error a call declares is in the catalogue', () => clean(errorProblems(calls)));

  test('sample: input that is unbounded, loose, rewritten or in the wrong place', () => {
    const bad: [z.ZodMiniType, number][] = [
      [z.string(), 1],
      [z.string().check(z.minLength(3)), 1],
      [z.array(z.string().check(z.maxLength(3))), 1],
      [z.array(z.string()).check(z.maxLength(3)), 1],
      [z.array(z.string()), 2],
      [z.object({ a: z.int() }), 1],
      [z.strictObject({ a: z.optional(z.nullable(z.string())) }), 1],
      [z.record(z.string(), z.int()), 1],
      [z.unknown(), 1],
      [z.any(), 1],
      [z.union([z.int(), z.string()]), 1],
      [
        z.pipe(
          z.string(),
          z.transform((text: string) => text),
        ),
        1,
      ],
      [z.iso.datetime(), 1],
      [z._default(z.int(), 3), 1],
    ];
    for (const [schema, count] of bad) assert.equal(schemaProblems(schema).length, count, JSON.stringify(schema._zod.def));
    const good = z.strictObject({
      a: z.array(z.string().check(z.trim(), z.maxLength(3))).check(z.maxLength(2)),
      b: z.optional(z.enum(['x'])),
      c: z.literal([0, 1]),
    });
    clean(schemaProblems(good));
    assert.equal(inputProblems(sample({ 'GET /x': { body: z.strictObject({}) } })).length, 1);
    assert.equal(inputProblems(sample({ 'POST /x': { body: z.array(z.int()).check(z.maxLength(1)) } })).length, 1);
  });
  test('every text and every list of an input is bounded, every object strict', () => clean(inputProblems(calls)));
});

describe('sources', () => {
  const file = (path: string, text: string) => [{ file: path, text }];

  test('sample: zod imported whole', () => {
    for (const text of [
      "import { z } from 'zod';",
      "import * as z from 'zod';",
      "import { string } from 'zod/mini';",
      "export * from 'zod/mini';",
      "await import('zod')",
    ])
      assert.equal(zodProblems(file('a.ts', text.startsWith('await') ? text.replace("'zod'", "'zod'") : text)).length, 1, text);
    clean(
      zodProblems(
        file('a.ts', "import * as z from 'zod/mini';\nimport type * as z from 'zod/mini';\n// import { z } from 'zod';"),
      ),
    );
  });
  const all = sources('{contract,server,console,agent,bin,system}/**/*.{ts,tsx}');
  test('zod is imported in one way', () =>
    clean(zodProblems(all.filter(source => !source.file.endsWith('contract/test/guards.test.ts')))));

  test('sample: spans of time by the wall clock', () => {
    const file = (text: string) => clockProblems([{ file: 'a.ts', text }], {});
    for (const bad of [
      'if (Date.now() - heard < silenceMs) return;',
      'while (Date.now() < until) await step();',
      'const deadline = limitMs + Date.now();',
      'const clock = Date.now;',
      'const ms = new Date() - begun;',
      'const ms = +new Date();',
      'const at = new Date().getTime();',
      'const at = performance.timeOrigin + performance.now();',
      'const { now } = Date;',
      'const { UTC, now: clock } = globalThis.Date;',
      "const at = Date['now']();",
      'const at = Temporal.Now.instant();',
    ])
      assert.equal(file(bad).length, 1, bad);
    clean(file('const at = new Date().toISOString(); // not Date.now()\nconst ms = performance.now() - begun;'));
    clean(file('const { now } = performance;\nconst day: Date = given;'));
    const listed = (text: string) => clockProblems([{ file: 'a.ts', text }], { 'a.ts': [1, 'a name'] });
    clean(listed('const name = String(Date.now());'));
    assert.equal(listed('const name = String(Date.now());\nconst late = Date.now() > due;').length, 1);
    assert.equal(listed('').length, 1, 'a reason for what is no longer there');
    assert.equal(clockProblems([], { 'a.ts': [1, 'a name'] }).length, 1, 'a file that is no longer there');
  });
  test('sample: spans of time by the wall clock, in Lua', () => {
    const file = (text: string) => clockProblems([{ file: 'a.lua', text }], {});
    for (const bad of ['local since = ngx.now()', 'local now = ngx.now', 'if os.time() > due then return end'])
      assert.equal(file(bad).length, 1, bad);
    clean(file('local since = clock.now() -- not ngx.now()'));
  });
  test('no span of time is measured by the wall clock in the edge', () =>
    clean(clockProblems(sources('edge/lua/**/*.lua'), wallClockOfLua)));
  test('no span of time is measured by the wall clock', () =>
    clean(
      clockProblems(
        sources('{contract/src,server/src,agent/src,console,bin,host,edge}/**/*.{ts,tsx,js}').filter(
          ({ file }) => !/(^|\/)test\/|\.test\.tsx?$/.test(file),
        ),
      ),
    ));

  test('sample: a rule no form can say', () => {
    const known = (name: string) => name === 'required';
    assert.deepEqual(ruleProblems(known, file('a.ts', "{ path, rule: 'required' }, { rule: 'melted' } // rule: 'x'")), [
      'a.ts: no rule is called melted',
    ]);
  });
  test('every rule the server names has its sentences', () =>
    clean(
      ruleProblems(
        isRuleName,
        all.filter(source => /^(server|contract)\/src\//.test(source.file)),
      ),
    ));

  test('sample: an error no code answers', () => {
    const answers = (text: string) => answered(['duplicated', 'unknown'], file('a.ts', text));
    assert.deepEqual(answers("fail('duplicated') // 'unknown'"), ['duplicated']);
    assert.deepEqual(answers("type E = 'duplicated' | 'unknown';\nfunction f(e: 'unknown' | 'duplicated') {}"), []);
    assert.deepEqual(answers("new Set(['duplicated', 'unknown'])"), ['duplicated', 'unknown']);
  });
  test('every error off the not-yet list can be answered by some code', () => {
    const answers = answerable();
    clean(errorNames.filter(name => !answers.includes(name) && !notYet.codes.includes(name) && !(name in neverArises)));
  });

  test('what never arises is answered by no code, declared by no call, and owed by nobody', () => {
    const told = new Set<string>([...answerable(), ...notYet.codes, ...calls.flatMap(({ def }) => def.errors ?? [])]);
    clean(Object.keys(neverArises).filter(name => told.has(name)));
  });

  test('no error on the not-yet list is one that a mounted call declares: it is told here, not at the end of a whole run', () => {
    const declared = new Set<string>(calls.flatMap(({ def }) => def.errors ?? []));
    assert.ok(declared.has('multiple'));
    clean(notYet.codes.filter(name => declared.has(name)));
  });

  test('sample: an error no answer carried, one that is on the list and was carried', () => {
    const folder = mkdtempSync(join(tmpdir(), 'breakwater-sent-'));
    const root = new URL('../../', import.meta.url);
    const told = (names: readonly string[]) => {
      writeFileSync(join(folder, 'sent'), names.map(name => `code ${name}\n`).join(''));
      const run = spawnSync(process.execPath, ['bin/test/sent.ts', join(folder, 'sent')], { cwd: root, encoding: 'utf8' });
      return { status: run.status, lines: run.stdout.split('\n').filter(line => line.startsWith('code ')) };
    };
    const due = errorNames.filter(name => name !== 'ok' && !notYet.codes.includes(name) && !(name in neverArises));
    assert.deepEqual(told(due), { status: 0, lines: [] });
    const [owed] = notYet.codes;
    const bad = told([...due.filter(name => name !== 'duplicated'), ...(owed ? [owed] : [])]);
    assert.equal(bad.status, 1);
    assert.deepEqual(
      bad.lines.map(line => line.split(':')[0]),
      ['code duplicated', ...(owed ? [`code ${owed}`] : [])],
    );
    assert.equal(told([]).lines.length, due.length);
    rmSync(folder, { recursive: true });
  });

  test('sample: a constant nobody reads', () => {
    const names = constantsOf({ paging: { pageFirst: 1, pageSizeMax: 2 }, weekdays: ['monday'], moduleNone: 0 });
    assert.deepEqual(names, ['paging.pageFirst', 'paging.pageSizeMax', 'weekdays', 'moduleNone']);
    const read = (text: string, path = 'a.ts') => used(names, file(path, text));
    assert.deepEqual(read("import { paging } from '#contract/limits.ts';\nuse(paging.pageFirst)"), ['paging.pageFirst']);
    assert.deepEqual(read("import { paging as p, weekdays } from '../limits.ts';\nuse(Object.keys(p)); // weekdays"), [
      'paging.pageFirst',
      'paging.pageSizeMax',
    ]);
    assert.deepEqual(read("import * as limits from '../limits.ts';\nuse(limits.paging.pageSizeMax, limits.moduleNone)"), [
      'paging.pageSizeMax',
      'moduleNone',
    ]);
    assert.deepEqual(read('paging.pageFirst weekdays'), []);
    const limits = 'local paging = require("core.limits").paging\n';
    assert.deepEqual(read(`${limits}use(paging.pageFirst) -- paging.pageSizeMax`, 'a.lua'), ['paging.pageFirst']);
    assert.deepEqual(read('local first = 1 -- paging.pageFirst, require "core.limits"', 'a.lua'), []);
  });

  test('sample: a file that is two rooms', () => {
    assert.equal(roomProblems(file('a.ts', 'x\n'.repeat(401))).length, 1);
    clean(roomProblems([...file('a.ts', 'x\n'.repeat(400)), ...file('contract/test/not-yet.ts', 'x\n'.repeat(999))]));
  });
  test('no file is two rooms', () => clean(roomProblems(sources('**/*.{ts,tsx,js,lua,css,sql,conf}'))));

  test('golden files have one switch', () => {
    const switches = (files: readonly { text: string }[]) =>
      files.flatMap(({ text }) => [...text.matchAll(/process\.env[.[]['"]?(\w*GOLDEN\w*)/g)].map(([, name]) => name));
    assert.deepEqual(switches(file('a.ts', "process.env.GOLDEN === 'write'; process.env['NEW_GOLDEN']")), [
      'GOLDEN',
      'NEW_GOLDEN',
    ]);
    const found = switches(all.filter(source => source.file !== 'contract/test/guards.test.ts'));
    assert.ok(found.length > 1);
    assert.deepEqual([...new Set(found)], ['UPDATE_GOLDEN']);
  });

  test('sample: a message nobody says, and a route as the router writes it', () => {
    assert.deepEqual(mentioned(['message.a', 'message.b'], file('a.tsx', "t('message.a') // message.b")), ['message.a']);
    assert.equal(routerPath('/user/sitesSetting/:id?/:name?'), '/user/sitesSetting/{-$id}/{-$name}');
  });
});
