/**
 * The error catalogue (§8): name → code, HTTP status and the message in three languages. The English text is the
 * catalogue's, letter for letter; statuses follow "Wire" in the decisions (400 parameter, 401 session, 403 permission,
 * 404 unknown, 409 in use, duplicate or over a quota, 429 rate, 500 ours, 502 somebody behind us).
 * A part that speaks one language imports that language's file from errors/ and leaves this one out.
 */
import { errorCodes, type ErrorName } from './errors/codes.ts';
import * as en_US from './errors/en_US.ts';
import * as zh_CN from './errors/zh_CN.ts';
import * as zh_TW from './errors/zh_TW.ts';
import { fill } from './kit/text.ts';
import type { Language, Parameters, Text } from './kit/text.ts';
import { ruleText } from './rules/rule.ts';
import type { RuleName } from './rules/rule.ts';

export type { ErrorName } from './errors/codes.ts';
export type ErrorCode = number;

const names = Object.keys(errorCodes) as ErrorName[];
export const errorNames: readonly ErrorName[] = names;

type Entry = { readonly code: ErrorCode; readonly status: number; readonly text: Text };
export const errors = Object.fromEntries(
  names.map((name): [ErrorName, Entry] => {
    const [code, status] = errorCodes[name];
    return [name, { code, status, text: { zh_TW: zh_TW.texts[name], zh_CN: zh_CN.texts[name], en_US: en_US.texts[name] } }];
  }),
) as Readonly<Record<ErrorName, Entry>>;

/** Where a call is made: with a session, or on the way to one (login, verify and 2FA calls). */
export type ErrorContext = 'session' | 'login';

/** The second reading of a code (§8, decisions "Sessions"), used when the caller has no session yet. */
const secondOf = (name: 'invalidToken' | 'tokenExpired'): Text => ({
  zh_TW: zh_TW.secondTexts[name],
  zh_CN: zh_CN.secondTexts[name],
  en_US: en_US.secondTexts[name],
});
export const contextual = { invalidToken: secondOf('invalidToken'), tokenExpired: secondOf('tokenExpired') };

/** Shown where no better sentence exists (§8). */
export const genericMessage: Text = { zh_TW: zh_TW.generic, zh_CN: zh_CN.generic, en_US: en_US.generic };

const nameByCode = new Map<number, ErrorName>(names.map(name => [errors[name].code, name]));

/** The catalogue's name of a code, undefined for a code it does not hold. */
export function errorByCode(code: number): ErrorName | undefined {
  return nameByCode.get(code);
}

/** The message of an error in a language, with its `{num}` filled in; a remark whose number is unknown is left out. */
export function errorMessage(
  name: ErrorName,
  language: Language,
  params: Parameters = {},
  context: ErrorContext = 'session',
): string {
  const second = context === 'login' ? (contextual as Partial<Record<ErrorName, Text>>)[name] : undefined;
  return fill((second ?? errors[name].text)[language], params);
}

/** One broken field: `path` as in the body (`upstreams.0.port`), `rule` a name of rules.ts, its bounds if it has any. */
export type FieldError = {
  path: string;
  rule: RuleName;
  bounds?: Readonly<Record<string, string | number>>;
};

/** One line of 101009: which targets (names people know: domains, ids, addresses) failed with which code. */
export type MultipleError = {
  code: ErrorCode;
  message?: string;
  params?: Parameters;
  /** what is wrong with these, where the code alone (101003) does not say it */
  field?: Pick<FieldError, 'rule' | 'bounds'>;
  targets: string[];
};

export type FailOptions = {
  errorData?: unknown;
  /** what the console needs beside the message: the port of 401003 as text */
  extra?: unknown;
  params?: Parameters;
  /** another HTTP status than the catalogue's: a login over its rate is 429 */
  status?: number;
  /** for the log, never for the caller */
  cause?: unknown;
};

type NeedsNumber = 'illegalPortMapping' | 'simultaneousDownloads' | 'dailyDownloads';
type OptionsOf<Name extends ErrorName> = Name extends NeedsNumber
  ? [options: FailOptions & { params: { num: number } }]
  : [options?: FailOptions];

