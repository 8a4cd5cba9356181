/**
 * The three credentials of a session, one set per area, in cookies (§6; decisions.md, Sessions). Those of somebody else, taken over where
 * somebody is signed in already, are this tab's alone: the other tabs, and the way back, keep the person's own.
 */
import { session as limits } from '#contract/limits-start.ts';
import type { Area } from './area.ts';

export interface Credentials {
  accessToken: string;
  refreshToken: string;
  tokenType: string;
}
const names = ['accessToken', 'refreshToken', 'tokenType'] as const;

/** What a session needs of the browser: `document` gives it, a test brings its own. */
export interface Jar {
  cookie: string;
}

/** The store of this tab: `stored` gives it. */
export interface Tab {
  get(): string | null;
  set(value: string | null): void;
}

export function cookieName(area: Area, name: (typeof names)[number]) {
  return `${limits.cookieTypes[area]}_${name}`;
}

export function credentialStore(area: Area, jar: Jar, secure: boolean, tab: Tab) {
  // No `Domain`: the hostname itself and nothing below it.
  const attributes = `; path=/; SameSite=Strict${secure ? '; Secure' : ''}`;
  const write = (name: string, value: string, maxAgeSeconds: number) => {
    jar.cookie = `${name}=${encodeURIComponent(value)}; max-age=${maxAgeSeconds}${attributes}`;
  };
  return {
    /** All three, or null: a session requires all of them. */
    read(): Credentials | null {
      const own = tab.get();
      // this store alone writes it
      if (own) return JSON.parse(own) as Credentials; // as `write` put it
      const held = new Map(
        jar.cookie.split('; ').map(pair => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
      );
      const found = Object.fromEntries(names.map(name => [name, decode(held.get(cookieName(area, name)) ?? '')]));
      return names.every(name => found[name]) ? (found as unknown as Credentials) : null;
    },
    write(credentials: Credentials, isOfTab = tab.get() !== null) {
      if (isOfTab) return tab.set(JSON.stringify(credentials));
      for (const name of names) write(cookieName(area, name), credentials[name], limits.cookieYears * 365 * 86_400);
    },
    clear() {
      if (tab.get() !== null) return tab.set(null);
      for (const name of names) write(cookieName(area, name), '', 0);
    },
  };
}
export type CredentialStore = ReturnType<typeof credentialStore>;

function decode(value: string) {
  try {
    return decodeURIComponent(value);
  } catch {
    return '';
  }
}
