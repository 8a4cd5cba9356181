/** What was typed when a session ended: kept in this tab alone, given back once to the same form of the same account after sign-in. */
import type { FormField, Values } from './resource.ts';

const prefix = 'draft.';
/** Older than this it would surprise more than help. */
const keptMs = 30 * 60_000;

const isFresh = (at: number) => Date.now() - at < keptMs;

/** Many a person pastes a private key where something else is wanted. */
const holdsKey = (value: unknown) => (JSON.stringify(value) ?? '').includes('PRIVATE KEY');

/** Secrets are never kept. */
export const withoutSecrets = (fields: readonly FormField[], values: Values): Values =>
  Object.fromEntries(
    fields.flatMap(({ kind, name }) =>
      kind === 'password' || !(name in values) || holdsKey(values[name]) ? [] : [[name, values[name]]],
    ),
  );

export interface Draft {
  values: Values;
  /** what the form began with */
  base?: Values;
  /** of the row, as it was seen */
  version?: number | undefined;
}

export function keepDraft(name: string, { values, base, version }: Draft): void {
  try {
    sessionStorage.setItem(prefix + name, JSON.stringify({ at: Date.now(), values, base, version }));
  } catch {
    // a full or forbidden storage: the draft is lost, the session is over all the same
  }
}

/** Whether something that was typed waits for this account's form to be opened again. */
export function hasDraft(accountID: number): boolean {
  try {
    return Object.keys(sessionStorage).some(key => {
      if (!key.startsWith(`${prefix}${accountID} `)) return false;
      const draft = JSON.parse(sessionStorage.getItem(key) ?? '{}') as { at?: number };
      return isFresh(draft.at ?? 0);
    });
  } catch {
    return false;
  }
}

/** The draft of a form; it is given back once. */
export function takeDraft(name: string): Draft | undefined {
  try {
    const text = sessionStorage.getItem(prefix + name);
    if (text === null) return undefined;
    sessionStorage.removeItem(prefix + name);
    const draft = JSON.parse(text) as Draft & { at: number };
    return isFresh(draft.at) ? draft : undefined;
  } catch {
    return undefined;
  }
}
