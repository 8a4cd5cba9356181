/** Through which server an operator's mails go (§7 System, setting/email; RFC 5321, RFC 8314). */
import * as z from 'zod/mini';
import { calls } from '../kit/call.ts';
import { presence } from '../kit/present.ts';
import { bool, int, nullable, obj, one, text, time } from '../kit/schema.ts';
import { secret, told } from '../kit/secret.ts';
import { mailSecurities } from '../limits-sign-in.ts';
import * as rules from '../rules.ts';

/** Text of a header: a line break would begin another one. */
const headerText = (max: number) => text(max).check(z.regex(/^[^\p{Cc}\p{Zl}\p{Zp}]*$/u));

const isEmail = rules.zodRule(rules.email);

const fields = {
  /** name or address; '': no mails are sent */
  host: text(253).check(z.regex(/^[A-Za-z0-9._:-]*$/)),
  port: int(1, 65_535),
  /** `starttls`: refused where the server does not offer it; `tls`: from the first byte; `none`: everybody on the way reads it */
  security: one(mailSecurities),
  /** '': the server asks for none */
  username: headerText(254),
  password: secret(500),
  fromAddress: text(254).check(payload => (payload.value === '' ? undefined : isEmail(payload))),
  fromName: headerText(100),
};

export const emailSetting = calls(
  { base: '/client/setting', areas: ['client'], resource: 'emailSetting' },
  {
    'GET /email': {
      answer: obj({
        ...told(fields),
        version: int(),
        /** when a test went out by what is set now */
        testedAt: nullable(time()),
        /** mails that wait, and what kept the latest of them */
        waiting: int(),
        /** mails go out by the server of the installation's owner, where none is set here */
        byOwner: bool(),
        problem: nullable(text(500)),
      }),
    },
    /**
     * Another server, port or user takes the password anew: what was given to one server is shown to no other. Refused where people could
     * not sign in without it: their codes are mailed by it.
     */
    'PUT /email': {
      auth: 'session',
      present: true,
      body: obj({ ...fields, ...presence() }),
      errors: ['illegalEmailSettings', 'permissionDenied'],
    },
    /** A mail to whoever asks, by what is stored. 101020 says in `errorData` what the server answered. */
    'POST /email/test': { permission: 'emailSetting.edit', errors: ['illegalEmailSettings'], audit: false },
  },
);
