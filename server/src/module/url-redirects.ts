import { sql } from 'kysely';
import { isDeepStrictEqual } from 'node:util';
import { createContext, Script } from 'node:vm';
import { fail, failFields } from '#contract/errors.ts';
import { caps } from '#contract/limits.ts';
import { type Exec, type Redirect, RedirectTable, sourceKey, TooMuchWork } from '#contract/module/redirect-table.ts';
import { redirectBytesMax, redirectOwnBytes, redirectPatternsMax, redirects } from '#contract/module/url-redirects.ts';
import type { Context } from '../kit/context.ts';
import { eq, like } from '../kit/table.ts';
import { row } from '../store/db.ts';
import { type Change, rowsBelow } from './rows-below.ts';

type Line = Redirect & { enabled: boolean };
const problem = (
  change: Change<Line>,
  one: Line,
  field: string,
  rule: 'duplicateValue' | 'redirectLoop' | 'redirectPatterns' | 'redirectWork',
  bounds: object,
) => failFields([{ path: `items.${change.changed.indexOf(one)}.${field}`, rule, bounds: bounds as never }]);

/** §9: of a site, whatever their modules. */
async function checkCap(ctx: Context, { siteID, changed }: Change<Line>) {
  const more = changed.filter(({ id }) => id === undefined).length;
  if (!more) return;
  const found = await row<{ n: number }>(
    ctx.db,
    sql`select count(*) as n from redirect r join module m on m.id = r."moduleID"
        where m."siteID" = ${siteID} and m."deletedAt" is null and r."deletedAt" is null`,
  );
  if (found!.n + more > caps.redirectRulesPerSiteMax) throw fail('redirectsExceeded');
}

const bytesOf = (text: string) => Buffer.byteLength(JSON.stringify(text));
const weigh = (rows: Iterable<Line>) =>
  [...rows].reduce((sum, { source, target }) => sum + bytesOf(source) + bytesOf(target) + redirectOwnBytes, 0);

/** Of the whole site: one module that may be saved has room in its document, and no site fills the nodes' records. */
async function checkBytes(ctx: Context, { siteID, moduleID, rows, before }: Change<Line>) {
  const own = weigh(rows);
  if (own <= weigh(before.values())) return;
  const others = await row<{ n: number }>(
    ctx.db,
    sql`select coalesce(sum(octet_length(to_json(r.source)::text) + octet_length(to_json(r.target)::text) + ${redirectOwnBytes}::int), 0) as n
        from redirect r join module m on m.id = r."moduleID"
        where m."siteID" = ${siteID} and m.id <> ${moduleID} and m."deletedAt" is null and r."deletedAt" is null`,
  );
  if (own + others!.n > redirectBytesMax)
    throw failFields([{ path: 'items', rule: 'redirectBytes', bounds: { max: redirectBytesMax } }]);
}

const stored = ({ before }: Change<Line>, { id }: { id?: number }) => (id === undefined ? undefined : before.get(id));
const keyOf = (one: Line) => `${one.matchType} ${sourceKey(one)}`;

/** One URL has one redirect. Two that an earlier release let in keep nobody from changing where one leads, or from switching it off. */
function checkSources(change: Change<Line>) {
  const asked = change.changed.filter(one => {
    const before = stored(change, one);
    return !before || keyOf(before) !== keyOf(one) || (one.enabled && !before.enabled);
  });
  const own = new Set(asked);
  const seen = new Set(change.rows.filter(one => !own.has(one)).map(keyOf));
  for (const one of asked) {
    if (seen.has(keyOf(one))) throw problem(change, one, 'source', 'duplicateValue', { value: one.source.slice(0, 200) });
    seen.add(keyOf(one));
  }
}

/**
 * Expressions of customers run here for at most so long: whoever writes one that takes for ever holds up nobody. What is not found out
 * in this time the edge prevents: it leads nobody into a ring.
 */
const expressionMs = 20;
const allExpressionsMs = 100;
function bounded(): Exec {
  const room: { expression?: RegExp; subject?: string } = {};
  const context = createContext(room);
  const script = new Script('expression.exec(subject)');
  const end = performance.now() + allExpressionsMs;
  return (expression, subject) => {
    if (performance.now() > end) return undefined;
    Object.assign(room, { expression, subject });
    try {
      const groups = script.runInContext(context, { timeout: expressionMs }) as string[] | null;
      return groups && [...groups];
    } catch {
      return null;
    }
  };
}

function loopOf(table: RedirectTable<Line>, change: Change<Line>, one: Line) {
  try {
    return table.loopOf(one);
  } catch (error) {
    if (error instanceof TooMuchWork) throw problem(change, one, 'target', 'redirectWork', {});
    throw error;
  }
}

async function judge(ctx: Context, change: Change<Line>) {
  await checkCap(ctx, change);
  await checkBytes(ctx, change);
  checkSources(change);
  const patterns = change.rows.filter(({ matchType }) => matchType === 'advanced');
  const added = change.changed.find(one => one.matchType === 'advanced' && stored(change, one)?.matchType !== 'advanced');
  if (added && patterns.length > redirectPatternsMax)
    throw problem(change, added, 'matchType', 'redirectPatterns', { max: redirectPatternsMax });
  const table = new RedirectTable(
    change.rows.filter(({ enabled }) => enabled),
    bounded(),
  );
  const loops = change.changed.flatMap((one, index) => {
    const location = one.enabled && !isDeepStrictEqual(one, stored(change, one)) ? loopOf(table, change, one) : undefined;
    return location === undefined
      ? []
      : [{ path: `items.${index}.target`, rule: 'redirectLoop' as const, bounds: { target: location.slice(0, 200) } }];
  });
  if (loops.length) throw failFields(loops.slice(0, 100));
}

export const redirectImplementation = rowsBelow<Line>(redirects, {
  filters: { keyword: like('source', 'target'), matchType: eq('matchType') },
  judge,
});
