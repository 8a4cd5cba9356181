/** A session as the database has it: the family of its refresh tokens. */
import type { Area } from '#contract/kit/call.ts';
import { fail } from '#contract/errors.ts';
import type { ActingToken } from './actor.ts';

/** From where and by what somebody comes. */
export interface From {
  ip: string;
  userAgent: string;
}
/** As much of what a browser says of itself as tells which it is. */
export const userAgentMax = 300;
/** null: of a session that nobody came for */
export const agentOf = (from: From | undefined) => from?.userAgent.slice(0, userAgentMax) ?? null;

/** Whose refresh token came again once it was replaced; `proxyID`: who acted in their name; `token`: of a program. */
export interface Reused {
  reused: { accountID: number; proxyID: number | null; token: Pick<ActingToken, 'id' | 'name'> | null };
}

export interface SessionRow {
  id: string;
  accountID: number;
  refreshHash: Buffer;
  previousHash: Buffer | null;
  previousUntil: string | null;
  successor: Buffer | null;
  proxyID: number | null;
  openerID: string | null;
  expiredAt: string;
  endedAt: string | null;
  auth: Area;
  status: string;
}

/** The session a refresh token is of, and what proves it. */
export function splitRefresh(token: string, error: 'refreshTokenFailed' | 'revokeTokenFailed') {
  const m = /^([0-9a-f-]{36})\.([\w-]{44})$/.exec(token);
  if (!m) throw fail(error);
  return { id: m[1]!, secret: m[2]! };
}
