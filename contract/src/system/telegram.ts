/** Notices by Telegram (§3 Telegram notification, §7 tg): of an operator, and of a customer, to a chat of their own. */
import * as z from 'zod/mini';
import { calls } from '../kit/call.ts';
import { arr, bool, int, nullable, obj, one, opt, text, time } from '../kit/schema.ts';
import { secret, told } from '../kit/secret.ts';
import { telegramKinds } from '../limits.ts';

const fields = {
  enable: bool(),
  /** as BotFather gives it */
  token: secret(100),
  /** number of a chat, or `@name` of a channel */
  chatID: text(64).check(z.regex(/^(?:-?\d{1,20}|@[A-Za-z]\w{3,31})?$/)),
};

/** Of which it is told. */
const kinds = () => arr(one(telegramKinds), telegramKinds.length);

export const telegram = calls(
  { base: '/{area}/setting', areas: ['user', 'client'], resource: 'telegram' },
  {
    'GET /tg': {
      answer: obj({
        ...told(fields),
        kinds: kinds(),
        version: int(),
        /** when the latest notice went out */
        sentAt: nullable(time()),
        /** what kept the latest from going out */
        problem: nullable(text(300)),
      }),
    },
    /** As PUT /webhook: a person, and the root account for where it goes and what more is told. */
    'PUT /tg': { auth: 'session', body: obj({ ...fields, kinds: opt(kinds()) }), errors: ['illegalTelegramToken'] },
    /** A message to the chat, by what is stored. 101021: Telegram does not know the token, or may not write to the chat. */
    'POST /tg/test': { permission: 'telegram.edit', errors: ['illegalTelegramToken'], audit: false },
  },
);
