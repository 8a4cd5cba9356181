/**
 * Who may have how many rules in the embedded name server. Everybody's names are changed by the one, so what one operator wishes for costs
 * the others neither memory nor time: an operator has a bound, and the installation one that its operators share evenly.
 */
import { lineKeysMax, lineRulesMax, operatorLineRulesMax } from '#contract/limits.ts';
import { ruleCost, rulesOfLine, signedRuleCost } from '../kit/line-rules.ts';
import type { GeoIndex } from '../kit/services.ts';
import type { Answer, GroupAnswer, NameZone } from './driver.ts';

const costOf = ({ a, aaaa }: Answer) => ruleCost(a.length + aaaa.length);

/** What of a group's lines is left out, and why. */
export interface Lack {
  left: 'places' | 'lines';
  why: string;
}
export interface Fitted {
  groups: GroupAnswer[];
  failed: ReadonlyMap<number, Lack>;
}

export const withoutPlaces = (group: GroupAnswer): GroupAnswer => ({
  ...group,
  lines: group.lines.map(({ cidrs, answer }) => ({ cidrs, answer })),
});
export const without = (group: GroupAnswer, lack: Lack | undefined): GroupAnswer =>
  lack === undefined ? group : lack.left === 'places' ? withoutPlaces(group) : { ...group, lines: [] };

interface Cost {
  /** rules by place */
  count: number;
  networks: number;
  places: number;
}
function costOfGroup({ lines }: GroupAnswer, index: GeoIndex | undefined): Cost {
  const cost: Cost = { count: 0, networks: 0, places: 0 };
  for (const line of lines) {
    const { networks, places } = rulesOfLine(line, index);
    const each = costOf(line.answer);
    cost.count += places;
    cost.networks += networks * each;
    cost.places += places * each;
  }
  return cost;
}

export const inIDs = (groups: readonly GroupAnswer[]) => [...groups].sort((a, b) => a.groupID - b.groupID);
/**
 * Groups as far as there is room for their lines: whole, or without their lines by place, or with everybody's answer alone, so that all of
 * them go on. `used`: what they take of it.
 */
export function fitted(all: readonly GroupAnswer[], index: GeoIndex | undefined, room: number): Fitted & { used: number } {
  const failed = new Map<number, Lack>();
  let used = 0;
  const groups = inIDs(all).map(group => {
    const { count, networks, places } = costOfGroup(group, index);
    const isMuch = count > lineKeysMax;
    if (!isMuch && used + networks + places <= room) {
      used += networks + places;
      return group;
    }
    const hasRoom = used + networks <= room;
    if (hasRoom) used += networks;
    const lost = hasRoom ? 'lines by ASN and place' : 'lines';
    failed.set(group.groupID, {
      left: hasRoom ? 'places' : 'lines',
      why: isMuch
        ? `the ASNs of group ${group.groupID} stand in more than ${lineKeysMax} places: its ${lost} do not count`
        : `lines of this operator's groups have room for ${Math.floor(room)} rules in this zone: ${lost} of group ${group.groupID} do not count`,
    });
    return without(group, failed.get(group.groupID));
  });
  return { groups, failed, used };
}

/** As much as is there goes to whoever wishes for it; where that is too little nobody has more than another who lacks some. */
export function shares<T>(wishes: ReadonlyMap<T, number>, all: number): Map<T, number> {
  let [left, n] = [all, wishes.size];
  return new Map(
    [...wishes]
      .sort(([, a], [, b]) => a - b)
      .map(([who, wish]) => {
        const share = Math.min(wish, left / n--);
        left -= share;
        return [who, share];
      }),
  );
}

type Held = Pick<NameZone, 'id' | 'operatorID' | 'isSigned'>;
const weightOf = ({ isSigned }: Held) => (isSigned ? signedRuleCost : 1);
/** Of whom it is not said whose it is, it is its own. */
const whose = ({ id, operatorID }: Held) => operatorID ?? -id;

export class LineBudget {
  /** zones there are */
  #zones: readonly Held[] = [];
  /** operator → what it wishes for, as far as it may have it */
  readonly #wishes = new Map<number, number>();
  /** zone → what stands in the name server */
  readonly #used = new Map<number, number>();

  begin(zones: readonly Held[]): void {
    this.#zones = zones;
    const ids = new Set(zones.map(one => one.id));
    const operators = new Set(zones.map(whose));
    for (const id of this.#used.keys()) if (!ids.has(id)) this.#used.delete(id);
    for (const id of this.#wishes.keys()) if (!operators.has(id)) this.#wishes.delete(id);
  }

  /**
   * These are all read anew, one after another: what is wished for in any of them is known before the first has its part, and nobody waits
   * for what they had before.
   */
  renew<T extends Held>(zones: readonly T[], groupsOf: (zone: T) => readonly GroupAnswer[], index: GeoIndex | undefined): void {
    for (const zone of zones) this.#used.delete(zone.id);
    // each zone of an operator says the same
    const first = new Map(zones.map(zone => [whose(zone), zone]));
    for (const zone of first.values()) this.#wish(zone, groupsOf(zone), index);
  }

  /** @returns the weight of its operator's zones */
  #wish(zone: Held, all: readonly GroupAnswer[], index: GeoIndex | undefined): number {
    const operator = whose(zone);
    const own = this.#zones.filter(one => whose(one) === operator);
    const weight = (own.length ? own : [zone]).reduce((sum, one) => sum + weightOf(one), 0);
    const wish = all.reduce((sum, group) => {
      const { count, networks, places } = costOfGroup(group, index);
      return sum + networks + (count > lineKeysMax ? 0 : places);
    }, 0);
    this.#wishes.set(operator, Math.min(wish * weight, operatorLineRulesMax));
    return weight;
  }

  /** What counts in a zone; it is taken as used. */
  fit(zone: Held, all: readonly GroupAnswer[], index: GeoIndex | undefined): Fitted {
    const weight = this.#wish(zone, all, index);
    // each of its zones says the same
    const share = shares(this.#wishes, lineRulesMax).get(whose(zone))! / weight;
    // whoever has more than his share now gives it back when his lines are read the next time
    let others = 0;
    for (const [id, used] of this.#used) if (id !== zone.id) others += used;
    const room = Math.min(share, Math.max(0, lineRulesMax - others) / weightOf(zone));
    const { groups, failed, used } = fitted(all, index, room);
    this.#used.set(zone.id, used * weightOf(zone));
    return { groups, failed };
  }
}
