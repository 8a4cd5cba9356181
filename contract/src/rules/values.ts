/** Rules for single values (§5): texts, numbers, names, passwords, patterns. */
import { ranges, session, upstreamLimits } from '../limits.ts';
import { answer, at, broken, isEmpty, wrong } from './rule.ts';
import type { Bounds, Problem, Rule } from './rule.ts';

type Missing = null | undefined;

/** Empty input is "required". */
export const required: Rule<unknown> = {
  name: 'required',
  check: value => (isEmpty(value) || (Array.isArray(value) && value.length === 0) ? broken('required') : true),
};

/** The generic rule of every one-word input: not empty, no space in it. */
export const word: Rule<string | Missing> = {
  name: 'word',
  check: value => (isEmpty(value) ? broken('required') : /\s/.test(value!) ? wrong('hostBlank') : true),
};

const nonEmpty = (name: string): Rule<unknown> => ({ name, check: required.check });
/** Non-empty fields, by the names the specification gives them. */
export const url = nonEmpty('url');
export const urls = nonEmpty('urls');
export const custom = nonEmpty('custom');
/** Not null: nought is a value. */
export const second = nonEmpty('second');
export const request = nonEmpty('request');
export const geoIDs: Rule<readonly unknown[] | Missing> = {
  name: 'geoIDs',
  check: value => (Array.isArray(value) && value.length > 0 ? true : broken('required')),
};
export const methodValues: Rule<readonly unknown[] | Missing> = {
  name: 'methodValues',
  check: value => (Array.isArray(value) && value.length > 0 ? true : broken('methodRequired')),
};

/** A whole number as a form or the wire has it, undefined for anything else. */
export function wholeNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value : undefined;
  return typeof value === 'string' && /^-?\d{1,15}$/.test(value.trim()) ? Number(value) : undefined;
}

const inRange = (name: string, bounds: { min: number; max: number }): Rule<unknown> => ({
  name,
  check(value) {
    if (isEmpty(value)) return broken('required');
    const number = wholeNumber(value);
    if (number === undefined) return broken('numeric');
    return number >= bounds.min && number <= bounds.max ? true : broken('between', bounds as Bounds);
  },
});
export const number = inRange('number', { min: ranges.numberMin, max: ranges.numberMax });
export const corsMaxAge = inRange('corsMaxAge', { min: ranges.corsMaxAgeSecondsMin, max: ranges.corsMaxAgeSecondsMax });
export const weight = inRange('weight', { min: upstreamLimits.weightMin, max: upstreamLimits.weightMax });
export const port = inRange('port', { min: upstreamLimits.portMin, max: upstreamLimits.portMax });

export const positive: Rule<unknown> = {
  name: 'positive',
  check(value) {
    if (isEmpty(value)) return broken('required');
    const number = typeof value === 'number' ? value : Number(value);
    if (!Number.isFinite(number)) return broken('numeric');
    return number > 0 ? true : broken('greaterThan', { min: 0 });
  },
};

/** English letters, digits and hyphen; the name `default` is ours. */
export const name: Rule<string | Missing> = {
  name: 'name',
  check(value) {
    if (isEmpty(value)) return broken('required');
    if (!/^[A-Za-z0-9-]+$/.test(value!)) return broken('nameFormat');
    return value!.toLowerCase() === 'default' ? broken('nameForbidden', { name: value! }) : true;
  },
};

/**
 * Whatever people call a thing: any script, in one line. What cannot be seen or turns the line around (Unicode: Cc, bidirectional
 * controls, line and paragraph separators) makes one name look like another.
 */
export const freeName: Rule<string | Missing> = {
  name: 'freeName',
  check: value =>
    isEmpty(value)
      ? broken('required')
      : /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u.test(value!)
        ? wrong('invisible')
        : true,
};

const label = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i;
/**
 * Dot-separated labels of letters, digits and hyphens (RFC 1123), at most 253 characters. The last is no number, in whatever base:
 * what ends in one is an address to who connects, not a name.
 */
