/** Where secrets may not stand: columns, inputs and answers whose names look like one are marked, or listed with a reason. */
import type * as z from 'zod/mini';
import type { Mounted } from '#contract/kit/call.ts';
import { confidentialNames } from '#contract/kit/secret.ts';
import type { Table } from '#server/kit/table.ts';
import { bare, defOf } from './generate.ts';

/** `password`, `apiToken`, `privateKey`; not `keyword`, `permissionKeys`. */
export const looksSecret = (name: string): boolean =>
  /(?:^|[a-z])(?:password|token|secret|credentials?|private|hash|vcode|passphrase)$/i.test(name) || /(?:^key|Key)$/.test(name);

/** `reasons`: by `table.column`, for those that are not marked. */
export function columnProblems(
  columns: readonly { table: string; column: string }[],
  tables: readonly Table[],
  reasons: Readonly<Record<string, string>>,
): string[] {
  const marks = (one: Table) => [...(one.secret ?? []), ...(one.sealed ?? [])];
  const marked = new Set(tables.flatMap(one => marks(one).map(column => `${one.table}.${column}`)));
  const known = new Set(columns.map(({ table, column }) => `${table}.${column}`));
  return [
    ...[...known]
      .filter(name => looksSecret(name.split('.')[1]!) && !marked.has(name) && !reasons[name])
      .map(name => `${name} looks like a secret: mark it in its table (secret, sealed), or say here why it is none`),
    ...[...marked].filter(name => !known.has(name)).map(name => `${name} is marked, and is no column`),
    ...Object.keys(reasons)
      .filter(name => !known.has(name) || marked.has(name))
      .map(name => `${name} needs no reason`),
    ...tables.flatMap(one =>
      marks(one)
        .filter(column => one.sort?.includes(column) || column in (one.filters ?? {}))
        .map(column => `${one.table} is sorted or searched by ${column}`),
    ),
  ];
}

function* fieldsIn(schema: z.ZodMiniType): Generator<string> {
  const def = defOf(bare(schema));
  for (const [name, field] of Object.entries(def.shape ?? {})) {
    // yes or no is no secret, nor is one of a few words that everybody knows
    if (!['boolean', 'enum'].includes(defOf(bare(field)).type)) yield name;
    yield* fieldsIn(field);
  }
  if (def.element) yield* fieldsIn(def.element);
  for (const option of def.options ?? []) yield* fieldsIn(option);
}
const lineOf = (call: Mounted) => `${call.method} ${call.path}`;

/** `reasons`: by `METHOD /path field`. */
export function bodySecretProblems(calls: readonly Mounted[], reasons: Readonly<Record<string, string>>): string[] {
  return calls.flatMap(call =>
    (['query', 'body'] as const).flatMap(part => {
      const schema = call.def[part];
      if (!schema) return [];
      // an address is written down whole, by everybody on the way
      const names = part === 'body' ? confidentialNames(schema) : new Set<string>();
      return [...new Set(fieldsIn(schema))]
        .filter(name => looksSecret(name) && !names.has(name) && !reasons[`${lineOf(call)} ${name}`])
        .map(name => `${lineOf(call)}: ${name} looks like a secret and is not marked`);
    }),
  );
}

/**
 * `columns`: names of marked columns, which no answer has; `reasons`: by field, for what else looks like a secret, or by `METHOD /path field`,
 * where a word is also a marked column's.
 */
export function answerSecretProblems(
  calls: readonly Mounted[],
  columns: readonly string[],
  reasons: Readonly<Record<string, string>>,
): string[] {
  return calls.flatMap(call =>
    call.def.answer
      ? [...new Set(fieldsIn(call.def.answer))]
          .filter(name => !reasons[`${call.key} ${name}`] && (columns.includes(name) || (looksSecret(name) && !reasons[name])))
          .map(name => `${lineOf(call)} answers ${name}`)
      : [],
  );
}
