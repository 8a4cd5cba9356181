import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  contextual,
  errorBody,
  errorByCode,
  errorMessage,
  errorNames,
  errors,
  fail,
  Fail,
  failFields,
  genericMessage,
  multipleErrors,
} from '#contract/errors.ts';
import { fill, languageOf, languages } from '#contract/kit/text.ts';

/** §8, letter for letter; the two codes with "another reading" show their first. */
const catalogue: [code: number, message: string][] = [
  [101001, 'OK'],
  [101002, 'Unknown Error'],
  [101003, 'Parameter Error'],
  [101004, 'API Path Invalid'],
  [101005, 'Database Execution Error'],
  [101006, 'Invalid DNS Setting'],
  [101007, 'Proxy Connection Failed'],
  [101008, 'Account Is Not Enabled'],
  [101009, 'Multiple Errors'],
  [101010, 'DNS Execution Error'],
  [101011, 'Inconsistent Ports'],
  [101012, 'Failed To Auth The Credential'],
  [101013, 'Invalid Token'],
  [101014, 'Token Expired'],
  [101015, 'Revoke Token Failed'],
  [101016, 'Refresh Token Failed'],
  [101017, 'Duplicate Email'],
  [101018, 'Permission Denied'],
  [101019, 'License Expired'],
  [101020, 'Illegal Email Settings'],
  [101021, 'Illegal Telegram Token'],
  [101022, 'License Does Not Exist'],
  [101023, 'Illegal Port Type'],
  [101024, 'Invalid License Server'],
  [101025, 'Duplicated data'],
  [201001, 'Please Remove Nodes In This Zone'],
  [201002, 'Zone Name Already Exists'],
  [201003, 'The Number Of Regions Exceeds The Limit'],
  [202001, 'Node Communication Error'],
  [202002, 'The Number Of Nodes Exceeds The Upper Limit'],
  [202003, 'Node Exists In Group'],
  [202004, 'Node Exists In Virtual Node'],
  [202005, 'Port Type 4 In Use'],
  [202006, 'Invalid Node Time'],
  [202008, 'Node Version Does Not match'],
  [203001, 'Unable To Delete Active Group'],
  [203002, "Site Is In Use (group's site in use)"],
  [203003, 'The number of grouped nodes has reached the limit'],
  [203005, 'Invalid group node'],
  [204001, 'Layer 4 Group Is In Use'],
  [204002, 'Product Is In Use'],
  [204003, 'The Number Of Product Sites Exceeds The Limit'],
  [205001, 'The Number Of Sites Exceeds The Limit'],
  [205002, 'Site Status Not Allowed To Be Set'],
  [205003, 'The Site In Use'],
  [205004, 'The Site Has L4 Port Settings'],
  [205005, 'The Site Has An L7 Domain Name Setting'],
  [205006, 'Please Lift Traffic Restrictions'],
  [205007, 'The upper limit of redirect rules is 3,000'],
  [206001, 'Virtual Node In Use'],
  [301001, 'Invalid Certificate Name'],
  [401001, 'Unable To Enable Duplicate Domains'],
  [401002, 'The Number Of Domain Names Exceeds The Limit'],
  [401003, 'Illegal Port Mapping Settings (site does not open port {num})'],
  [401004, 'The Number Of Auto SSL Exceeds The Limit'],
  [401007, 'Port Counts Exceeds The Limit'],
  [401008, 'Upstream without enabled (at least one origin must be enabled)'],
  [601001, 'The simultaneous download quantity has reached the limit ({num} records)'],
  [601002, 'The daily download limit has been reached ({num} records)'],
  [900001, 'Illegal License'],
  [10102502, 'Duplicate keys are not allowed'],
  [4003, 'Self check error'],
  [4004, 'Supplier error'],
  [4005, 'Unknown'],
];

test('the catalogue is §8: same codes, same English, nothing more', () => {
  assert.deepEqual(
    errorNames.map(name => [errors[name].code, errors[name].text.en_US]),
    catalogue,
  );
});

test('a code leads back to its name, and a name holds one code', () => {
  for (const name of errorNames) assert.equal(errorByCode(errors[name].code), name);
  assert.equal(errorByCode(1), undefined);
});

test('every message exists in three languages and keeps its places', () => {
  for (const name of errorNames)
    for (const language of languages) {
      const { text } = errors[name];
      assert.ok(text[language].length > 0, `${name} ${language}`);
      assert.equal(text[language].includes('{num}'), text.en_US.includes('{num}'), `${name} ${language}`);
      if (language !== 'en_US') assert.match(text[language], /\p{Script=Han}/u, `${name} ${language}`);
    }
});

