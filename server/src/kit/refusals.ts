/** What was refused, in the audit. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Fail } from '#contract/errors.ts';
import type { Mounted } from '#contract/kit/call.ts';
import { audit, reasonOf } from './context.ts';
import { type Log, toFail } from './failures.ts';
import type { Services } from './services.ts';

/** Refusals that say what a line says already: a flood of tries is no flood of lines. */
const quiet = new WeakSet<Fail>();
export function unwritten(failure: Fail): Fail {
  quiet.add(failure);
  return failure;
}

/** A change that was refused leaves a line as well: who wished what, and why not. What fails by our own fault is in the log. */
export async function auditRefusal(error: unknown, request: FastifyRequest, reply: FastifyReply, services: Services, log: Log) {
  const { call } = request.routeOptions.config;
  const failure = toFail(error);
  if (!call?.audit || !request.actor || request.isAudited || failure.status >= 500 || quiet.has(failure)) return;
  try {
    await audit(services.database.db, {
      ...lineOf(request, call),
      body: request.isRead ? request.body : null,
      changes: [],
      status: failure.status,
      durationMs: reply.elapsedTime,
      reason: reasonOf(failure),
    });
  } catch (cause) {
    log('warn', 'a refusal could not be written down', { reqID: request.id, cause: String(cause) });
  }
}

/** What every line says of its request. */
export const lineOf = (request: FastifyRequest, call: Mounted) => ({
  reqID: request.id,
  actor: request.actor!,
  method: call.method,
  url: request.url,
  permission: call.permission,
  ip: request.ip,
});
