/** Everything thrown, on its way to the caller: an error of the catalogue, in the caller's language, and a line in the log when it is ours. */
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { errorBody, type ErrorContext, Fail, fail } from '#contract/errors.ts';

/** A line of the log; never carries bodies or credentials. */
export type Log = (level: 'warn' | 'error', message: string, data: Record<string, unknown>) => void;

/** Of a group of the way in what its own door asks; what it says to whoever has a session already reads as everywhere. */
export const contextOf = ({ routeOptions: { config } }: FastifyRequest): ErrorContext =>
  config.call?.group.isWayIn && config.call.auth === config.call.group.auth ? 'login' : 'session';

export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply, context: ErrorContext, log: Log) {
  const failure = toFail(error);
  // who is told what stands in the way (a node away, a supplier down) meets no fault of ours
  const isTurnedAway = failure.name === 'database' && failure.status === 503 && failure.cause === undefined;
  const isOurs = !isTurnedAway && (failure.name === 'unknown' || failure.name === 'database' || failure.cause !== undefined);
  if ((failure.status >= 500 && isOurs) || isDataError(failure.cause)) {
    const cause =
      failure.cause instanceof Error ? (failure.cause.stack ?? failure.cause.message) : String(failure.cause ?? failure.message);
    log('error', 'a call failed', {
      reqID: request.id,
      method: request.method,
      // what stands behind /join/ opens the door
      url: request.url.split('?')[0]!.replace(/^(\/+join\/).*/s, '$1…'),
      code: failure.code,
      cause,
    });
  }
  const language = request.headers['accept-language'] === undefined && request.actor ? request.actor.language : request.language;
  if (failure.status === 503) void reply.header('Retry-After', '5');
  if (failure.status === 429)
    void reply.header('Retry-After', String((failure.extra as { retryAfter?: number } | undefined)?.retryAfter ?? 60));
  // what is still to come of the request is not waited for
  if (failure.status === 408) void reply.header('Connection', 'close');
  return reply
    .code(failure.status)
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(errorBody(failure, language, context)));
}

/** A request that is no HTTP never becomes one of ours: it is refused on the socket. */
export function refuse(error: NodeJS.ErrnoException, socket: Socket) {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
  const body = JSON.stringify(errorBody(fail('parameter'), 'en_US'));
  if (socket.writable)
    socket.write(
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    );
  socket.destroy(error);
}

/** Class 22 of SQLSTATE: a value that PostgreSQL cannot take, so one that our schemas should not have let through. */
const isDataError = (error: unknown) => /^22[0-9A-Z]{3}$/.test((error as { code?: string } | undefined)?.code ?? '');

// Others held what this one needed for too long, or it took too long itself: nothing was done, and it may be sent again.
const busy = new Set(['55P03', '57014', '25P04', '40P01', '40001']);
// Class 08 of SQLSTATE, a server that goes or comes, no connection left: not now, but soon.
const isAway = (code: string | undefined) => /^(08[0-9A-Z]{3}|57P0[1-5]|53300)$/.test(code ?? '');

// what node and pg say when there is nobody, or no longer anybody, at the other end
const unreachable = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'ENOENT',
]);
const lostConnection =
  /^(Connection terminated|Client (has encountered a connection error|was closed)|timeout exceeded when trying to connect)/;

/** Anything thrown, as an error of the catalogue. */
export function toFail(error: unknown): Fail {
  if (error instanceof Fail) return error;
  const { code, statusCode, message, syscall } = error as {
    code?: string;
    statusCode?: number;
    message?: string;
    syscall?: string;
  };
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return new Fail('parameter', { status: 413, errorData: [{ path: '', rule: 'tooLarge' }] });
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE')
    return new Fail('parameter', { status: 415, errorData: [{ path: '', rule: 'json' }] });
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) return new Fail('parameter', { cause: error });
  if (isDataError(error)) return new Fail('parameter', { cause: error });
  const isLost = lostConnection.test(message ?? '') || (syscall !== undefined && unreachable.has(code ?? ''));
  if (busy.has(code ?? '') || isAway(code) || isLost) return new Fail('database', { cause: error, status: 503 });
  if (/^[0-9A-Z]{5}$/.test(code ?? '')) return new Fail('database', { cause: error });
  return new Fail('unknown', { cause: error });
}
