/** What rows weigh in a document. */
type Row = Record<string, unknown>;

/** What no document carries. */
export const unweighed = ['createdAt', 'updatedAt', 'deletedAt', 'rowVersion', 'memo'];

/** Bytes of these columns as far as a document carries them; of `enabled` none: switched off, a row is a letter longer. */
export const weigh = (names: readonly string[], row: Row): number =>
  Buffer.byteLength(JSON.stringify(names.filter(name => name !== 'enabled' && !unweighed.includes(name)).map(name => row[name])));
