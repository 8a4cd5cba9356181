/** The three credentials of a session, one set per area, in cookies (§6; decisions.md, Sessions). */
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

export function cookieName(area: Area, name: (typeof names)[number]) {
  return `${limits.cookieTypes[area]}_${name}`;
}

export function credentialStore(area: Area, jar: Jar, secure: boolean) {
  // No `Domain`: the hostname itself and nothing below it.
  const attributes = `; path=/; SameSite=Strict${secure ? '; Secure' : ''}`;
  const write = (name: string, value: string, maxAgeSeconds: number) => {
    jar.cookie = `${name}=${encodeURIComponent(value)}; max-age=${maxAgeSeconds}${attributes}`;
  };
  return {
    /** All three, or null: a session requires all of them. */
    read(): Credentials | null {
      const held = new Map(
        jar.cookie.split('; ').map(pair => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
      );
      const found = Object.fromEntries(names.map(name => [name, decode(held.get(cookieName(area, name)) ?? '')]));
      return names.every(name => found[name]) ? (found as unknown as Credentials) : null;
    },
    write(credentials: Credentials) {
      for (const name of names) write(cookieName(area, name), credentials[name], limits.cookieYears * 365 * 86_400);
    },
    clear() {
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
