/** What was refused, in the audit. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { confidentialNames } from '#contract/kit/secret.ts';
import type { Mounted } from '#contract/kit/call.ts';
import { flushMs } from './audit-folds.ts';
import { boundedBody } from './audit-room.ts';
import { audit, auditDay, reasonOf, redact } from './context.ts';
import { type Log, toFail } from './failures.ts';
import { isUnwritten } from './quiet.ts';
import { Seldom } from './seldom.ts';
import type { Services } from './services.ts';

/** Who is told before its request is even read, that it may not, can send thousands: one line in a minute says as much. */
export const turnedAway = new Seldom(60_000);
const turnedAwayBy = new Set(['accountNotEnabled', 'permissionDenied']);
/** Characters of a body that is written down although it did nothing; it may be a megabyte. */
const bodyMax = 2000;

/** A change that was refused leaves a line as well: who wished what, and why not. What fails by our own fault is in the log. */
export async function auditRefusal(error: unknown, request: FastifyRequest, reply: FastifyReply, services: Services, log: Log) {
  const { call } = request.routeOptions.config;
  const failure = toFail(error);
  if (!call?.auditsRefusals || !request.actor || request.isAudited || failure.status >= 500 || isUnwritten(failure)) return;
  const isEarly = !request.isRead && turnedAwayBy.has(failure.name);
  if (isEarly && !turnedAway.isTime(`${failure.name} ${request.actor.sessionID}`)) return;
  try {
    await audit(services, services.database.db, {
      ...lineOf(request, call),
      body: request.isRead
        ? boundedBody(redact(request.body ?? null, { names: confidentialNames(call.def.body) }), bodyMax)
        : null,
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
  url: request.url.slice(0, 2000),
  permission: call.permission,
  confidential: confidentialNames(call.def.body),
  ip: request.ip,
});

/** What was only counted for the audit is written every few seconds, and at the end. */
export function keepFolds(app: FastifyInstance, { services: { database }, log }: { services: Services; log: Log }) {
  const flush = () =>
    auditDay(database)
      .folds.flush(database.db)
      .catch((cause: unknown) => log('warn', 'what was refused could not be written down', { cause: String(cause) }));
  const timer = setInterval(flush, flushMs).unref();
  app.addHook('onClose', async () => {
    clearInterval(timer);
    await flush();
  });
}
