/** The account tree and its roles (§3 Account, Role; §6). */
import { areas } from '../kit/areas.ts';
import { calls } from '../kit/call.ts';
import { arr, bool, id, ids, int, list, nullable, obj, one, oneOf, opt, page, record, str, text, time } from '../kit/schema.ts';
import { confidential } from '../kit/secret.ts';
import { languages } from '../kit/text.ts';
import { session as limits } from '../limits-start.ts';
import * as rules from '../rules.ts';
import { accountStates } from '../states.ts';
import { Account, tokens } from './session.ts';

/** Why one may not act as an account: it is one's own, not below one's own, sees more zones or sites, or holds more keys. */
export const actAsReasons = ['own', 'notBelow', 'wider', 'moreKeys'] as const;
export type ActAsReason = (typeof actAsReasons)[number];
/** An account of a list; `actAsDenied` is null where one may act as it. */
export const ListedAccount = obj({
  ...Account.shape,
  /** without one it cannot sign in: whoever made it gave it none, and its link was not used yet */
  hasPassword: bool(),
  actAsDenied: nullable(one(actAsReasons)),
});

const email = () => str(254).check(rules.zodRule(rules.email));
const accountName = () => str(64).check(rules.zodRule(rules.freeName));
const password = () => confidential(text(limits.passwordLengthMax).check(rules.zodRule(rules.password)));
const permissionKeys = () => arr(str(64), 500);
/** When its time is over; one that is past ends it at once, a later one or null brings it back. */
const expired = () => nullable(time());
const status = () => one(['normal', 'pause', 'lock']);

export const accounts = calls(
  { base: '/{area}', resource: 'accounts' },
  {
    'GET /accounts': {
      query: list({
        auth: opt(one(areas)),
        client: opt(id()),
        status: opt(one(accountStates)),
        name: opt(str(100)),
        /** whoever has this role */
        roleID: opt(id()),
      }),
      answer: page(ListedAccount),
    },
    'GET /account/{id}/subs': { query: list({ name: opt(str(100)) }), answer: page(ListedAccount) },
    'POST /account': {
      body: obj({
        email: email(),
        name: accountName(),
        /** one that the caller may make: decisions.md, Who may do what */
        auth: one(areas),
        role: opt(nullable(id())),
        language: opt(one(languages)),
        expired: opt(expired()),
        /** the first one, made together with the account; without it its person sets one by the link that is mailed */
        password: opt(password()),
      }),
      /** `isMailed`: its person was sent a link to set the password by; never where an API token makes a sub-account of its own tree */
      answer: obj({ ids: arr(id(), 1), isMailed: bool() }),
      errors: ['duplicateEmail', 'permissionDenied'],
    },
    'PUT /account': {
      body: obj({
        id: id(),
        name: opt(accountName()),
        status: opt(status()),
        expired: opt(expired()),
        language: opt(one(languages)),
        maxLogExportTimes: opt(int(0, 10_000)),
        /** takes a second factor away that was lost */
        twoFactor: opt(oneOf([2])),
      }),
      errors: ['permissionDenied', 'accountNotEnabled'],
    },
    /** Mails a new link to set the password by; earlier ones end. */
    'POST /account/resendEmail': {
      auth: 'session',
      permission: 'accounts.edit',
      licence: false,
      body: obj({ id: id() }),
      errors: ['permissionDenied', 'illegalEmailSettings'],
    },
    'PUT /account/password': {
      auth: 'session',
      body: obj({ id: id(), password: password() }),
      errors: ['permissionDenied'],
    },
    'DELETE /account': { body: obj({ ids: ids() }), errors: ['permissionDenied', 'siteInUse', 'multiple'] },
    'PUT /account/role': {
      permission: 'roles.edit',
      body: obj({ accountID: id(), roleID: id() }),
      errors: ['permissionDenied'],
    },
    'POST /proxy': {
      auth: 'session',
      licence: false,
      permission: 'accounts.edit',
      body: obj({ id: id() }),
      answer: tokens,
      errors: ['accountNotEnabled', 'permissionDenied'],
    },
  },
);

/** `holders`: accounts that have it now */
export const Role = obj({ ...record, name: text(64), permissionKeys: permissionKeys(), holders: int() });
const roleBody = () => obj({ name: str(64).check(rules.zodRule(rules.freeName)), permissionKeys: permissionKeys() });

export const roles = calls(
  { base: '/{area}', resource: 'roles', areas: ['user', 'client', 'admin'] },
  {
    'GET /roles': { query: list({ name: opt(str(100)) }), answer: page(Role) },
    'GET /metaRoles': { query: obj({ keyword: opt(str(64)) }), answer: arr(obj({ id: id(), name: text(64) })) },
    'POST /role': { body: roleBody(), answer: obj({ ids: arr(id(), 1) }), errors: ['duplicated'] },
    'PUT /role/{id}': { body: roleBody(), errors: ['duplicated', 'permissionDenied'] },
    /** Whoever holds it holds no role from then on. */
    'DELETE /role/{id}': { errors: ['permissionDenied'] },
  },
);