/** An error of the catalogue on its way to the caller. The message of the Error itself is English, for the log. */
export class Fail extends Error {
  /** the catalogue's name, so that a log line and a test read `permissionDenied` */
  override readonly name: ErrorName;
  readonly code: ErrorCode;
  readonly status: number;
  readonly errorData: unknown;
  readonly extra: unknown;
  readonly params: Parameters;

  constructor(name: ErrorName, options: FailOptions = {}) {
    super(errorMessage(name, 'en_US', options.params), options.cause === undefined ? undefined : { cause: options.cause });
    this.name = name;
    this.code = errors[name].code;
    this.status = options.status ?? errors[name].status;
    this.errorData = options.errorData;
    this.params = options.params ?? {};
    // the console reads the port of 401003 from `extra` (§8, client behaviour on error)
    this.extra = options.extra ?? (name === 'illegalPortMapping' ? String(this.params['num']) : undefined);
  }
}

/** `throw fail('illegalPortMapping', { params: { num: 8443 } })` */
export function fail<Name extends ErrorName>(name: Name, ...[options]: OptionsOf<Name>): Fail {
  return new Fail(name, options);
}

const isFieldError = (value: unknown): value is FieldError =>
  typeof value === 'object' &&
  value !== null &&
  'path' in value &&
  typeof value.path === 'string' &&
  'rule' in value &&
  typeof value.rule === 'string';
/** What is wrong, where that is one sentence of a rule. */
export function brokenOf({ errorData }: Fail): FieldError | undefined {
  const first: unknown = Array.isArray(errorData) ? errorData[0] : undefined;
  return isFieldError(first) ? first : undefined;
}

/** Rules that say what others have or use, which has no code of its own in §8: 409, as of all that is "in use" or a duplicate (decisions, Wire). */
const conflictRules: ReadonlySet<RuleName> = new Set([
  'zoneOfAnother',
  'zoneInUse',
  'zoneUnsure',
  'zoneDelegated',
  'zoneAboveUnseen',
  'zoneRemembered',
  'dnsInUse',
  'dnsLeaving',
]);
/** 101003 with the fields that are broken; nothing but `conflictRules`: 409. */
export function failFields(fields: FieldError[]): Fail {
  const isConflict = fields.length > 0 && fields.every(one => conflictRules.has(one.rule));
  return new Fail('parameter', { errorData: fields, ...(isConflict && { status: 409 }) });
}

/** 101009: what succeeded stays, these did not. Messages are filled in from the codes, in the caller's language. */
export function multipleErrors(items: MultipleError[]): Fail {
  return new Fail('multiple', { errorData: items });
}

export type ErrorBody = {
  isError: true;
  code: ErrorCode;
  message: string;
  errorData?: unknown;
  extra?: unknown;
};

/** The body of an error answer, in the caller's language. */
export function errorBody(failure: Fail, language: Language, context: ErrorContext = 'session'): ErrorBody {
  const body: ErrorBody = {
    isError: true,
    code: failure.code,
    message: errorMessage(failure.name, language, failure.params, context),
  };
  // of the call as a whole: the code's own text does not say it (of 101003 the reader's side puts it into words)
  const broken = brokenOf(failure);
  if (broken?.path === '' && failure.name !== 'parameter') body.message = sentenceOf(body.message, broken, language);
  if (failure.name === 'multiple' && Array.isArray(failure.errorData)) {
    body.errorData = (failure.errorData as MultipleError[]).map(item => multipleLine(item, language, context));
  } else if (failure.errorData !== undefined) body.errorData = failure.errorData;
  if (failure.extra !== undefined) body.extra = failure.extra;
  return body;
}

const sentenceOf = (text: string, field: NonNullable<MultipleError['field']>, language: Language) =>
  `${text}${language === 'en_US' ? ': ' : '：'}${ruleText(field, language)}`;

function multipleLine(item: MultipleError, language: Language, context: ErrorContext) {
  const name = errorByCode(item.code);
  const text = item.message ?? (name ? errorMessage(name, language, item.params, context) : genericMessage[language]);
  const message = item.field ? sentenceOf(text, item.field, language) : text;
  return { code: item.code, message, targets: item.targets };
}
