/** What one round holds: the entities that changed, what must go with them, and what stands on the bus of each. */
import { type DocumentKind, isKind, kinds, partKinds } from '#contract/edge/kinds/index.ts';
import type { RowOf } from '../compile/compile.ts';
import { type Queryable, load } from '../compile/load.ts';
import type { Loaded } from '../compile/source.ts';

export interface Entity {
  kind: DocumentKind;
  id: number;
}
/** A committed change of a site. */
export interface SiteChange {
  siteID: number;
  revision: number;
  committedAt: string;
}
export interface Round {
  entities: Entity[];
  changes: SiteChange[];
  /** outbox rows this round is done with */
  outboxIDs: string[];
  /** false: the entities are all there are, no others are looked for (default true) */
  dependents?: boolean;
  /** false: what waits in the outbox is left there (default true) */
  pending?: boolean;
  /** Nobody changed anything, documents are made otherwise now: sites whose documents differ are served again when nodes have them. */
  compiledAnew?: boolean;
  /** Other rounds follow that may still be what keeps it: what is gone is named here, and stays. */
  hold?: (entity: Entity) => void;
}

export interface PublishedRow {
  kind: DocumentKind;
  entityID: number;
  zoneID: number;
  siteID: number | null;
  subject: string;
  /** '' = the subject holds an empty body */
  hash: string;
  seq: number;
  inherited: string;
}
export const key = (entity: { kind: string; id: number }) => `${entity.kind}.${entity.id}`;
export type AnyLoaded = Loaded<RowOf<DocumentKind>>;
export type SiteLoaded = Loaded<RowOf<'site'>>;

/** A round with all that goes with it. */
export interface Whole {
  entities: Map<string, Entity>;
  sites: Map<number, SiteLoaded>;
  before: Map<string, PublishedRow[]>;
}

/** Reads as of one moment: what was written in one transaction is seen together. */
export async function asOfOneMoment<T>(db: Queryable, read: () => Promise<T>): Promise<T> {
  await db.query('begin isolation level repeatable read, read only');
  try {
    return await read();
  } finally {
    await db.query('commit');
  }
}

/** Finds what goes with a round. Only sites are loaded yet: they are light, and say what else there is. */
export async function wholeOf(db: Queryable, round: Round): Promise<Whole> {
  const entities = new Map(round.entities.map(entity => [key(entity), entity]));
  const idsOf = (kind: DocumentKind) => [...entities.values()].filter(entity => entity.kind === kind).map(entity => entity.id);
  const dependents = round.dependents !== false;
  // The site says which parts it has.
  if (dependents)
    for (const kind of partKinds) for (const id of idsOf(kind)) entities.set(key({ kind: 'site', id }), { kind: 'site', id });
  if (dependents) await addNaming(db, entities, idsOf('module'));
  if (round.pending !== false) await addPending(db, entities);
  const sites = await load(db, 'site', idsOf('site'));
  await addMissing(db, entities, sites);
  if (dependents) await addDependents(db, entities, idsOf('site'), sites);
  return { entities, sites, before: await loadPublished(db, [...entities.values()]) };
}

/**
 * Of each site in this round, what else of it has changed and waits: rows are loaded as they are now, so a site that was opened again must
 * not go out rounds before the list that was changed first, nor name a part, or a domain a module, that waits behind it.
 */
async function addPending(db: Queryable, entities: Map<string, Entity>): Promise<void> {
  const on = (table: string) => [...entities.values()].filter(({ kind }) => kinds[kind].on === table).map(({ id }) => id);
  const { rows } = await db.query({
    name: 'pending',
    text: `with touched as (
       select unnest($1::bigint[]) as id
       union select "siteID" from domain where id = any($2::bigint[])
       union select "siteID" from module where id = any($3::bigint[])
       union select "siteID" from certificate where id = any($4::bigint[])
       union select "siteID" from port where id = any($5::bigint[])
     ) select distinct kind, "entityID" as id from outbox where "siteID" in (select id from touched) and kind <> 'domain'`,
    values: [on('site'), on('domain'), on('module'), on('certificate'), on('port')],
  });
  for (const { kind, id } of rows as { kind: string; id: string }[])
    if (isKind(kind)) entities.set(key({ kind, id: Number(id) }), { kind, id: Number(id) });
}