test('statuses follow the wire rules', () => {
  const statusOf = (code: number) => errors[errorByCode(code)!].status;
  assert.equal(statusOf(101003), 400);
  for (const code of [101012, 101013, 101014, 101015, 101016]) assert.equal(statusOf(code), 401);
  for (const code of [101018, 101008, 101019]) assert.equal(statusOf(code), 403);
  assert.equal(statusOf(101004), 404);
  for (const code of [101017, 101025, 201002, 202003, 204002, 205003, 206001, 401001]) assert.equal(statusOf(code), 409);
  for (const code of [601001, 601002]) assert.equal(statusOf(code), 429);
  for (const code of [202001, 101010, 4004]) assert.equal(statusOf(code), 502);
  assert.equal(statusOf(101002), 500);
});

test('101013 and 101014 read differently on the way in', () => {
  assert.equal(errorMessage('invalidToken', 'en_US'), 'Invalid Token');
  assert.equal(errorMessage('invalidToken', 'en_US', {}, 'login'), 'wrong verification code');
  assert.equal(errorMessage('tokenExpired', 'en_US', {}, 'login'), 'token invalid');
  assert.equal(errorMessage('permissionDenied', 'zh_TW', {}, 'login'), errors.permissionDenied.text.zh_TW);
  for (const text of Object.values(contextual)) for (const language of languages) assert.ok(text[language]);
});

test('a number that nobody knows takes its remark along', () => {
  assert.equal(errorMessage('simultaneousDownloads', 'zh_TW', { num: 3 }), '同時下載的數量已達上限（3 筆）');
  assert.equal(errorMessage('simultaneousDownloads', 'zh_TW'), '同時下載的數量已達上限');
  assert.equal(errorMessage('dailyDownloads', 'en_US'), 'The daily download limit has been reached');
  assert.equal(fill('{a} and {b}', { a: 1 }), '1 and {b}');
  const behind = '{count} {count, one: change, other: changes} behind';
  const said = [0, 1, 2, '1', '1,001'].map(count => fill(behind, { count }));
  assert.deepEqual(said, ['0 changes behind', '1 change behind', '2 changes behind', '1 change behind', '1,001 changes behind']);
  assert.equal(fill("Site Is In Use (group's site in use)"), "Site Is In Use (group's site in use)");
});

test('a failure becomes a body in the caller’s language', () => {
  const failure = fail('illegalPortMapping', { params: { num: 8443 } });
  assert.ok(failure instanceof Fail && failure instanceof Error);
  assert.deepEqual(errorBody(failure, 'zh_CN'), {
    isError: true,
    code: 401003,
    message: '端口映射设置不合法（站点未开放端口 8443）',
    extra: '8443',
  });
  assert.deepEqual(errorBody(failFields([{ path: 'a.0', rule: 'required' }]), 'en_US'), {
    isError: true,
    code: 101003,
    message: 'Parameter Error',
    errorData: [{ path: 'a.0', rule: 'required' }],
  });
  assert.equal(fail('credentialFailed', { status: 429 }).status, 429);
  assert.equal(fail('unknown').name, 'unknown');
});

test('several failures name their targets, each in the caller’s language', () => {
  const failure = multipleErrors([
    { code: 101025, targets: ['a.example'] },
    { code: 401003, params: { num: 80 }, targets: ['b.example'] },
    { code: 1, targets: ['c.example'] },
    { code: 2, message: 'said elsewhere', targets: [] },
  ]);
  const body = errorBody(failure, 'zh_TW');
  assert.equal(body.code, 101009);
  assert.deepEqual(body.errorData, [
    { code: 101025, message: '資料重複', targets: ['a.example'] },
    { code: 401003, message: '連接埠對應設定不合法（站點未開放連接埠 80）', targets: ['b.example'] },
    { code: 1, message: genericMessage.zh_TW, targets: ['c.example'] },
    { code: 2, message: 'said elsewhere', targets: [] },
  ]);
});

test('the caller’s language is the best one we speak, Traditional Chinese without a wish', () => {
  const wishes: [string | undefined, string][] = [
    [undefined, 'zh_TW'],
    ['', 'zh_TW'],
    ['fr', 'zh_TW'],
    ['*', 'zh_TW'],
    ['en', 'en_US'],
    ['en_US', 'en_US'],
    ['zh-CN', 'zh_CN'],
    ['zh', 'zh_CN'],
    ['zh-Hant', 'zh_TW'],
    ['zh-HK', 'zh_TW'],
    ['zh-Hans-TW', 'zh_CN'],
    ['fr, en;q=0.5, zh-CN;q=0.9', 'zh_CN'],
    ['en;q=0, zh-CN;q=0.1', 'zh_CN'],
    ['en;q=2, zh-CN', 'zh_CN'],
    ['EN-gb', 'en_US'],
  ];
  for (const [wish, language] of wishes) assert.equal(languageOf(wish), language, wish);
});
