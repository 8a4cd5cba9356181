import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorCodes } from '#contract/errors/codes.ts';
import { errorTexts as errorsEnglish } from '../src/text/errors.en_US.ts';
import { errorTexts as errorsSimplified } from '../src/text/errors.zh_CN.ts';
import { errorTexts as errorsTraditional } from '../src/text/errors.zh_TW.ts';
import { messages as english } from '../src/text/messages.en_US.ts';
import { messages as simplified } from '../src/text/messages.zh_CN.ts';
import { messages as traditional } from '../src/text/messages.zh_TW.ts';

/** Every sentence that §4 and §8 print. */
const printed = [
  'Login Success! Welcome!',
  'Logout success! See you!',
  'Please check mail to get verify code.',
  'Auth is not match !',
  'Change password successful!',
  'Create Password Successful!',
  'Edit Account successful!',
  'Resend Email Successful!',
  'Update Information Successful!',
  'Create {auth} Successful!',
  'Update {auth} Successful!',
  'Remove {auth} Success!',
  "Update User's Role Success !",
  'Create Role Success !',
  'Update Role Success !',
  'Remove Role Success !',
  'Create Role Failed !',
  'Update Role Failed !',
  'Remove Role Failed !',
  'Create Site Success !',
  'Remove Site Success !',
  'Assign Site Success !',
  'Change Site Success !',
  'Refresh Site Success !',
  'Clear Site Success !',
  'Connection Success!',
  'HTTP compression set success!',
  'Set Nginx Http Success!',
  'Set Nginx Stream Success!',
  'Set Nginx Worker Success!',
  'Add VNodes To Line Successful!',
  'Remove VNodes From Line Successful!',
  'Create Offline License Success!',
];
/** What §8 names without printing the sentence: each has one for success. */
const named = ['license create', 'license update', 'license remove', 'license issue', 'create', 'update', 'delete', 'reset', 'modify', 'export', 'node initial', 'node restart', 'node reset', 'cache clear', 'add sub node', 'remove sub node', 'detection']; // prettier-ignore

test('every printed sentence is there, letter for letter', () => {
  const sentences = new Set<string>(Object.values(english));
  for (const sentence of printed) assert.ok(sentences.has(sentence), sentence);
});

test('every named message is there', () => {
  const keys = new Set(Object.keys(english).map(key => key.toLowerCase()));
  for (const name of named) {
    const words = name.startsWith('license') ? `${name.split(' ')[1]}license` : name.replaceAll(' ', '');
    assert.ok(keys.has(`message.${words}success`), name);
  }
});

test('three languages say the same things and keep their places', () => {
  const places = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(String).sort();
  for (const [key, text] of Object.entries(traditional) as [keyof typeof traditional, string][])
    for (const other of [simplified[key], english[key]]) assert.deepEqual(places(other), places(text), key);
});

test('every code of the catalogue has a text in each language', () => {
  for (const texts of [errorsTraditional, errorsSimplified, errorsEnglish])
    for (const [code] of Object.values(errorCodes)) assert.ok(texts[`error.${code}`], String(code));
  assert.equal(errorsEnglish['error.unknown'], 'something went wrong, please try again later');
});

test('Taiwan’s words stay Taiwan’s (glossary)', () => {
  const foreign = /[帶賬]|緩存|證書|端口|默認|登錄|設置|響應|刷新|批量|用戶(?!端)|網絡|服務器|文件|保存|導出|可用區/u;
  for (const texts of [traditional, errorsTraditional])
    for (const text of Object.values(texts)) assert.doesNotMatch(text, foreign);
});
