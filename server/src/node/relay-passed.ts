/** Relays that the edges of their zone pass by: each edge says it of itself (agent/src/relays.ts), of the relay nobody else would. */

/** One edge may be cut off from a relay by itself; of so large a share of those that are heard the relay is to blame. */
const share = 0.5;

/**
 * A lateral, of a row of `node`: `edges` of its zone that are heard, how many of them pass it by (`passing`), why, and whether that is a
 * trouble of the relay's (`isPassed`). All null of an edge, and of a relay that is not there itself.
 * @param n alias of the row
 */
export const passedBy = (n: string) => `lateral (
  select o.edges, o.passing, o.why, o.passing > 0 and o.passing >= o.edges * ${share} as "isPassed" from (
    select count(*)::int as edges, count(a.why)::int as passing, left(max(a.why), 200) as why from node e
      left join lateral (select a->>'why' as why from jsonb_array_elements(case jsonb_typeof(e.beat->'relaysAway') when 'array' then e.beat->'relaysAway' else '[]' end) a
        where a->>'id' = ${n}.id::text limit 1) a on true
      where e."zoneID" = ${n}."zoneID" and e.type = 'edge' and e."deletedAt" is null and e.status in ('normal', 'error')
  ) o where ${n}.type = 'relay' and ${n}.status in ('normal', 'error'))`;

/** What it says of one row. */
export interface Passed {
  edges: number | null;
  passing: number | null;
  why: string | null;
  isPassed: boolean | null;
}
