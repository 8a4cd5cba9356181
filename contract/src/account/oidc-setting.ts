/** By which provider (OpenID Connect Core 1.0) the people of an operator, its own or its customers, sign in beside the password (issue 11). */
import * as z from 'zod/mini';
import { calls } from '../kit/call.ts';
import { arr, bool, int, obj, opt, text } from '../kit/schema.ts';
import { confidential, secret, told } from '../kit/secret.ts';
import { oidcLimits } from '../limits.ts';
import * as rules from '../rules.ts';
import { code } from './session.ts';

const fields = {
  enable: bool(),
  /** as the provider spells it: what its discovery document says (Discovery 4.3) */
  issuer: text(300).check(rules.zodRule(rules.oidcIssuer)),
  /** `client_id` there */
  client: text(300).check(rules.zodRule(rules.oneLine)),
  /** `client_secret` there */
  secret: secret(500),
  /** what the button says; '': the issuer's host */
  label: text(oidcLimits.labelMax).check(rules.zodRule(rules.oneLine)),
  forOperator: bool(),
  forCustomers: bool(),
  /** also who made no link signs in, by an e-mail that the provider has verified */
  byEmail: bool(),
};

export const oidc = calls(
  { base: '/client/setting/system', areas: ['client'], resource: 'oidc' },
  {
    /** `callbacks`: what the provider is to know as redirect URIs */
    'GET /oidc': { answer: obj({ ...told(fields), version: int(), callbacks: arr(text(400), 200) }) },
    /**
     * The root account's alone, with its password, and where signing in takes a code with one (101003 at `code` says which; one by mail is
     * sent): a provider says who somebody is. A new issuer takes its secret along.
     */
    'PUT /oidc': {
      auth: 'session',
      body: obj({ ...fields, password: confidential(text(200).check(z.minLength(1))), code: opt(code()) }),
      errors: ['permissionDenied'],
    },
    /** Reads the discovery document of what is stored, and asks whether the client and its secret are known there. */
    'POST /oidc/test': { permission: 'oidc.edit', audit: false, answer: obj({ endpoint: text(500) }) },
  },
);
