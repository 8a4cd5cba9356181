/** What a call was given, as its declaration has it. */
import type { FastifyRequest } from 'fastify';
import * as z from 'zod/mini';
import { fail } from '#contract/errors.ts';
import type { Mounted } from '#contract/kit/call.ts';
import { problems } from './schema.ts';

export const noQuery = z.strictObject({});
export const noBody = z.optional(z.strictObject({}));

/** What is wrong goes to `issues`, so that all of it is told at once. */
export function parse(schema: z.ZodMiniType, value: unknown, issues: ReturnType<typeof problems>[]): unknown {
  const result = z.safeParse(schema, value ?? undefined);
  if (result.success) return result.data;
  issues.push(problems(result.error, value));
  return undefined;
}

/** Every path parameter is a positive integer; anything else is no path of ours (101004). */
export function pathIDs(request: FastifyRequest, call: Mounted): Record<string, number> {
  const given = request.params as Record<string, string>;
  const params: Record<string, number> = {};
  for (const name of call.params) {
    if (!/^[1-9]\d{0,14}$/.test(given[name] ?? '')) throw fail('pathInvalid');
    params[name] = Number(given[name]);
  }
  return params;
}
