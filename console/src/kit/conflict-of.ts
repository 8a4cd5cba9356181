/** Two people changed one row: what the server tells of it, field by field (conflict.tsx shows it). */
import { isSame } from './form-state.ts';
import type { FieldName, FormField, Values } from './resource.ts';
import { textOf } from './text.ts';
import { ApiError } from './transport.ts';

/** What 409 tells (server/src/kit/stale.ts). */
interface Told {
  version: number;
  now: Values;
  by: string | null;
  at: string | null;
}
interface Side {
  name: string;
  label: string;
  theirs: unknown;
  mine: unknown;
  /** The person changed it too; what was left alone goes to whoever changed it. */
  isMine: boolean;
}
export interface Conflict extends Told {
  sides: Side[];
}

/**
 * The conflict an error tells of; undefined where it tells of something else. `base`: the values the form began with. A field that is as it
 * was when the form was opened was changed here alone: without any other there is nothing to choose, and the newer version may be replaced.
 */
export function conflictOf(error: unknown, fields: readonly FormField[], base: Values, mine: Values): Conflict | undefined {
  if (!(error instanceof ApiError) || error.status !== 409 || !Array.isArray(error.errorData)) return undefined;
  // the fields of a 101003 (contract/src/errors.ts)
  const names = (error.errorData as { path: string; rule: string }[]).filter(one => one.rule === 'stale').map(one => one.path);
  // what the server says beside a stale row
  const told = error.extra as Told | undefined;
  if (!names.length || !told?.now) return undefined;
  const sides = names
    .filter(name => !(name in base) || !isSame(told.now[name], base[name]))
    .map((name): Side => {
      const field = fields.find(one => one.name === name);
      const label = textOf(`field.${(field?.label ?? name) as FieldName}`) ?? name;
      return { name, label, theirs: told.now[name], mine: mine[name], isMine: !isSame(base[name], mine[name]) };
    });
  return { ...told, sides };
}
