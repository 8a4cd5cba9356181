/** What a body holds whose call decides where secrets go (`present` of its declaration): that the root's own person is there. */
import * as z from 'zod/mini';
import { opt, str, text } from './schema.ts';
import { confidential } from './secret.ts';

/** `code` where signing in takes one: 101003 at `code` says which, one by mail is sent. */
export const presence = () => ({
  ownPassword: confidential(text(200).check(z.minLength(1))),
  code: opt(confidential(str(32))),
});
