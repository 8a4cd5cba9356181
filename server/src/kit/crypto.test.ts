import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkPassword, hashPassword, newToken } from './crypto.ts';

test('a password is hashed at the cost that is recommended, each time with another salt, and is found right again', async () => {
  const [one, two] = [await hashPassword('correct horse'), await hashPassword('correct horse')];
  assert.match(one, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  assert.notEqual(one, two);
  assert.equal(await checkPassword('correct horse', one), true);
  assert.equal(await checkPassword('correct horsf', one), false);
  assert.equal(await checkPassword('correct horse', ''), false);
});

test('a token can stand after an option of a command: letters and digits alone', () => {
  const tokens = Array.from({ length: 2000 }, () => newToken(24));
  assert.deepEqual(
    tokens.filter(token => !/^[0-9A-Za-z]{32}$/.test(token)),
    [],
  );
  assert.equal(new Set(tokens).size, tokens.length);
});
