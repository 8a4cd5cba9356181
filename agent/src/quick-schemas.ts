/**
 * Schemas of documents as compiled code. A node that joins reads a hundred thousand documents before it serves, and half of that was
 * zod walking over the fields of objects one by one. zod has the compiled way (`$ZodObjectJIT`); `zod/mini`, which the contract is written in
 * for the console's sake (no `eval` there), leaves it out.
 */
import * as z from 'zod/mini';

const compiled: z.core.$constructor<z.core.$ZodObject> = z.core.$ZodObjectJIT;

/** Makes a schema, and all that it is made of, read its objects by compiled code. What it accepts, gives and says stays the same. */
export function quicken(schema: z.core.$ZodType, seen = new Set<z.core.$ZodType>()): void {
  if (seen.has(schema)) return;
  seen.add(schema);
  if (schema instanceof z.core.$ZodObject) {
    const inner = schema._zod;
    const isBare = inner.run === inner.parse; // nothing is checked of the whole
    compiled.init(schema, inner.def); // once only: of what it is already it is not made again
    if (isBare) inner.run = inner.parse;
    for (const field of Object.values(inner.def.shape)) quicken(field, seen);
    return;
  }
  for (const part of Object.values(schema._zod.def).flat()) if (part instanceof z.core.$ZodType) quicken(part, seen);
}
