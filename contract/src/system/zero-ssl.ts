/** What an operator was given by ZeroSSL: with it certificates are ordered there (external account binding, RFC 8555 7.3.4). */
import * as z from 'zod/mini';
import { calls } from '../kit/call.ts';
import { int, obj, text } from '../kit/schema.ts';
import { secret, told } from '../kit/secret.ts';
import * as rules from '../rules.ts';

const fields = {
  /** '': none */
  eabKID: text(200).check(z.regex(/^[!-~]*$/)),
  /** base64url */
  eabHmacKey: secret(
    200,
    rules.zodRule({
      name: 'eabHmacKey',
      check: value => /^[A-Za-z0-9_-]{20,200}={0,2}$/.test(String(value)) || [{ path: [], rule: 'wrongFormat' }],
    }),
  ),
};

export const zeroSSL = calls(
  { base: '/client/setting/system', areas: ['client'], resource: 'zeroSSL' },
  {
    'GET /zeroSSL': { answer: obj({ ...told(fields), version: int() }) },
    'PUT /zeroSSL': { body: obj(fields) },
  },
);
