/** The session of this page: who is signed in, how it starts and how it ends. */
import { useSyncExternalStore } from 'react';
import { area } from './area.ts';
import { type AnswerOf, call, credentials } from './client.ts';
import type { Credentials } from './credentials.ts';
import { belongs } from './guard.ts';
import { notify } from './notice.ts';
import { stored } from './stored.ts';
import { t } from './text.ts';
import { ApiError } from './transport.ts';

export type Self = AnswerOf<'GET /{area}/account/self'>;

let self: Self | null = null;
const listeners = new Set<() => void>();
function change(next: Self | null) {
  self = next;
  for (const listener of listeners) listener();
}

export const hasSession = () => credentials.read() !== null;
export const currentSelf = () => self;

/** Who is signed in; inside the shell there is always somebody. */
export function useSelf(): Self {
  const value = useSyncExternalStore(
    listener => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    () => self,
  );
  // While the session is being torn down the shell may still be drawn once more.
  return value ?? lastSelf!;
}
let lastSelf: Self | null = null;

/** Asks who this is. Credentials of another area are cleared. */
export async function loadSelf(): Promise<Self> {
  const answer = await call('GET /{area}/account/self');
  if (!belongs(answer, area)) {
    reset();
    throw mismatch();
  }
  lastSelf = answer;
  change(answer);
  return answer;
}
const mismatch = () => new ApiError({ code: 101012, message: t('message.authMismatch'), status: 401 });

/**
 * Takes over credentials from elsewhere, but only after the API has said whose they are. A session that this browser has in the area stays
 * as it is: theirs is this tab's alone then.
 */
export async function adopt(given: Credentials): Promise<void> {
  const answer = await call('GET /{area}/account/self', {}, { as: given });
  if (!belongs(answer, area)) {
    reset();
    throw mismatch();
  }
  const isBeside = hasSession();
  if (!isBeside) reset();
  credentials.write(given, isBeside);
  lastSelf = answer;
  change(answer);
}

/** Takes the credentials of a login and asks who they are. */
export async function signIn(given: Credentials): Promise<Self> {
  credentials.write(given);
  return loadSelf();
}

const resets = new Set<() => void>();
/** What else is forgotten with the session: cached answers. */
export const onReset = (task: () => void) => void resets.add(task);

/** Last selected site and zone belong to the session, not to the browser. */
export const lastSelected = { site: stored(`${area}.lastSite`), zone: stored(`${area}.lastZone`) };

export function reset() {
  credentials.clear();
  forget();
}
/** What was known of a session whose credentials are gone. */
export function forget() {
  lastSelected.site.set(null);
  lastSelected.zone.set(null);
  change(null);
  for (const task of resets) task();
}

/** Where the person who acts for somebody came from: a page of the console. */
export const cameFrom = stored(`${area}.from`, 'sessionStorage');

/** Ends this session; where it was taken over beside the person's own, that one counts again. */
export async function endSession() {
  const held = credentials.read();
  try {
    if (held)
      await call(
        'DELETE /{area}',
        { body: { accessToken: held.accessToken, refreshToken: held.refreshToken } },
        { from: 'login' },
      );
  } catch (error) {
    // The tokens are forgotten here in any case; that the server could not revoke them is for the log.
    console.error(error);
  }
  reset();
}

export async function signOut() {
  await endSession();
  notify.success(t('message.logoutSuccess'));
}

/** What the form hands to VerifyAccount. In memory only: it holds the password. */
export interface LoginData {
  email: string;
  password: string;
  onePassKey: string;
  login2FAType: number;
}
let loginData: LoginData | null = null;
export const loginDataStore = {
  get: () => loginData,
  set: (data: LoginData | null) => {
    loginData = data;
  },
};
