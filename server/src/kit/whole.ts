/** A row as it will be after a change, judged as a new one would be. */
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import { failFields, type FieldError } from '#contract/errors.ts';
import { problems } from './schema.ts';

type Row = Record<string, unknown>;

/** `blind`: a field is of no type or choice there is, and then rules over several fields are not asked. */
function judged(item: z.ZodMiniType, row: Row): { found: FieldError[]; blind: boolean } {
  const { success, error } = z.safeParse(item, row);
  if (success) return { found: [], blind: false };
  return {
    found: problems(error, row),
    blind: error.issues.some(({ code }) => code.startsWith('invalid_') && code !== 'invalid_format'),
  };
}

/** A problem by what is wrong, not by its place in a list. */
function nameOf({ path, rule }: FieldError, row: Row): string {
  const steps = path.split('.');
  // whatever a body holds
  const value = steps.reduce<unknown>((at, step) => (at as Row | null | undefined)?.[step], row);
  return JSON.stringify([steps.filter(step => !/^\d+$/.test(step)), rule, value]);
}

/** What nobody judges: it is said of a row that does nothing. */
const harmless = ['enabled', 'memo'];

/**
 * What keeps a row from becoming `after`. What was wrong with it already an earlier release let in: it keeps nobody from changing
 * something else, or from switching the row off, which is what one wants first in an outage. Whoever switches it on mends it first.
 */
export function wholeProblems(item: z.ZodMiniType, before: Row, after: Row): FieldError[] {
  const { found, blind } = judged(item, after);
  if (!found.length || (before['enabled'] === false && after['enabled'] !== false)) return found;
  const isSame = (name: string) => isDeepStrictEqual(before[name], after[name]);
  if (blind && !Object.keys(after).every(name => harmless.includes(name) || isSame(name))) return found;
  const stood = new Set(judged(item, before).found.map(one => nameOf(one, before)));
  // that it is over is no release's doing: only more time brings a row back
  return found.filter(one => one.rule === 'isOver' || !stood.has(nameOf(one, after)));
}

/** Rules that look at several fields hold for the row as it will be, not for the part of it that was sent. @throws 101003 */
export function checkWhole(item: z.ZodMiniObject, before: Row, patch: Row): void {
  const of = (given: Row) =>
    Object.fromEntries(Object.keys(item.shape).map(name => [name, given[name] === undefined ? before[name] : given[name]]));
  const wrong = wholeProblems(item, of({}), of(patch));
  if (wrong.length) throw failFields(wrong);
}
