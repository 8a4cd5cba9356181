/** What a document says beyond what this node knows: it was made by a newer server. */

/** How many fields of `given` a schema left out of `taken`. */
export function unknownFields(given: unknown, taken: unknown): number {
  if (typeof given !== 'object' || given === null || typeof taken !== 'object' || taken === null) return 0;
  let count = 0;
  if (Array.isArray(given)) {
    // lists of texts are long, and hold no fields
    if (typeof given[0] !== 'object') return 0;
    for (const [i, one] of given.entries()) count += unknownFields(one, (taken as unknown[])[i]);
    return count;
  }
  for (const [name, value] of Object.entries(given))
    count += Object.hasOwn(taken, name) ? unknownFields(value, (taken as Record<string, unknown>)[name]) : 1;
  return count;
}
