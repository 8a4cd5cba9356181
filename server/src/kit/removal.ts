/**
 * Deleting or changing several rows: what can be done is done, the rest is told as 101009 with its reason (decisions.md, Wire). A row that
 * is gone already, or another tenant's, is one of that rest, by its id. One row alone fails as itself, as do rows of which none is there.
 */
import { failFields, multipleErrors } from '#contract/errors.ts';
import { errorCodes } from '#contract/errors/codes.ts';
import { type Context, Partial } from './context.ts';
import { type Store, unknownID } from './store.ts';

type Row = Record<string, unknown>;

/** Those of these rows that are there, held; `tell` says what is to be said of the rest, once these have gone. None there fails the call. */
export async function those<R extends Row>(
  store: Store<R>,
  ids: readonly number[],
  path = 'ids',
): Promise<{ there: (R & { id: number })[]; tell: () => void }> {
  const there = await store.there(ids);
  if (!there.length) throw unknownID(path);
  const found = new Set(there.map(({ id }) => id));
  const missing = [...new Set(ids)].filter(id => !found.has(id)).map(String);
  return { there, tell: () => tellMissing(missing) };
}

/** Those of what was named that are not there; the rest is done. */
export function tellMissing(missing: readonly string[]): void {
  if (missing.length)
    throw new Partial(multipleErrors([{ code: errorCodes.parameter[0], field: { rule: 'unknown' }, targets: [...missing] }]));
}

/** Rows that nothing keeps from going. `after` is told which went. */
export async function removeAll<R extends Row>(
  store: Store<R>,
  ids: readonly number[],
  after: (gone: R[]) => Promise<void> = async () => {},
): Promise<Record<never, never>> {
  const { there, tell } = await those(store, ids);
  await after(await store.remove(there.map(({ id }) => id)));
  tell();
  return {};
}

/** Something done with each of these rows by itself; `act` may refuse. `path`: the field of the body that names them. */
export async function eachOf<R extends Row>(
  ctx: Context,
  store: Store<R>,
  ids: readonly number[],
  nameOf: (row: R) => string,
  act: (row: R & { id: number }) => Promise<void>,
  path = 'ids',
): Promise<Record<never, never>> {
  const there = new Map((await store.there(ids)).map(row => [row.id, row]));
  if (!there.size) throw unknownID(path);
  const name = (id: number) => (there.has(id) ? nameOf(there.get(id)!) : String(id));
  await ctx.each(ids, name, async id => {
    const row = there.get(id);
    if (!row) throw unknownID(path);
    await act(row);
  });
  return {};
}

/**
 * The versions of these rows as their caller saw them, one for each: of several each has its own, and If-Match is of the one.
 * @throws 101003 where they do not stand for the ids one by one: the rest would be overwritten unseen
 */
export function seenVersions(
  ids: readonly number[],
  versions: readonly number[] | undefined,
  path: string,
): Map<number, number> | undefined {
  if (!versions) return undefined;
  const isOne = new Set(ids).size === ids.length;
  if (versions.length !== ids.length || !isOne) throw failFields([{ path: isOne ? 'versions' : path, rule: 'wrongFormat' }]);
  return new Map(ids.map((id, i) => [id, versions[i]!]));
}

/**
 * Rows that something may keep: `act` refuses, or does what goes with the row before it goes. It may answer all rows that go, when others
 * go with the one; whoever named those too is told nothing of them.
 */
export async function removeEach<R extends Row>(
  ctx: Context,
  store: Store<R>,
  ids: readonly number[],
  nameOf: (row: R) => string,
  act: (row: R & { id: number }) => Promise<void | readonly number[]>,
): Promise<Record<never, never>> {
  const gone = new Set<number>();
  return eachOf(ctx, store, ids, nameOf, async row => {
    if (gone.has(row.id)) return;
    const going = (await act(row)) ?? [row.id];
    await store.remove(going);
    for (const id of going) gone.add(id);
  });
}
