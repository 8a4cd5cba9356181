/** Who an account is where it acts, as the database has it. */
import { sql } from 'kysely';
import { Fail } from '#contract/errors.ts';
import type { Area } from '#contract/kit/call.ts';
import { defaultLanguage, isLanguage, type Language } from '#contract/kit/text.ts';
import { settingValue } from '#contract/system/settings.ts';
import type { Actor } from './actor.ts';
import { Networks } from './networks.ts';

/** An account `a` acts while it, the root it hangs on and, for customers, their operator are normal. */
export const withRoots = sql`join account root on root.id = coalesce(a."rootID", a.id)
  left join account op on op.id = root."parentClient"`;
/** Its time holds from that very moment on, whenever the job that writes it into the state comes (work/account-expiry.ts). */
const standing = (alias: 'a' | 'root' | 'op') =>
  sql.raw(`case when ${alias}.status = 'normal' and ${alias}.expired <= now() then 'expired' else ${alias}.status end`);
export const statusOf = sql`coalesce(nullif(${standing('a')}, 'normal'), nullif(${standing('root')}, 'normal'), ${standing('op')}, 'normal')`;
/** Of the account `a` alone, whatever those above it are. */
export const ownStatusOf = standing('a');
export interface Acting {
  accountID: number;
  email: string;
  auth: Area;
  isRoot: boolean;
  rootID: number;
  parentClient: number | null;
  grade: number;
  status: string;
  language: string;
  timezone: string;
  proxyID: number | null;
  proxyName: string | null;
  /** CIDRs from which the people of its operator may come */
  restrictedTo: unknown;
  /** until the account, its root or its operator has come to its end; null: never, or it has */
  endsInMs: number | null;
}
/** An operator's people, not its customers. */
const restrictedTo = sql`select x.value from setting x where a.auth = 'client' and x.key = 'restrictGroupCIDRs'
  and x."clientID" = coalesce(a."rootID", a.id)`;
export const actingColumns = sql`a.id as "accountID", a.email, a.auth, a."isRoot", coalesce(a."rootID", a.id) as "rootID", a."parentClient", a.grade,
  ${statusOf} as status, a.language, a.timezone, p.id as "proxyID", p.email as "proxyName",
  (${restrictedTo}) as "restrictedTo",
  (select min(ceil(extract(epoch from e - now()) * 1000))::float8 from unnest(array[a.expired, root.expired, op.expired]) e where e > now()) as "endsInMs"`;

/** Null: from everywhere. */
function networksOf(stored: unknown): Networks | null {
  const cidrs = settingValue('restrictGroupCIDRs', stored);
  return cidrs.length ? new Networks(cidrs) : null;
}

export const isFrom = ({ networks }: Pick<Actor, 'networks'>, ip: string): boolean => !networks || networks.has(ip);
export const networkRefused = () => new Fail('permissionDenied', { errorData: [{ path: '', rule: 'networkRefused' }] });

/** `held`: the keys it holds now. */
export function actorOf(found: Acting, held: Iterable<string>, sessionID: string): Actor {
  return {
    accountID: found.accountID,
    email: found.email,
    area: found.auth,
    isRoot: found.isRoot,
    rootID: found.rootID,
    clientID: found.auth === 'client' ? found.rootID : found.parentClient,
    grade: found.grade,
    status: found.status,
    permissions: new Set(held),
    language: isLanguage(found.language) ? (found.language as Language) : defaultLanguage,
    timezone: found.timezone,
    sessionID,
    token: null,
    proxyID: found.proxyID,
    proxyName: found.proxyName,
    networks: networksOf(found.restrictedTo),
    endsInMs: found.endsInMs,
  };
}
