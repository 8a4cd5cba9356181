/** The session of this page: who is signed in, how it starts and how it ends. */
import { useSyncExternalStore } from 'react';
import { area } from './area.ts';
import { type AnswerOf, call, credentials } from './client.ts';
import type { Credentials } from './credentials.ts';
import { belongs } from './guard.ts';
import { stored } from './stored.ts';
import { t } from './text.ts';
import { startCodes } from '#contract/errors/codes-start.ts';
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
export const mismatch = () =>
  new ApiError({ code: startCodes.credentialFailed[0], message: t('message.authMismatch'), status: 401 });

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

/** What the form hands to VerifyAccount. In memory only: it holds the password. */
export interface LoginData {
  email: string;
  password: string;
  onePassKey: string;
  login2FAType: number;
}
/** What a link of a mail hands to CreatePassword. In memory only: whoever has it sets the password. */
export interface LinkData {
  token: string;
  email: string;
}
let linkData: LinkData | null = null;
export const linkDataStore = {
  get: () => linkData,
  set: (data: LinkData | null) => {
    linkData = data;
  },
};
let loginData: LoginData | null = null;
export const loginDataStore = {
  get: () => loginData,
  set: (data: LoginData | null) => {
    loginData = data;
  },
};
