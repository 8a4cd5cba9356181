/** Bodies of form data (RFC 7578): fields as text, files in memory up to the call's limit. */
import multipart from '@fastify/multipart';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Fail, failFields } from '#contract/errors.ts';
import type { UploadedFile } from '#contract/kit/schema.ts';
import type { Actor } from './actor.ts';
import { inTime, type Pace } from './receive.ts';
import { type Line, partyOf, Turns } from './turns.ts';

/** Not to be waited for: two waits of one server for its plugins wait for each other, and it would never listen (server/src/console.ts). */
export function acceptUploads(app: FastifyInstance): void {
  void app.register(multipart, {
    throwFileSizeLimit: true,
    limits: { fields: 50, fieldSize: 65_536, files: 10, headerPairs: 50 },
  });
}

/**
 * The form as an object, for the call's schema to judge. `fields`: those there are; a file of another name, or of one that came already, is
 * not read: all that a form may hold in memory is one file of each. `hasTurn`: it has a place by `turnToUpload`, which ends where it
 * takes long and others wait.
 */
export async function readForm(
  request: FastifyRequest,
  bytesMax: number,
  fields: ReadonlySet<string>,
  { pace, hasTurn }: { pace: Pace | undefined; hasTurn: boolean },
): Promise<Record<string, unknown>> {
  return inTime(request, readParts(request, bytesMax, fields), pace, () => hasTurn && turns.isShort);
}
async function readParts(
  request: FastifyRequest,
  bytesMax: number,
  fields: ReadonlySet<string>,
): Promise<Record<string, unknown>> {
  if (!request.isMultipart()) throw new Fail('parameter', { status: 415, errorData: [{ path: '', rule: 'wrongFormat' }] });
  // no prototype: a field may be called __proto__
  const form = Object.create(null) as Record<string, unknown>;
  try {
    for await (const part of request.parts({ limits: { fileSize: bytesMax } })) {
      if (part.type === 'field') form[part.fieldname] = part.value;
      else if (!fields.has(part.fieldname)) throw failFields([{ path: part.fieldname.slice(0, 64), rule: 'unknownKey' }]);
      else if (Object.hasOwn(form, part.fieldname))
        throw failFields([{ path: part.fieldname, rule: 'duplicateValue', bounds: { value: part.fieldname } }]);
      else
        form[part.fieldname] = { name: part.filename, type: part.mimetype, bytes: await part.toBuffer() } satisfies UploadedFile;
    }
  } catch (error) {
    if (error instanceof Fail) throw error;
    if ((error as { statusCode?: number }).statusCode === 413)
      throw new Fail('parameter', { status: 413, errorData: [{ path: '', rule: 'tooLarge' }] });
    throw new Fail('parameter', { errorData: [{ path: '', rule: 'wrongFormat' }], cause: error });
  }
  return form;
}

/**
 * A form is in memory from its first byte until what it is for is done: so many at a time, and of one root account one. Who waits does so for
 * longer than a slow form keeps its place from others (receive.ts): eight in bad hands keep nobody out.
 */
const turns = new Turns({ name: 'uploads', lanes: [8], each: 1, waiting: 4, waitingAll: 100, waitMs: 90_000 });
/** Before a form is read; who waits holds no more than its connection does. */
export const turnToUpload = <T>(actor: Actor, act: () => Promise<T>, line: Line): Promise<T> =>
  turns.run({ lane: 0, path: partyOf(actor).path }, act, line);
