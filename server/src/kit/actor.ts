/** Who acts: made from a session once, then carried by every statement. */
import type { Area } from '#contract/kit/call.ts';
import type { Language } from '#contract/kit/text.ts';

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
  /** who really acts, when the session was opened by `proxy` */
  proxyID: number | null;
  /** and its e-mail */
  proxyName: string | null;
}
