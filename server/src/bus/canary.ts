/**
 * What nginx itself is told of a zone (ports, HTTP/2, HTTP/3, balancers …) goes to one healthy node first. The zone's document says what all nodes
 * have, and beside it what that one tries (contract: kinds/zone.ts); its heartbeat says whether its nginx has taken it. When it has been
 * well with it for some seconds the others follow; when it refuses, falls ill or falls silent another one is asked, for that one may be
 * broken by itself, or stolen. When that one fails too the change stops there, and every node has what it had until the operator changes
 * it, takes it back or tries again. So a change that no node can take reaches two of them, one after the other.
 *
 * Done by the active relay over the connection that holds its lock. A row of "zoneCanary" is all there is to it: whoever becomes the relay
 * goes on. Where nobody can be first (one node, or none that is well and knows of this) a change goes to all at once, as ever.
 */
import type pg from 'pg';
import type { DocumentOf } from '#contract/edge/kinds/index.ts';
import { subjects } from '#contract/edge/subjects.ts';
import { canaryTimes, canaryTriesMax } from '#contract/node/canary.ts';
import { http2, http3, proxyProtocol, resource } from '#contract/site/zone-settings.ts';
import { readChecks, sentenceOf } from '#contract/system/health.ts';
import { isSameFacts, type ReloadFacts, wantedFacts, type ZoneRow } from '../compile/kinds/zone.ts';
import { load } from '../compile/load.ts';
import { eventOf } from '../kit/metrics.ts';
import { offlineAfterMs } from '../kit/node-well.ts';

const events = {
  began: eventOf('canary', 'began'),
  passed: eventOf('canary', 'passed'),
  stopped: eventOf('canary', 'stopped'),
};
const detailMost = 500;
type Client = Pick<pg.ClientBase, 'query'>;
/** The ten latest, this one at the end. */
const failedToo = `(array_remove("failedIDs", "nodeID") || "nodeID")[greatest(cardinality(array_remove("failedIDs", "nodeID")) - 8, 1):]`;

/** Of zones that changed: what takes a reload begins with one node. To be called before they are compiled. */
export async function beginCanaries(db: Client, zoneIDs: readonly number[]): Promise<void> {
  const zones = await load(db, 'zone', [...new Set(zoneIDs)]);
  for (const [zoneID, { row }] of zones) await begin(db, zoneID, row);
}

async function begin(db: Client, zoneID: number, { canary, ...row }: ZoneRow): Promise<void> {
  const wanted = wantedFacts(row);
  const accepted = canary?.accepted ?? (await factsThatStand(db, zoneID));
  // nothing stands yet, or it is as it was: there is nothing to try
  if (!accepted || isSameFacts(accepted, wanted)) return canary ? drop(db, zoneID) : undefined;
  const isAsTried = canary !== null && isSameFacts(canary.wanted, wanted);
  if (isAsTried && (canary.state === 'stopped' || canary.nodeID !== null)) return;
  const { tries, failedIDs } = canary ? await before(db, zoneID) : { tries: 0, failedIDs: [] };
  // one has failed: who comes now is another, or nobody
  const isAgain = isAsTried && tries > 0;
  const [nodeID] = await candidates(db, zoneID, failedIDs, isAgain ? failedIDs.at(-1) : undefined);
  if (nodeID === undefined && isAgain) return giveUp(db, zoneID);
  if (nodeID === undefined) return canary ? drop(db, zoneID) : undefined;
  events.began();
  await db.query(
    `insert into "zoneCanary" ("zoneID", "nodeID", accepted, wanted) values ($1, $2, $3, $4)
     on conflict ("zoneID") do update set id = nextval('"zoneCanaryAttempt"'), state = 'trying', "nodeID" = excluded."nodeID", wanted = excluded.wanted,
       why = null, detail = null, "beganAt" = clock_timestamp(), "takenAt" = null, "endedAt" = null, tries = $5`,
    [zoneID, nodeID, JSON.stringify(accepted), JSON.stringify(wanted), isAgain ? tries : 0],
  );
}

