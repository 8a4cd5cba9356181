/** What people see of each error (§8, client behaviour on error), line by line. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorByCode, errorMessage } from '#contract/errors.ts';
import { errorCodes } from '#contract/errors/codes.ts';
import { ruleText } from '#contract/rules/rule.ts';
import { type Source, sources, withoutComments } from '../../contract/test/guards/sources.ts';
import { type ErrorTexts, groupsAsText, presentError, type PresentOptions } from '../src/kit/errors.ts';
import { ApiError } from '../src/kit/transport.ts';

const texts: ErrorTexts = {
  of(code, params) {
    const name = errorByCode(code);
    return name && errorMessage(name, 'zh_TW', params);
  },
  rule: problem => ruleText(problem, 'zh_TW'),
  generic: '發生錯誤，請稍後再試。',
};

function shown(error: unknown, options: PresentOptions = {}) {
  const logged: unknown[] = [];
  return { what: presentError(error, texts, options, (...args) => logged.push(args)), logged };
}
const api = (code: number, rest: object = {}) => new ApiError({ code, message: 'from the server', status: 400, ...rest });

test('101018 shows the translated message', () => {
  assert.deepEqual(shown(api(101018)).what, { kind: 'message', level: 'error', text: '權限不足' });
});

test('a code that speaks of a field stands there, also where the screen itself says nothing', () => {
  const fields = { duplicateEmail: 'email', duplicateKeys: 'key', duplicated: 'name' };
  assert.deepEqual(shown(api(101017), { fields, suppress: [101017] }).what, {
    kind: 'fields',
    fields: [{ path: 'email', rule: 'unknown', text: errorMessage('duplicateEmail', 'zh_TW') }],
    text: errorMessage('duplicateEmail', 'zh_TW'),
  });
  const named = shown(api(101025), { fields, duplicate: () => '區域名稱已存在' }).what;
  assert.equal(named.kind === 'fields' && named.fields[0]!.text, errorMessage('zoneNameExists', 'zh_TW'));
  assert.equal(shown(api(101018), { fields }).what.kind, 'message', 'another code is said as ever');
});

test('101009 shows every error with its targets, grouped by code', () => {
  const errorData = [
    { code: 205005, message: '站點仍有七層網域設定', targets: ['a'] },
    { code: 203001, message: '無法刪除使用中的群組', targets: ['g'] },
    { code: 205005, message: '站點仍有七層網域設定', targets: ['b', 'c'] },
  ];
  const { what } = shown(api(101009, { errorData }));
  assert.deepEqual(what, {
    kind: 'multiple',
    groups: [
      { code: 203001, text: '無法刪除使用中的群組', targets: ['g'] },
      { code: 205005, text: '站點仍有七層網域設定', targets: ['a', 'b', 'c'] },
    ],
  });
  assert.equal(
    what.kind === 'multiple' && groupsAsText(what.groups),
    '203001 無法刪除使用中的群組\n  g\n205005 站點仍有七層網域設定\n  a\n  b\n  c',
  );
});

test('a line of 101009 without a message is translated here; an unknown code is logged', () => {
  const { what, logged } = shown(
    api(101009, {
      errorData: [
        { code: 205003, targets: ['x'] },
        { code: 999999, targets: ['y'] },
      ],
    }),
  );
  assert.deepEqual(what, {
    kind: 'multiple',
    groups: [
      { code: 205003, text: '站點使用中', targets: ['x'] },
      { code: 999999, text: texts.generic, targets: ['y'] },
    ],
  });
  assert.equal(logged.length, 1);
});

test('101025 shows its translation, or the text of the code a screen names instead', () => {
  assert.deepEqual(shown(api(101025)).what, { kind: 'message', level: 'error', text: '資料重複' });
  assert.deepEqual(shown(api(101025), { duplicate: () => '區域名稱已存在' }).what, {
    kind: 'message',
    level: 'error',
    text: '區域名稱已存在',
  });
});

test('401003 carries the port of its extra text', () => {
  const expected = { kind: 'message', level: 'error', text: '連接埠對應設定不合法（站點未開放連接埠 8443）' };
  for (const extra of ['8443', 8443, 'port 8443 is closed', { num: 8443 }])
    assert.deepEqual(shown(api(401003, { extra })).what, expected);
  assert.equal((shown(api(401003)).what as { text: string }).text, '連接埠對應設定不合法');
});

test('601001 is shown as 3, 601002 as the exports a day of this account', () => {
  assert.equal((shown(api(601001)).what as { text: string }).text, '同時下載的數量已達上限（3 筆）');
  assert.equal((shown(api(601002), { maxLogExportTimes: 7 }).what as { text: string }).text, '今日下載的數量已達上限（7 筆）');
});

test('10102502 is silent where the call says so, and only there', () => {
  assert.deepEqual(shown(api(10102502), { suppress: [10102502] }).what, { kind: 'none' });
  assert.deepEqual(shown(api(10102502)).what, { kind: 'message', level: 'error', text: 'from the server' });
});

test('the codes that end a session say nothing here: the transport has', () => {
  for (const code of [101013, 101014, 101015, 101016]) assert.deepEqual(shown(api(code)).what, { kind: 'none' });
});

test('any other error shows what the server says; a code nobody knows is logged', () => {
  const known = shown(api(205001));
  assert.deepEqual(known.what, { kind: 'message', level: 'error', text: 'from the server' });
  assert.equal(known.logged.length, 0);
  const unknown = shown(api(777777));
  assert.deepEqual(unknown.what, { kind: 'message', level: 'error', text: 'from the server' });
  assert.equal(unknown.logged.length, 1);
});

test('a screen may say what failed before the server says why', () => {
  const { what } = shown(api(205001), { otherwise: '新增角色失敗！' });
  assert.deepEqual(what, { kind: 'message', level: 'error', text: '新增角色失敗！\nfrom the server' });
});

test('101003 about the call as a whole is a message that says what to do', () => {
  const errorData = [{ path: '', rule: 'tooManyCalls', bounds: { seconds: 5 } }];
  assert.deepEqual(shown(api(101003, { errorData, status: 429 })).what, {
    kind: 'message',
    level: 'error',
    text: '您的帳號同時送出的請求過多，請於 5 秒後再試',
  });
});

test('101003 goes to the fields it names; without fields it is a message', () => {
  const fields = [{ path: 'items.0.ips', rule: 'duplicateIP', bounds: { ip: '192.0.2.1' } }];
  assert.deepEqual(shown(api(101003, { errorData: fields })).what, { kind: 'fields', fields, text: 'from the server' });
  assert.deepEqual(shown(api(101003, { errorData: 'nonsense' })).what, {
    kind: 'message',
    level: 'error',
    text: 'from the server',
  });
});

test('no answer, or a bug of ours, is the generic sentence and a line in the console', () => {
  for (const error of [new ApiError({ code: 0, message: 'fetch failed' }), new TypeError('undefined is not a function')]) {
    const { what, logged } = shown(error);
    assert.deepEqual(what, { kind: 'message', level: 'error', text: texts.generic });
    assert.equal(logged.length, 1);
  }
});

test('what was gone already is told by the name it had on the screen; other targets keep theirs', () => {
  const errorData = [
    { code: 101003, message: '不存在', targets: ['7'] },
    { code: 203001, message: '無法刪除使用中的群組', targets: ['7'] },
  ];
  const { what } = shown(api(101009, { errorData }), { names: { 7: '^/login' } });
  assert.deepEqual(what.kind === 'multiple' && what.groups.map(group => group.targets), [['^/login'], ['7']]);
});

/** Where a number of the catalogue stands beside it: whoever means an error says its name. */
const numbersIn = (files: readonly Source[]) =>
  files.flatMap(({ file, text }) =>
    [...withoutComments(text).matchAll(/\b\d{6,8}\b/g)]
      .filter(([one]) => codes.has(Number(one)))
      .map(([one]) => `${file}: ${one}`),
  );
const codes = new Set(Object.values(errorCodes).map(([code]): number => code));

test('the numbers of errors stand in the catalogue alone', () => {
  assert.deepEqual(numbersIn([{ file: 'a.ts', text: '// 101009\nif (code === 101009) said(101010.5)' }]), [
    'a.ts: 101009',
    'a.ts: 101010',
  ]);
  const others = sources('{agent,console,contract,host,server}/src/**/*.{ts,tsx}', 'host/*.ts').filter(
    ({ file }) => !/^contract\/src\/errors\/codes(-start)?\.ts$/.test(file) && !/\/text\/errors\./.test(file),
  );
  assert.ok(others.length > 300);
  assert.deepEqual(numbersIn(others), []);
});