export function isHostName(value: string, labelsMin = 1): boolean {
  const labels = value.split('.');
  return (
    value.length <= 253 &&
    labels.length >= labelsMin &&
    labels.every(part => label.test(part)) &&
    !/^(\d+|0x[0-9a-f]*)$/i.test(labels.at(-1)!)
  );
}

const localPart = /^[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+(\.[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u;
export const email: Rule<string | Missing> = {
  name: 'email',
  check(value) {
    if (isEmpty(value)) return broken('required');
    const parts = value!.split('@');
    const isEmail = parts.length === 2 && parts[0]!.length <= 64 && localPart.test(parts[0]!) && isHostName(parts[1]!, 2);
    return isEmail && value!.length <= 254 ? true : broken('email');
  },
};

/** At least 8 characters as people count them; blanks are allowed, a pass phrase is a good password. */
export const password: Rule<string | Missing> = {
  name: 'password',
  check(value) {
    if (value === undefined || value === null || value === '') return broken('required');
    return [...value].length >= session.passwordLengthMin ? true : broken('tooShort', { min: session.passwordLengthMin });
  },
};

export const passwordsMatch: Rule<{ password?: string; confirm?: string }> = {
  name: 'passwordsMatch',
  check: value => (value.password === value.confirm ? true : broken('passwordMismatch', undefined, ['confirm'])),
};

const threeDigits = new RegExp(`^[1-9]\\d{${ranges.statusCodeDigits - 1}}$`);
export const statusCode: Rule<unknown> = {
  name: 'statusCode',
  check: value => (isEmpty(value) ? broken('required') : threeDigits.test(String(value)) ? true : broken('threeDigits')),
};

/** One code of two-factor sign-in: six digits. */
export const twoFactorCode: Rule<string | Missing> = {
  name: 'twoFactorCode',
  check: value =>
    isEmpty(value) ? broken('required') : new RegExp(`^\\d{${session.codeDigits}}$`).test(value!) ? true : broken('wrongFormat'),
};

/** One role, no more and no less; roles are chosen by id. */
export const role: Rule<unknown> = {
  name: 'role',
  check(value) {
    const chosen = Array.isArray(value) ? value : [value];
    return chosen.length === 1 && (wholeNumber(chosen[0]) ?? 0) > 0 ? true : broken('roleRequired');
  },
};

/** Selectable sites, domains or regions are capped at {n}. */
export const selection = (max: number): Rule<readonly unknown[] | Missing> => ({
  name: 'selection',
  check: value => ((value?.length ?? 0) > max ? broken('tooMany', { n: max }) : true),
});

/** `fields` (counts) are required, and greater than 0, only when the row is enabled. */
export const requiredWhenEnabled = (...fields: string[]): Rule<Readonly<Record<string, unknown>>> => ({
  name: 'requiredWhenEnabled',
  check: value =>
    value['enabled'] ? answer(fields.flatMap((field): Problem[] => at(field, positive.check(value[field])))) : true,
});

/** A name of the IANA time zone database; an offset is none: `+08:00` reads as UTC−8 to PostgreSQL (POSIX signs). */
export const timezone: Rule<string | Missing> = {
  name: 'timezone',
  check(value) {
    if (isEmpty(value)) return broken('required');
    if (!/^[A-Za-z][A-Za-z0-9_/+-]{0,63}$/.test(value!)) return broken('timezone');
    try {
      new Intl.DateTimeFormat('en', { timeZone: value! });
      return true;
    } catch {
      return broken('timezone');
    }
  },
};

/** What an installation is called (contract/src/licence/licences.ts). */
export const installationID: Rule<string | Missing> = {
  name: 'installationID',
  check: value => (/^[A-Z2-7]{5}(?:-[A-Z2-7]{5}){3}$/.test(value ?? '') ? true : broken('wrongFormat')),
};

/** RFC 9562, 4: the id of a session. */
export const uuid: Rule<string | Missing> = {
  name: 'uuid',
  check: value => (/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value ?? '') ? true : broken('wrongFormat')),
};