async function before(db: Client, zoneID: number): Promise<{ tries: number; failedIDs: number[] }> {
  const { rows } = await db.query<{ tries: number; failedIDs: string[] }>(
    'select tries, "failedIDs" from "zoneCanary" where "zoneID" = $1',
    [zoneID],
  );
  const { tries = 0, failedIDs = [] } = rows[0] ?? {};
  return { tries, failedIDs: failedIDs.map(Number) };
}

/** Nobody is there who could be asked after the one that failed: what that one said holds. */
async function giveUp(db: Client, zoneID: number): Promise<void> {
  events.stopped();
  await db.query(
    `update "zoneCanary" set state = 'stopped', "nodeID" = "failedIDs"[cardinality("failedIDs")], "endedAt" = clock_timestamp() where "zoneID" = $1`,
    [zoneID],
  );
}

const drop = async (db: Client, zoneID: number): Promise<void> =>
  void (await db.query('delete from "zoneCanary" where "zoneID" = $1', [zoneID]));

/** What the nodes of the zone have now, by the document that stands on the bus. */
async function factsThatStand(db: Client, zoneID: number): Promise<ReloadFacts | undefined> {
  const { rows } = await db.query<{ body: string | null }>(
    `select body from published where kind = 'zone' and "entityID" = $1 and "zoneID" = $1`,
    [zoneID],
  );
  const text = rows[0]?.body;
  if (!text) return undefined;
  const said: Partial<DocumentOf<'zone'>> = JSON.parse(text);
  return {
    http2: said.http2 ?? http2.defaults,
    http3: said.http3 ?? http3.defaults,
    proxyProtocol: said.proxyProtocol ?? proxyProtocol.defaults,
    resource: said.resource ?? resource.defaults,
    ports: said.ports ?? [],
  };
}

/**
 * Nodes that may go first, in their order: those that failed come last, the latest at the end. None: nobody else could wait for it, or
 * nobody could be first.
 */
async function candidates(db: Client, zoneID: number, failedIDs: readonly number[], except = 0): Promise<number[]> {
  const { rows } = await db.query<{ id: string }>(
    `select n.id from node n where n."zoneID" = $1 and n."deletedAt" is null and n.status = 'normal' and n.beat ? 'canary'
       and n."lastBeat" > clock_timestamp() - $2 * interval '1 ms' and n.id <> $3
       and exists (select from node o where o."zoneID" = $1 and o."deletedAt" is null and o.id <> n.id)
     order by array_position($4::bigint[], n.id) nulls first, n.id limit 3`,
    [zoneID, offlineAfterMs, except, failedIDs],
  );
  return rows.map(({ id }) => Number(id));
}

interface Row {
  zoneID: string;
  id: string;
  nodeID: string | null;
  isThere: boolean;
  status: string | null;
  said: { id?: number; taken?: boolean; why?: string | null } | null;
  refused: { subject: string; why: string }[] | null;
  problem: string | null;
  checks: unknown;
  /** seconds */
  age: number;
  well: number | null;
  heard: number | null;
  /** nodes that failed */
  tries: number;
}

/** Looks at what is being tried, and ends what has passed or failed. @returns how many are still tried */
export async function advanceCanaries(db: Client): Promise<number> {
  const { rows } = await db.query<Row>({
    name: 'canaries',
    text: `select c."zoneID", c.id, c."nodeID", coalesce(n."zoneID" = c."zoneID" and n."deletedAt" is null and n.status <> 'paused', false) as "isThere", n.status,
       n.beat->'canary' as said, n.refused, n.beat->>'problem' as problem, n.beat->'checks' as checks,
       extract(epoch from clock_timestamp() - c."beganAt")::float8 as age, extract(epoch from clock_timestamp() - c."takenAt")::float8 as well,
       extract(epoch from n."lastBeat" - c."takenAt")::float8 as heard, c.tries
     from "zoneCanary" c left join node n on n.id = c."nodeID" where c.state = 'trying'`,
  });
  let left = 0;
  for (const row of rows) if (!(await look(db, row))) left++;
  return left;
}

