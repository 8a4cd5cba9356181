/** The line of a group that a path names: by its own id, or by that of a place or a provider (fixed-lines.ts). */
import { failFields } from '#contract/errors.ts';
import { resolutionLimits } from '#contract/limits.ts';
import { groupLines } from '#contract/rules.ts';
import type { Context } from '../kit/context.ts';
import { unknownID } from '../kit/store.ts';
import { isFixedLine } from './fixed-lines.ts';
import type { AtLine } from './line-members.ts';
import { type LineRow, ownLineTable } from './tables.ts';

type Kept = Pick<LineRow, 'id' | 'name' | 'cidrs' | 'asns' | 'places'>;

/**
 * What a line of the group is for is that place alone, or that provider's ASNs alone: the lowest, and of the others those that the data had
 * when it was made. One that is for more than it is another line.
 */
function isFor({ cidrs, asns, places }: Kept, wanted: LineRow): boolean {
  if (cidrs.length) return false;
  const [place] = wanted.places;
  if (place !== undefined) return asns.length === 0 && places.length === 1 && places[0] === place;
  const all = new Set(wanted.asns);
  return places.length === 0 && asns.includes(wanted.asns[0]!) && asns.every(asn => all.has(asn));
}

/** A name of somebody else's in the group keeps no place from having a line: its code tells them apart. */
function nameFor({ name, asns, places }: LineRow, own: readonly Kept[]): string {
  const isTaken = (one: string) =>
    one.toLowerCase() === 'default' || own.some(line => line.name.trim().toLowerCase() === one.toLowerCase());
  if (!isTaken(name)) return name;
  const code = ` (${places[0]?.replace('continent:', '') ?? `AS${asns[0]}`})`;
  return `${name.slice(0, 64 - code.length)}${code}`;
}

/**
 * `found`: what its id names. Of another group's line it looks unknown. Of a place or a provider it is the group's own line for that; where
 * the group has none nobody stands on it, and `make` (within a change of the group) makes it.
 */
export async function ownLine(
  ctx: Context,
  { g, l }: Pick<AtLine, 'g' | 'l'>,
  found: Record<string, unknown> | undefined,
): Promise<AtLine> {
  const wanted = found as LineRow; // the path's own table told it
  if (wanted.groupID !== null && wanted.groupID !== g) throw unknownID('l');
  if (!isFixedLine(l)) return { g, l };
  const lines = ctx.store(ownLineTable, { groupID: g });
  const own = await lines.pick(['id', 'name', 'cidrs', 'asns', 'places']);
  const there = own.find(line => isFor(line, wanted));
  if (there) return { g, l: there.id };
  return {
    g,
    l,
    async make() {
      const max = resolutionLimits.groupLinesMax;
      if (own.length >= max) throw failFields([{ path: 'l', rule: 'tooManyLines', bounds: { max } }]);
      const { cidrs, asns, places } = wanted;
      const line = { name: nameFor(wanted, own), cidrs, asns, places };
      const wrong = groupLines.check([...own, line]);
      if (wrong !== true) throw failFields(wrong.map(one => ({ ...one, path: 'l' })));
      const [id] = await lines.add([line], { kind: 'custom' }, 'l');
      return id!;
    },
  };
}
