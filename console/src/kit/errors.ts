/** The one error map (§8, client behaviour on error): what people see of an error, decided without drawing anything. */
import type { ErrorName } from '#contract/errors/codes.ts';
import { caps } from '#contract/limits.ts';
import { codeOf } from './error-code.ts';
import { ApiError, isSessionCode } from './transport.ts';

/** One line of 101009: what went wrong, and for whom. */
export interface ErrorGroup {
  code: number;
  text: string;
  targets: string[];
}
export interface FieldProblem {
  path: string;
  rule: string;
  bounds?: Record<string, string | number>;
  /** The sentence as it is, where no rule has one. */
  text?: string;
}
export type Presented =
  | { kind: 'none' }
  | { kind: 'message'; level: 'error' | 'info'; text: string }
  | { kind: 'multiple'; groups: ErrorGroup[] }
  /** 101003: `text` is for callers that have no field to put it under */
  | { kind: 'fields'; fields: FieldProblem[]; text: string };

export interface PresentOptions {
  /** Codes this call's screen says nothing about (10102502 of the custom headers). */
  suppress?: readonly number[];
  /** What 101025 means on this screen. */
  duplicate?: () => string;
  /** The field of the form that a code speaks of: its sentence stands there, also when the screen itself says nothing. */
  fields?: Readonly<Partial<Record<ErrorName, string>>>;
  /** A sentence of the screen that comes before what the server says ("Create Role Failed !"). */
  otherwise?: string;
  /** Names of what was asked for, by its id: what is gone already the server knows by that alone. */
  names?: Readonly<Record<string, string>>;
  /** Exports a day, of this account. */
  maxLogExportTimes?: number;
}
export interface ErrorTexts {
  /** The catalogue's text of a code in the reader's language; undefined for a code it does not hold. */
  of(code: number, params?: Record<string, string | number>): string | undefined;
  /** The sentence of a rule, in the reader's language. */
  rule(problem: FieldProblem): string;
  generic: string;
}

const multiple = codeOf('multiple');
const parameter = codeOf('parameter');
const permissionDenied = codeOf('permissionDenied');
const duplicated = codeOf('duplicated');
const illegalPortMapping = codeOf('illegalPortMapping');
const simultaneousDownloads = codeOf('simultaneousDownloads');
const dailyDownloads = codeOf('dailyDownloads');

export function presentError(
  error: unknown,
  texts: ErrorTexts,
  options: PresentOptions = {},
  log: (...args: unknown[]) => void = console.error,
): Presented {
  const message = (text: string | undefined): Presented => ({ kind: 'message', level: 'error', text: text || texts.generic });
  if (!(error instanceof ApiError)) {
    log(error);
    return message(undefined);
  }
  const { code } = error;
  const at = Object.entries(options.fields ?? {}).find(([name]) => codeOf(name as ErrorName) === code)?.[1];
  if (at) {
    const meant = code === duplicated ? options.duplicate?.() : undefined;
    const text = meant ?? texts.of(code) ?? (error.message || texts.generic);
    return { kind: 'fields', fields: [{ path: at, rule: 'unknown', text }], text };
  }
  if (options.suppress?.includes(code)) return { kind: 'none' };
  // The transport has ended the session and said so.
  if (isSessionCode(code)) return { kind: 'none' };
  switch (code) {
    case 0:
      log(error);
      return message(undefined);
    case permissionDenied:
      return message(texts.of(code));
    case duplicated:
      return message(options.duplicate?.() ?? texts.of(code));
    case illegalPortMapping:
      return message(texts.of(code, numberIn(error.extra)));
    case simultaneousDownloads:
      return message(texts.of(code, { num: caps.simultaneousExportsMax }));
    case dailyDownloads:
      return message(texts.of(code, options.maxLogExportTimes === undefined ? {} : { num: options.maxLogExportTimes }));
    case multiple:
      return { kind: 'multiple', groups: groupsOf(error.errorData, texts, log, options.names) };
    case parameter: {
      const fields = fieldsOf(error.errorData);
      // the call as a whole: too many at once, too large
      if (fields.length && fields.every(field => field.path === '')) return message(fields.map(texts.rule).join('\n'));
      if (fields.length) return { kind: 'fields', fields, text: error.message };
      return message(error.message);
    }
  }
  if (texts.of(code) === undefined) log(`unknown error code ${code}`, error);
  return message(options.otherwise ? `${options.otherwise}\n${error.message}` : error.message);
}

/** The port of 401003 out of its extra text, which may be the bare number or a sentence around it. */
function numberIn(extra: unknown): Record<string, string> {
  const port = /\d+/.exec(typeof extra === 'object' ? JSON.stringify(extra) : String(extra ?? ''))?.[0];
  return port ? { num: port } : {};
}

function groupsOf(
  errorData: unknown,
  texts: ErrorTexts,
  log: (...args: unknown[]) => void,
  names: PresentOptions['names'] = {},
): ErrorGroup[] {
  const groups = new Map<string, ErrorGroup>();
  for (const item of Array.isArray(errorData) ? (errorData as Partial<ErrorGroup & { message: string }>[]) : []) {
    const code = Number(item.code ?? 0);
    const known = texts.of(code);
    if (known === undefined) log(`unknown error code ${code}`, item);
    // The server's line has its numbers filled in, in the reader's language; the catalogue's stands in where it is missing.
    const text = item.message || known || texts.generic;
    const group = groups.get(`${code} ${text}`) ?? { code, text, targets: [] };
    const nameOf = (target: string) => (code === parameter && names[target]) || target;
    group.targets.push(...(item.targets ?? []).map(String).map(nameOf));
    groups.set(`${code} ${text}`, group);
  }
  return [...groups.values()].sort((a, b) => a.code - b.code);
}

export function fieldsOf(errorData: unknown): FieldProblem[] {
  if (!Array.isArray(errorData)) return [];
  return errorData.filter((item): item is FieldProblem => typeof item?.path === 'string' && typeof item?.rule === 'string');
}

/** The dialog of 101009 as text for the clipboard. */
export function groupsAsText(groups: ErrorGroup[]): string {
  return groups.map(group => `${group.code} ${group.text}\n${group.targets.map(target => `  ${target}`).join('\n')}`).join('\n');
}