/** @returns whether it is over */
async function look(db: Client, row: Row): Promise<boolean> {
  const stop = async (why: string, detail = '') =>
    (await anotherMay(db, row, why))
      ? another(db, row, why, detail.slice(0, detailMost))
      : end(db, row, why, detail.slice(0, detailMost));
  // Another one is chosen as the zone is looked at anew.
  if (!row.isThere) {
    await again(db, row);
    return false;
  }
  const refusal = row.refused?.find(({ subject }) => subject === subjects.config(Number(row.zoneID), 'zone', Number(row.zoneID)));
  if (refusal) return stop('refused', refusal.why);
  const isOurs = row.said?.id === Number(row.id);
  if (isOurs && row.said?.why) return stop('refused', row.said.why);
  if (row.status === 'offline' || row.status === 'natsError') return stop('offline');
  const ill = isOurs ? illness(row) : undefined;
  if (ill !== undefined) return stop('ill', ill);
  if (row.well === null) {
    if (isOurs && row.said?.taken) await taken(db, row);
    else if (row.age > canaryTimes.takenMostSeconds) return stop('silent');
    return false;
  }
  if (row.well < canaryTimes.wellSeconds || (row.heard ?? 0) < canaryTimes.wellSeconds / 2) {
    // it lives, and is not heard of
    return row.well > canaryTimes.takenMostSeconds ? stop('silent') : false;
  }
  return end(db, row);
}

/** Whether a second node is asked: it is there, and while the first one does not serve (it fell ill, or is gone) a third one does. */
async function anotherMay(db: Client, { zoneID, nodeID, tries }: Row, why: string): Promise<boolean> {
  if (tries + 1 >= canaryTriesMax) return false;
  const others = await candidates(db, Number(zoneID), [], Number(nodeID));
  return others.length >= (why === 'refused' ? 1 : 2);
}

/** Why it is not well; undefined: it is. */
function illness({ status, problem, checks }: Row): string | undefined {
  if (problem) return problem;
  const failing = readChecks(checks).find(check => check.state === 'fail' && check.id !== 'shipping');
  if (failing) return sentenceOf(failing, 'en_US');
  return status === 'error' ? 'it does not serve what was published' : undefined;
}

const taken = (db: Client, { zoneID, id }: Row) =>
  db.query('update "zoneCanary" set "takenAt" = clock_timestamp() where "zoneID" = $1 and id = $2', [zoneID, id]);

/** It is to be chosen anew: the zone goes through `begin` again. */
const again = (db: Client, { zoneID, id }: Row) =>
  db.query(
    `with done as
     (update "zoneCanary" set "nodeID" = null where "zoneID" = $1 and id = $2 returning "zoneID")
     insert into outbox (kind, "entityID", "siteID", "zoneID", revision)
       select 'zone', z.id, null, z.id, z.revision from zone z join done on done."zoneID" = z.id`,
    [zoneID, id],
  );

/** It failed there, and another node is chosen: the zone goes through `begin` again, and this one has what it had. */
async function another(db: Client, { zoneID, id }: Row, why: string, detail: string): Promise<false> {
  await db.query(
    `with done as
     (update "zoneCanary" set "nodeID" = null, tries = tries + 1, why = $3, detail = $4, "failedIDs" = ${failedToo}
       where "zoneID" = $1 and id = $2 and state = 'trying' returning "zoneID")
     insert into outbox (kind, "entityID", "siteID", "zoneID", revision)
       select 'zone', z.id, null, z.id, z.revision from zone z join done on done."zoneID" = z.id`,
    [zoneID, id, why, detail],
  );
  return false;
}

/**
 * The zone is published anew, with what came of it. One that passed has its row until `begin` looks at the zone: until then that row says
 * that what stands on the bus is not what all may have.
 */
async function end(db: Client, { zoneID, id }: Row, why?: string, detail = ''): Promise<true> {
  events[why === undefined ? 'passed' : 'stopped']();
  await db.query(
    `with done as
     (update "zoneCanary" set state = case when $3::text is null then 'passed' else 'stopped' end, why = $3, detail = $4,
       accepted = case when $3::text is null then wanted else accepted end, "endedAt" = clock_timestamp(),
       "failedIDs" = case when $3::text is null then "failedIDs" else ${failedToo} end
       where "zoneID" = $1 and id = $2 and state = 'trying' returning "zoneID")
     insert into outbox (kind, "entityID", "siteID", "zoneID", revision)
       select 'zone', z.id, null, z.id, z.revision from zone z join done on done."zoneID" = z.id`,
    [zoneID, id, why ?? null, detail],
  );
  return true;
}
