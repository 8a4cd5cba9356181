/** Who acts: made from a session once, then carried by every statement. */
import type { Area } from '#contract/kit/call.ts';
import type { Networks } from './networks.ts';
import type { Language } from '#contract/kit/text.ts';
import type { InForce } from './licence.ts';

/** What an API token is known by where it acts. */
export interface ActingToken {
  id: number;
  name: string;
  /** the sites it is for; null: all that its owner sees */
  siteIDs: readonly number[] | null;
  /** where it may come from; null: from everywhere */
  networks: Networks | null;
  /** when it is over, in ms since 1970 */
  until: number;
}
export interface Actor {
  accountID: number;
  email: string;
  area: Area;
  isRoot: boolean;
  /** the root account of the tree this one belongs to; itself when root */
  rootID: number;
  /** the operator: itself for a root client, its root for sub-clients, the parent client for users; null for admins */
  clientID: number | null;
  grade: number;
  status: string;
  /** keys held */
  permissions: ReadonlySet<string>;
  language: Language;
  timezone: string;
  sessionID: string;
  /** the API token by which it acts, if it is a program */
  token: ActingToken | null;
  /** who really acts, when the session was opened by `proxy` */
  proxyID: number | null;
  /** and its e-mail */
  proxyName: string | null;
  /** where its operator lets it come from; null: from everywhere */
  networks: Networks | null;
  /** until its account, or one that it hangs on, has come to its end, as it was read; null: never */
  endsInMs?: number | null;
  /** of the operator; nobody's of an admin */
  licence?: InForce | undefined;
}

/** Who calls what asks nobody who they are. */
export const stranger = (area: Area | undefined): Actor => ({
  accountID: 0,
  email: '',
  area: area ?? 'user',
  isRoot: false,
  rootID: 0,
  clientID: null,
  grade: 0,
  status: 'normal',
  permissions: new Set(),
  language: 'zh_TW',
  timezone: 'UTC',
  sessionID: '',
  token: null,
  proxyID: null,
  proxyName: null,
  networks: null,
});
