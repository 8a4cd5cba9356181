/** What the signed-in account may call: a button is shown only if its call is allowed (the server refuses it anyway). */
import permissions from 'virtual:permissions';
import { area } from './area.ts';
import type { CallKey } from './client.ts';
import { currentSelf, useSelf } from './session.ts';

export function allows(selfPerms: readonly string[], key: CallKey): boolean {
  const permission = permissions[area][key];
  // A call that this area does not have is not allowed here.
  return permission === null || (permission !== undefined && selfPerms.includes(permission));
}

/** Whether a call, or each of several, may be made. */
export function useCan(): (keys: CallKey | readonly CallKey[] | undefined) => boolean {
  const { selfPerms } = useSelf();
  return keys => keys === undefined || [keys].flat().every(key => allows(selfPerms, key as CallKey));
}

export const can = (key: CallKey) => allows(currentSelf()?.selfPerms ?? [], key);
