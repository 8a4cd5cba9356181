/** The contract's schemas in the browser, loaded when the first form opens: a form is checked by the very schema the server uses. */
import folders from 'virtual:schemas';
import { area } from './area.ts';
import type { CallKey } from './client.ts';
import type * as contract from './contract.ts';
import type { FieldProblem } from './errors.ts';
import { placeOf } from './permissions.ts';

type Contract = typeof contract;
let loading: Promise<Contract> | undefined;

export function loadContract(): Promise<Contract> {
  return (loading ??= import('./contract.ts').catch((error: unknown) => {
    loading = undefined;
    throw error;
  }));
}

/** The folder of the contract that declares a call, which alone has its schemas; undefined where this area has no such call. */
const declarationsOf = (key: CallKey) => {
  const place = placeOf(key);
  return folders.findLast(([first]) => first <= place)?.[1]();
};

export interface BodyCheck {
  /** What is wrong with a body, in the words of the rules. */
  problems(body: unknown): FieldProblem[];
  /** Whether the field at this path may stay empty; `isThere`: it has a value, which leaving it out would not take away. */
  isOptional(path: readonly (string | number)[], isThere?: boolean): boolean;
}

export async function bodyCheck(key: CallKey): Promise<BodyCheck> {
  const [{ bodyOf, check, isOptional }, declared] = await Promise.all([loadContract(), declarationsOf(key)]);
  const schema = declared && bodyOf(declared, key, area);
  return {
    problems: body => (schema ? check(schema, body) : []),
    isOptional: (path, isThere) => (schema ? isOptional(schema, path, isThere) : true),
  };
}