/** Parts that a site names and that stand nowhere in its zone. */
async function addMissing(db: Queryable, entities: Map<string, Entity>, sites: Map<number, SiteLoaded>): Promise<void> {
  const naming = [...sites.values()].filter(({ row }) => row.parts.length);
  if (!naming.length) return;
  const { rows } = await db.query({
    name: 'parts-that-stand',
    text: `select kind, "entityID" as id, "zoneID" from published where kind = any($1) and "entityID" = any($2::bigint[]) and hash <> ''`,
    values: [partKinds, naming.map(({ id }) => id)],
  });
  const there = new Set(
    (rows as { kind: string; id: string; zoneID: string }[]).map(row => `${row.kind} ${row.id} ${row.zoneID}`),
  );
  for (const { id, zoneID, row } of naming)
    for (const kind of row.parts)
      if (isKind(kind) && !there.has(`${kind} ${id} ${zoneID}`)) entities.set(key({ kind, id }), { kind, id });
}

/** A module that is switched off or gone leaves no domain that still names it: without it that would not be served. */
async function addNaming(db: Queryable, entities: Map<string, Entity>, ids: number[]): Promise<void> {
  if (!ids.length) return;
  const { rows } = await db.query({
    name: 'domains-of-modules',
    text: `select "domainID" as id from "domainModule" where "moduleID" = any($1::bigint[])`,
    values: [ids],
  });
  for (const row of rows as { id: string }[]) {
    const entity: Entity = { kind: 'domain', id: Number(row.id) };
    entities.set(key(entity), entity);
  }
}

/** Sites that are new or moved, or whose domains inherit something else, bring what hangs on them; those that are gone take it along. */
async function addDependents(
  db: Queryable,
  entities: Map<string, Entity>,
  ids: number[],
  sites: Map<number, SiteLoaded>,
): Promise<void> {
  if (!ids.length) return;
  const { rows } = await db.query({
    name: 'published-sites',
    text: `select "entityID" as id, "zoneID", inherited from published where kind = 'site' and "entityID" = any($1::bigint[]) and hash <> ''`,
    values: [ids],
  });
  const known = new Map((rows as { id: string; inherited: string }[]).map(row => [Number(row.id), row.inherited]));
  const changed = ids.filter(id => !sites.has(id) || known.get(id) !== sites.get(id)!.inherited);
  if (!changed.length) return;
  const dependents = await db.query({
    name: 'dependents',
    text: `select id, 'domain' as kind from domain where "siteID" = any($1::bigint[]) and "deletedAt" is null
     union select id, 'module' from module where "siteID" = any($1::bigint[]) and "deletedAt" is null
     union select id, 'certificate' from certificate where "siteID" = any($1::bigint[]) and "deletedAt" is null
     union select id, 'port' from port where "siteID" = any($1::bigint[]) and "deletedAt" is null
     union select "entityID", kind from published where "siteID" = any($1::bigint[]) and hash <> '' and kind <> 'site'`,
    values: [changed],
  });
  const found = (dependents.rows as { id: string; kind: string }[]).map(row => ({ kind: row.kind, id: Number(row.id) }));
  for (const entity of [...found, ...changed.flatMap(id => partKinds.map(kind => ({ kind, id })))])
    if (isKind(entity.kind)) entities.set(key(entity), { kind: entity.kind, id: entity.id });
}

async function loadPublished(db: Queryable, entities: Entity[]): Promise<Map<string, PublishedRow[]>> {
  const { rows } = await db.query({
    name: 'published',
    text: `select p.kind, p."entityID", p."zoneID", p."siteID", p.subject, p.hash, p.seq, p.inherited
     from unnest($1::text[], $2::bigint[]) as e(kind, id) join published p on p.kind = e.kind and p."entityID" = e.id`,
    values: [entities.map(entity => entity.kind), entities.map(entity => entity.id)],
  });
  const found = new Map<string, PublishedRow[]>();
  for (const raw of rows as PublishedRow[]) {
    const row = {
      ...raw,
      entityID: Number(raw.entityID),
      zoneID: Number(raw.zoneID),
      siteID: raw.siteID === null ? null : Number(raw.siteID),
      seq: Number(raw.seq),
    };
    const id = key({ kind: row.kind, id: row.entityID });
    found.set(id, [...(found.get(id) ?? []), row]);
  }
  return found;
}
