/**
 * What the specification says a call takes and answers (inputs.txt), against what is mounted. A line of inputs.txt is
 * `METHOD path ? query parameters | body fields -> answer fields`; `{area}` stands for all three areas, `{uc}` for user and client, `{S}` for
 * `/user/site/{siteID}` and `/client/site/{siteID}`; `list` is `page pageSize sortBy orderBy`, `record` what every record carries;
 * `items{a b}` are the fields of each item. The answer of a list is that of its rows.
 */
import type * as z from 'zod/mini';
import type { Mounted } from '#contract/kit/call.ts';
import { record } from '#contract/kit/schema.ts';
import { lineOf } from './declarations.ts';

/** The issues that owe something; an input waits for one of them. */
export const issues = [
  'analytics',
  'fleet',
  'ground',
  'issue',
  'layer4',
  'operations',
  'people',
  'protection',
  'resolution',
  'sites',
  'tls',
  'traffic',
  'waf',
] as const;
export type Issue = (typeof issues)[number];

export interface Asked {
  key: string;
  /** `? page`, `| items.type`, `-> name` */
  fields: string[];
}
const shorthand: Record<string, readonly string[]> = {
  list: ['page', 'pageSize', 'sortBy', 'orderBy'],
  record: Object.keys(record),
};
const marks = ['?', '|', '->'] as const;
type Mark = (typeof marks)[number];

/** @throws when a line is not of the form */
export function askedOf(line: string): Asked {
  const match = /^([A-Z]+ \S+)(?: \? ([^|>]*?))?(?: \| ([^>]*?))?(?: -> (.*))?$/.exec(line);
  if (!match) throw new Error(`not 'METHOD path ? query | body -> answer': ${line}`);
  return { key: match[1]!, fields: marks.flatMap((mark, i) => namesOf(match[i + 2] ?? '').map(name => `${mark} ${name}`)) };
}

/** `a items{b c{d}}` → a, items, items.b, items.c, items.c.d */
function namesOf(text: string): string[] {
  const names: string[] = [];
  const path: string[] = [];
  for (const token of text.match(/[^\s{}]+|[{}]/g) ?? [])
    if (token === '{') path.push(names.at(-1)!);
    else if (token === '}') path.pop();
    else for (const name of shorthand[token] ?? [token]) names.push([...path.slice(-1), name].join('.'));
  return names;
}

const forms: Record<string, readonly string[]> = {
  '/{area}': ['/user', '/client', '/admin'],
  '/{uc}': ['/user', '/client'],
  '{S}': ['/user/site/{siteID}', '/client/site/{siteID}'],
};
/** The calls of a line. */
export function callsOf(key: string): string[] {
  const form = Object.keys(forms).find(one => key.includes(` ${one}`));
  return form ? forms[form]!.map(path => key.replace(form, path)) : [key];
}

type Def = { type: string; innerType?: unknown; element?: unknown; shape?: Record<string, unknown> };
const defOf = (schema: unknown) => (schema as z.core.$ZodType)._zod.def as unknown as Def;
/** The fields of an object, or of the objects of an array, below optional and nullable. */
function shapeOf(schema: unknown): Record<string, unknown> {
  const { innerType, element, shape } = defOf(schema);
  return innerType || element ? shapeOf(innerType ?? element) : (shape ?? {});
}
function paths(schema: unknown, path = ''): string[] {
  return Object.entries(shapeOf(schema)).flatMap(([name, field]) => [path + name, ...paths(field, `${path}${name}.`)]);
}

/** What a mounted call takes and answers, in the words of `askedOf`. */
export function fieldsOf({ def }: Pick<Mounted, 'def'>): Set<string> {
  const answer = def.answer ? shapeOf(def.answer) : {};
  const rows = 'data' in answer && 'total' in answer ? answer['data'] : def.answer;
  const of = (mark: Mark, schema: unknown) => (schema ? paths(schema).map(name => `${mark} ${name}`) : []);
  return new Set([...of('?', def.query), ...of('|', def.body), ...of('->', rows)]);
}

/** The lines name each call of the specification once, and nothing else. */
export function lineProblems(lines: readonly Asked[], calls: readonly string[]): string[] {
  const named = lines.flatMap(line => callsOf(line.key));
  return [
    ...calls.filter(call => !named.includes(call)).map(call => `${call}: inputs.txt does not say what it takes`),
    ...named.filter(call => !calls.includes(call)).map(call => `${call}: in inputs.txt, but nobody asked for it`),
    ...named.filter((call, i) => named.indexOf(call) !== i).map(call => `${call}: twice in inputs.txt`),
  ];
}

/** `key` of inputs.txt → field → the issue it waits for */
export type Missing = Readonly<Record<string, Partial<Record<Issue, string>>>>;
/** The lines of a list of what is missing: `-> scheme portMap` is two. */
export const missingOf = (missing: Missing) =>
  Object.entries(missing).flatMap(([key, waits]) =>
    Object.entries(waits).flatMap(([issue, text]) => askedOf(`X x ${text}`).fields.map(field => ({ key, field, issue }))),
  );

/** Every input and field of a mounted call is there or on the list, never both; the list names nothing that nobody asked for. */
export function missingProblems(asked: readonly Asked[], calls: readonly Mounted[], missing: Missing): string[] {
  const built = new Map(calls.map(call => [lineOf(call), fieldsOf(call)]));
  const listed = missingOf(missing);
  const isListed = new Set(listed.map(({ key, field }) => `${key} ${field}`));
  const known = new Map(asked.map(line => [line.key, line]));
  const mountsOf = (key: string) => callsOf(key).filter(call => built.has(call));
  return [
    ...asked.flatMap(({ key, fields }) =>
      mountsOf(key).flatMap(call =>
        fields
          .filter(field => !built.get(call)!.has(field) && !isListed.has(`${key} ${field}`))
          .map(field => `${call} lacks ${field}`),
      ),
    ),
    ...listed.flatMap(({ key, field, issue }) => {
      const mounts = mountsOf(key);
      if (!known.get(key)?.fields.includes(field)) return [`${key} ${field}: on the list, but nobody asked for it`];
      if (!issues.includes(issue as Issue)) return [`${key} ${field}: waits for ${issue}, which is no issue`];
      if (!mounts.length) return [`${key}: on the list, but not mounted: not-yet.ts says so`];
      return mounts.every(call => built.get(call)!.has(field)) ? [`${key} ${field}: built, so take it off the list`] : [];
    }),
  ];
}
