/** What the embedded name server answers a visitor, out of what it is told: the same rules that its files are written by. Pure. */
import type { lineExtents } from '#contract/limits.ts';
import type { GeoIndex, Place } from '../kit/services.ts';
import { type AnsweredLine, defaultLineID } from './choose.ts';
import type { Answer } from './driver.ts';
import { countedOf, filled, isWhole } from './knot-files.ts';
import { lineFor, type Match } from './line-places.ts';
import { groupAnswer, type StoredAnswer } from './load.ts';

export type Extent = (typeof lineExtents)[number];
const nothing: Answer = { a: [], aaaa: [], cname: null };
const without = (line: AnsweredLine, what: Partial<Pick<AnsweredLine, 'cidrs' | 'asns' | 'places'>>) =>
  line.lineID === defaultLineID ? line : { ...line, ...what };

export interface Answered {
  a: string[];
  aaaa: string[];
  cname: string | null;
}
export interface Judged {
  address: string | undefined;
  place: Place | undefined;
}

/** `extent`: which lines of the group count where it is asked; `index`: of the data that lines by place go by. */
export function answeredTo(
  stored: StoredAnswer,
  { address, place }: Judged,
  extent: Extent,
  index: GeoIndex | undefined,
): Match & { answer: Answered } {
  const everybodys = stored.lines.find(one => one.lineID === defaultLineID);
  const fallback = everybodys ?? nothing;
  if (extent === 'none' || extent === 'noRoom') return { line: everybodys, by: 'default', of: null, answer: answerOf(fallback) };
  const { places, partNetworks } = countedOf(groupAnswer(stored), extent === 'all' ? index : undefined);
  const fill = (line: AnsweredLine | undefined): Answer => (line && line !== everybodys ? filled(line, fallback) : fallback);
  const byPlace = places ? stored.lines : stored.lines.map(line => without(line, { asns: [], places: [] }));
  const lines = partNetworks ? byPlace : byPlace.map(line => (isWhole(fill(line)) ? line : without(line, { cidrs: [] })));
  const match = lineFor(lines, address, place);
  const own = fill(match.line);
  if (match.by !== 'network' || !places || isWhole(own)) return { ...match, answer: answerOf(own) };
  // a family that neither the network nor everybody has is looked for among places
  const beside = fill(lineFor(lines, undefined, place).line);
  return {
    ...match,
    answer: answerOf({ a: own.a.length ? own.a : beside.a, aaaa: own.aaaa.length ? own.aaaa : beside.aaaa, cname: own.cname }),
  };
}

const answerOf = ({ a, aaaa, cname }: Answer): Answered =>
  cname === null ? { a: [...a], aaaa: [...aaaa], cname } : { a: [], aaaa: [], cname };
