import type { Database, Db } from '../store/db.ts';

/** Of transactions under way: what is to be done should they come to nothing. */
const hopes = new WeakMap<Db, (() => void)[]>();
/** Done when this transaction (of `untangled`) is undone; of another, or of none, never. */
export const onUndone = (db: Db, act: () => void): void => void hopes.get(db)?.push(act);

/** Two changes that waited for each other: one was undone by PostgreSQL, as if it had not been, and is made again. */
const tangled = new Set(['40P01', '40001']);
export async function untangled<T>(db: Database['writes'], act: (db: Db) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const undo: (() => void)[] = [];
    try {
      return await db.transaction().execute(tx => {
        hopes.set(tx, undo);
        return act(tx);
      });
    } catch (error) {
      for (const one of undo) one();
      if (attempt === 3 || !tangled.has((error as { code?: string }).code ?? '')) throw error;
    }
  }
}
