/**
 * How bodies are received: what a caller says it will send, and does not, would be held in memory for as long as the caller likes. So a body
 * goes on arriving, or is not waited for; that of a stranger is small.
 */
import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { Fail, failFields } from '#contract/errors.ts';
import type { Mounted } from '#contract/kit/call.ts';
import { BodyBytes } from './bodies.ts';
import { badText } from './text.ts';

/**
 * In each such time so much of a body has to come: 13 kbit/s, what the slowest of lines does several times over. `windows`: of these it may
 * take as many where others wait for its place.
 */
const paces = { windowMs: 10_000, bytes: 16_384, windows: 6 } as const;
export type Pace = { readonly [K in keyof typeof paces]: number };

const usualBytes = 1_048_576;
/** The largest that is valid in a call without an account (a passkey's answer) has 23,000; server/test/receive.test.ts */
export const openBytes = 32_768;
/** Bytes of a body, or of each file of a form. */
export const bytesMax = ({ auth, def }: Pick<Mounted, 'auth' | 'def'>): number =>
  def.bodyLimit ?? (auth === 'public' || auth === 'node' ? openBytes : usualBytes);

const tooLarge = () => new Fail('parameter', { status: 413, errorData: [{ path: '', rule: 'tooLarge' }] });
const tooSlow = () => new Fail('parameter', { status: 408, errorData: [{ path: '', rule: 'tooSlow' }] });

/**
 * What reads a body, as long as that goes on arriving.
 * @param isWaitedFor whether it has a place that others wait for
 * @throws 101003 `tooSlow` with status 408; what was read is let go with the connection, which its answer closes
 */
export async function inTime<T>(
  { raw: { socket } }: FastifyRequest,
  reading: Promise<T>,
  pace: Pace = paces,
  isWaitedFor = () => false,
): Promise<T> {
  const slow = Promise.withResolvers<never>();
  let seen = socket.bytesRead;
  let windows = 0;
  const look = () => {
    windows++;
    if (socket.bytesRead - seen < pace.bytes || (windows >= pace.windows && isWaitedFor())) slow.reject(tooSlow());
    seen = socket.bytesRead;
  };
  // what came while this process was busy is read first
  const timer = setInterval(() => setImmediate(look), pace.windowMs).unref();
  try {
    return await Promise.race([reading, slow.promise]);
  } finally {
    clearInterval(timer);
  }
}

async function receiveText(request: FastifyRequest, payload: Readable, most: number, pace?: Pace): Promise<string> {
  if (Number(request.headers['content-length']) > most) throw tooLarge();
  const { socket } = request.raw;
  const gone = Promise.withResolvers<never>();
  const held = new BodyBytes(request, () => gone.reject(tooSlow()));
  const letGo = () => held.letGo();
  request.letGo = () => {
    socket.off('close', letGo);
    letGo();
  };
  socket.once('close', letGo);
  const read = async () => {
    const chunks: Buffer[] = [];
    let length = 0;
    // the connection stays: a refusal is told on it
    for await (const chunk of payload.iterator({ destroyOnReturn: false })) {
      const part: Buffer = chunk;
      const before = Math.max(length, openBytes);
      if ((length += part.length) > most) throw tooLarge();
      if (length > before) held.add(length - before);
      chunks.push(part);
    }
    held.hasArrived();
    return Buffer.concat(chunks, length).toString();
  };
  try {
    return await inTime(request, Promise.race([read(), gone.promise]), pace);
  } catch (error) {
    // it does not go on arriving, so it is nobody's to give way
    held.hasArrived();
    // whoever sent it went away
    throw error instanceof Fail ? error : new Fail('parameter', { cause: error });
  }
}

/**
 * What a body says; undefined: there is none.
 * @param most bytes
 * @throws 101003, with status 413 or 408 where not all of it came
 */
export async function receiveJSON(request: FastifyRequest, payload: Readable, most: number, pace?: Pace): Promise<unknown> {
  const text = await receiveText(request, payload, most, pace);
  if (text === '') return undefined;
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    // what V8 says quotes the body, which no log may hold
    throw failFields([{ path: '', rule: 'json' }]);
  }
  const bad = badText(text, body);
  if (bad.length) throw failFields(bad);
  return body;
}
