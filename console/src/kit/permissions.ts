/** What the signed-in account may call: a button is shown only if its call is allowed (the server refuses it anyway). */
import permissions from 'virtual:permissions';
import { area } from './area.ts';
import type { CallKey } from './client.ts';
import { callsOf, type Needs } from './needs.ts';
import { currentSelf, useSelf } from './session.ts';

const bit = { user: 1, client: 2, admin: 4 }[area];
const asked = new Map(permissions.filter(([, , areas]) => areas & bit).map(([key, permission]) => [key, permission]));

export function allows(selfPerms: readonly string[], key: CallKey): boolean {
  const permission = asked.get(key);
  // A call that this area does not have is not allowed here.
  return permission === null || (permission !== undefined && selfPerms.includes(permission));
}

/** Which row of the table of calls it is; -1 where this area has no such call. */
export const placeOf = (key: CallKey) => permissions.findIndex(([one, , areas]) => one === key && areas & bit);

/** Whether this area has such a call. */
export const isCall = (key: string): key is CallKey => asked.has(key);

export type Can = (needs: Needs | undefined) => boolean;
/** Whether the calls that something needs may be made. */
export function useCan(): Can {
  const { selfPerms } = useSelf();
  return needs => {
    if (needs === undefined) return true;
    const isAllowed = (key: CallKey) => allows(selfPerms, key);
    return typeof needs === 'object' && 'anyOf' in needs ? needs.anyOf.some(isAllowed) : callsOf(needs).every(isAllowed);
  };
}

export const can = (key: CallKey) => allows(currentSelf()?.selfPerms ?? [], key);
