/** What a browser says of itself (RFC 9110, 10.1.5), in words for people. It may say anything: nothing is decided by it. */
import Bowser from 'bowser';
import { deviceKinds } from '#contract/account/sessions.ts';
import { userAgentMax } from '../kit/session-row.ts';

export interface Device {
  /** `Firefox 140`, `curl 8`; '' where nothing is told */
  browser: string;
  /** `Windows`, `iOS`; '' where nothing is told */
  system: string;
  kind: (typeof deviceKinds)[number];
}

const major = (version: string | undefined) => /^\d{1,6}/.exec(version ?? '')?.[0];
const named = (name: string, version: string | undefined) => [name, major(version)].filter(Boolean).join(' ');

export function deviceOf(told: string): Device {
  const userAgent = told.slice(0, userAgentMax);
  // it refuses an empty one
  if (!userAgent.trim()) return { browser: '', system: '', kind: 'other' };
  const { browser, os, platform } = Bowser.parse(userAgent);
  // a program says no more than its name; a mail program makes a link of what has a dot
  const program = /^([\w-]{1,40})\/(\d{1,6})/.exec(userAgent);
  // of a browser it does not know, all that stands before the last slash is the "name": a sentence, an address
  const isBrowser = /^[\w -]{1,40}$/.test(browser.name ?? '') && userAgent.startsWith('Mozilla/');
  return {
    browser: isBrowser ? named(browser.name!, browser.version) : program ? named(program[1]!, program[2]) : '',
    // versions of systems are what browsers pretend, for years now
    system: os.name ?? '',
    kind: deviceKinds.find(kind => kind === platform.type) ?? 'other',
  };
}
