/** One call over many rows: sent in turns of as many ids as it takes, and what failed told together. */
import { bulk } from '#contract/limits.ts';
import { codeOf, isError } from './error-code.ts';
import { ApiError } from './transport.ts';
import type { Row } from './resource.ts';

interface Failed {
  code: number;
  message: string;
  targets: string[];
}
const isFailed = (one: Partial<Failed> | null): one is Failed => typeof one?.code === 'number' && Array.isArray(one.targets);
const failuresOf = ({ errorData }: ApiError): Failed[] => (Array.isArray(errorData) ? errorData.filter(isFailed) : []);
const areIDs = (value: unknown): value is number[] => Array.isArray(value) && value.every(one => typeof one === 'number');

/** Bodies of at most `bulk.idsMax` ids each, out of one whose list of ids is longer. */
export function turnsOf(body: unknown): unknown[] {
  if (typeof body !== 'object' || body === null) return [body];
  for (const [name, ids] of Object.entries(body)) {
    if (!areIDs(ids) || ids.length <= bulk.idsMax) continue;
    const count = Math.ceil(ids.length / bulk.idsMax);
    return Array.from({ length: count }, (_, turn) => ({
      ...body,
      [name]: ids.slice(turn * bulk.idsMax, (turn + 1) * bulk.idsMax),
    }));
  }
  return [body];
}

/**
 * `send` makes the call with a part of the body.
 *
 * @throws ApiError 101009 with what failed in any turn; any other failure ends it at once
 */
export async function inTurns(body: unknown, send: (part: unknown) => Promise<unknown>): Promise<void> {
  const failed: Failed[] = [];
  for (const part of turnsOf(body))
    try {
      await send(part);
    } catch (error) {
      if (!isError(error, 'multiple')) throw error;
      failed.push(...failuresOf(error));
    }
  if (failed.length) throw new ApiError({ code: codeOf('multiple'), message: '', errorData: failed });
}

/** 101009 of a call that has begun a task all the same, of those that did not fail: which, in `extra`. */
export function hasBegun(error: unknown): error is ApiError & { extra: { taskID: number } } {
  if (!isError(error, 'multiple')) return false;
  const { extra } = error;
  return typeof extra === 'object' && extra !== null && 'taskID' in extra && typeof extra.taskID === 'number';
}

/** Of rows that were sent together: those that failed and are still there, to be tried again. */
export function failedRows(error: unknown, rows: readonly Row[], nameOf: (row: Row) => string): Row[] {
  if (!isError(error, 'multiple')) return [];
  const names = new Set<string>();
  const gone = new Set<string>();
  // what is gone is told by its id, what is there by its name
  for (const { code, targets } of failuresOf(error))
    for (const target of targets) (code === codeOf('parameter') && /^\d+$/.test(target) ? gone : names).add(String(target));
  return rows.filter(row => names.has(nameOf(row)) && !gone.has(String(row.id)));
}
