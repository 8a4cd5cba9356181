/** Who may see which page, decided without a router (§2 Navigation guards; decisions.md, Sessions). */
import type { Area } from './area.ts';

/** `login`: form, verifyAccount, createPassword; `open`: verifyMail, switchUser; `own`: changePassword; `inside`: everything with a menu. */
export type Place = 'login' | 'open' | 'own' | 'inside';
export interface Situation {
  area: Area;
  place: Place;
  /** all three credentials are there */
  hasSession: boolean;
  /** VerifyAccount was opened by the form, with e-mail and password; undefined on every other page */
  hasLoginData?: boolean;
  /** a switch of the deployment: the admin area is closed */
  offlineMode: boolean;
}
export type Decision = 'stay' | 'dashboard' | 'login' | 'notFound';

export function decide(at: Situation): Decision {
  if (at.offlineMode && at.area === 'admin') return 'notFound';
  if (at.place === 'login') {
    if (at.hasSession) return 'dashboard';
    return at.hasLoginData === false ? 'login' : 'stay';
  }
  if (at.place === 'open') return 'stay';
  return at.hasSession ? 'stay' : 'login';
}

export interface Person {
  auth: Area;
  isRoot: boolean;
  dnsType: string | null;
}

/** Whether these credentials belong here; else they are cleared and "Auth is not match !" is said. */
export const belongs = (self: Pick<Person, 'auth'>, area: Area) => self.auth === area;

const dnsSetting = 'systemManagement/dnsSetting';
/** The first page after signing in: a client root without DNS sets that up first, once that screen exists. */
export function firstPage(self: Person, area: Area, hasScreen: (path: string) => boolean): string {
  if (area === 'client' && self.isRoot && !self.dnsType && hasScreen(dnsSetting)) return `/${area}/${dnsSetting}`;
  return `/${area}/dashboard`;
}

/** The address someone wanted before the login form: only a page of this area, never another host. */
export function wanted(next: unknown, area: Area): string | undefined {
  return typeof next === 'string' && new RegExp(`^/${area}/[\\w/?=&%.,:+~!*()-]+$`).test(next) && !next.includes('//')
    ? next
    : undefined;
}
