/**
 * Entities → messages → what the database remembers of them. One call is one round: load, compile, compare with what
 * stands on the bus, publish what differs, and record it all in a single statement.
 */
import { jetstream } from '@nats-io/jetstream';
import { type NatsConnection, headers } from '@nats-io/transport-node';
import { type DocumentKind, isEmpty, isKind, kindNames, kinds, partKinds } from '#contract/edge/kinds/index.ts';
import { signed } from '#contract/edge/signed.ts';
import { streams, subjects } from '#contract/edge/subjects.ts';
import { compile, documentHash, type RowOf } from '../compile/compile.ts';
import { type Queryable, load } from '../compile/load.ts';
import type { Loaded } from '../compile/source.ts';
import type { Signer } from './credentials.ts';

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
  /** Nobody changed anything, documents are made otherwise now: sites whose documents differ are served again when nodes have them. */
  compiledAnew?: boolean;
}

/** Where documents go, and what they are given on the way. */
export interface Press {
  nats: NatsConnection;
  signer: Signer;
  /** which life of the stream this is */
  epoch: string;
  /** The last number given in each zone. */
  numbers: Map<number, number>;
}

interface PublishedRow {
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
interface Message extends Omit<PublishedRow, 'seq'> {
  body: string;
  /** what the subject's last sequence must be; 0: nothing stands there */
  expected: number;
}
interface CompileFailure {
  kind: DocumentKind;
  entityID: number;
  siteID: number | null;
  message: string;
}

/** Publications under way at once: enough to hide the round trip, few enough for the server's buffers. */
const inFlight = 256;
const publishTimeoutMs = 5000;
const key = (entity: { kind: string; id: number }) => `${entity.kind}.${entity.id}`;
type AnyLoaded = Loaded<RowOf<DocumentKind>>;
type SiteLoaded = Loaded<RowOf<'site'>>;
type LoadedByKind = Map<DocumentKind, Map<number, AnyLoaded>>;

/**
 * @throws when the bus or the database fails, or when somebody else wrote to a subject; nothing is recorded then, and the
 * round may be given again: documents are whole states
 */
export async function publishRound(db: Queryable, press: Press, round: Round): Promise<{ published: number }> {
  const entities = new Map(round.entities.map(entity => [key(entity), entity]));
  const loaded = await loadRound(db, entities, round.dependents !== false);
  const before = await loadPublished(db, [...entities.values()]);

  const messages: Message[] = [];
  const failures: CompileFailure[] = [];
  /** `kind.siteID` of parts that cannot be made, and of those whose rows come to nothing */
  const parts = { unmade: new Set<string>(), empty: new Set<string>() };
  // parts before the site that names them
  for (const entity of [...entities.values()].sort((a, b) => kindNames.indexOf(a.kind) - kindNames.indexOf(b.kind))) {
    const { kind, id } = entity;
    const rows = loaded.get(kind)?.get(id);
    if (kind === 'site' && rows) (rows as SiteLoaded).row.parts = partsToName(id, rows as SiteLoaded, parts, before);
    try {
      const old = before.get(key(entity)) ?? [];
      const made = difference(entity, rows, old);
      messages.push(...made);
      const here = [...old.filter(row => !made.some(one => one.subject === row.subject)), ...made];
      if (!here.some(one => one.hash !== '' && one.zoneID === rows?.zoneID)) parts.empty.add(key(entity));
    } catch (error) {
      failures.push({ kind, entityID: id, siteID: rows?.siteID ?? null, message: (error as Error).message });
      parts.unmade.add(key(entity));
    }
  }
  const published = await publishAll(
    press,
    messages.sort((a, b) => rank(a) - rank(b)),
  );
  await record(db, round, [...entities.values()], published, failures);
  return { published: published.length };
}

/**
 * A part that cannot be made stays as it stood. Where none stood, a site that stands goes on without it, as before: naming it would close the
 * site for a fault of ours. One that stands nowhere yet names it, and is closed until the part can be made. A part that comes to nothing has
 * no document that could be waited for.
 */
function partsToName(
  id: number,
  { row }: SiteLoaded,
  { unmade, empty }: { unmade: Set<string>; empty: Set<string> },
  before: Map<string, PublishedRow[]>,
): string[] {
  const stands = (kind: string) => before.get(key({ kind, id }))?.some(({ hash }) => hash !== '') ?? false;
  return row.parts.filter(kind => {
    const part = key({ kind, id });
    return !empty.has(part) && (!unmade.has(part) || stands(kind) || !stands('site'));
  });
}

/**
 * New states first, so that a moved site stands in its new zone before it leaves the old one; and what a document needs before it: a
 * site's parts before the site that names them, the site before its domains. What is gone goes in the opposite order.
 */
const rank = ({ kind, hash }: Message): number => {
  const place = kindNames.indexOf(kind);
  return hash === '' ? 2 * kindNames.length - place : place;
};

/** All as of one moment: what was written in one transaction is seen together. */
async function loadRound(db: Queryable, entities: Map<string, Entity>, dependents: boolean): Promise<LoadedByKind> {
  await db.query('begin isolation level repeatable read, read only');
  try {
    const loaded: LoadedByKind = new Map();
    const idsOf = (kind: DocumentKind) => [...entities.values()].filter(entity => entity.kind === kind).map(entity => entity.id);
    // The site says which parts it has.
    if (dependents)
      for (const kind of partKinds) for (const id of idsOf(kind)) entities.set(key({ kind: 'site', id }), { kind: 'site', id });
    if (dependents) await addNaming(db, entities, idsOf('module'));
    await addPending(db, entities);
    loaded.set('site', await load(db, 'site', idsOf('site')));
    await addMissing(db, entities, loaded.get('site')! as Map<number, SiteLoaded>);
    if (dependents) await addDependents(db, entities, idsOf('site'), loaded.get('site')!);
    for (const kind of kindNames) if (kind !== 'site') loaded.set(kind, await load(db, kind, idsOf(kind)));
    return loaded;
  } finally {
    await db.query('commit');
  }
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
     ) select distinct kind, "entityID" as id from outbox where "siteID" in (select id from touched) and kind <> 'domain'`,
    values: [on('site'), on('domain'), on('module')],
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
  sites: Map<number, AnyLoaded>,
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

/** The messages that bring the bus from what stands there to what the rows say. Throws a sentence when no document can be made. */
function difference({ kind, id }: Entity, rows: AnyLoaded | undefined, old: PublishedRow[]): Message[] {
  const messages: Message[] = [];
  const made = rows && compile(kind, rows as never);
  const zoneID = made && !isEmpty(kind, made.document) ? rows.zoneID : undefined;
  if (made && zoneID !== undefined) {
    const there = old.find(row => row.zoneID === zoneID);
    const hash = documentHash(made.document);
    const { siteID, inherited } = rows;
    if (there?.hash !== hash || there.inherited !== inherited) {
      const subject = subjects.config(zoneID, kind, id);
      const expected = there?.seq ?? 0;
      messages.push({ kind, entityID: id, zoneID, siteID, subject, hash, inherited, body: made.body, expected });
    }
  }
  for (const row of old)
    if (row.hash !== '' && row.zoneID !== zoneID) messages.push({ ...row, hash: '', inherited: '', body: '', expected: row.seq });
  return messages;
}

/** What stands on a subject now. */
interface Stands extends PublishedRow {
  n: number;
  body: string;
}

/** Publishes in order with many under way, each acknowledged by the stream. @throws the first refusal */
async function publishAll({ nats, signer, epoch, numbers }: Press, messages: Message[]): Promise<Stands[]> {
  const js = jetstream(nats);
  const done: Stands[] = [];
  for (let i = 0; i < messages.length; i += inFlight) {
    const acks = messages.slice(i, i + inFlight).map(async ({ expected, ...row }) => {
      const { zoneID, subject, body } = row;
      const n = (numbers.get(zoneID) ?? 0) + 1;
      // A number is given once, also when the bus then refuses the document: nodes that see the gap ask.
      numbers.set(zoneID, n);
      const head = headers();
      head.set(signed.number, String(n));
      head.set(signed.epoch, epoch);
      head.set(signed.signature, signer.document({ zoneID, epoch, n, subject }, body));
      // The expectation is a fence: a relay that lost its lock without knowing cannot overwrite its successor.
      const ack = await js.publish(subject, body, {
        headers: head,
        timeout: publishTimeoutMs,
        expect: { streamName: streams.config, lastSubjectSequence: expected },
      });
      return { ...row, seq: ack.seq, n };
    });
    const settled = await Promise.allSettled(acks);
    for (const result of settled) {
      if (result.status === 'rejected') throw result.reason;
      done.push(result.value);
    }
  }
  return done;
}

/** One statement, so one transaction: subjects, errors, publications, and the outbox rows that are done. */
async function record(
  db: Queryable,
  round: Round,
  entities: Entity[],
  published: Stands[],
  failures: CompileFailure[],
): Promise<void> {
  await db.query({
    name: 'record',
    text: `with put as (
       insert into published (kind, "entityID", "zoneID", "siteID", subject, hash, seq, inherited, n, body)
       select kind, "entityID", "zoneID", "siteID", subject, hash, seq, inherited, n, body from jsonb_to_recordset($1::jsonb)
         as r(kind text, "entityID" bigint, "zoneID" bigint, "siteID" bigint, subject text, hash text, seq bigint, inherited text, n bigint, body text)
       on conflict (kind, "entityID", "zoneID") do update set "siteID" = coalesce(excluded."siteID", published."siteID"),
         subject = excluded.subject, hash = excluded.hash, seq = excluded.seq, inherited = excluded.inherited,
         n = excluded.n, body = excluded.body, "publishedAt" = now()
     ), heads as (
       insert into "zoneHead" as h ("zoneID", n)
       select "zoneID", max(n) from jsonb_to_recordset($1::jsonb) as r("zoneID" bigint, n bigint) group by 1
       on conflict ("zoneID") do update set n = greatest(h.n, excluded.n)
     ), seen as (
       update "busStream" set "lastSeq" = greatest("lastSeq", (select max((r->>'seq')::bigint) from jsonb_array_elements($1::jsonb) r))
       where name = $6 and jsonb_array_length($1::jsonb) > 0
     ), mended as (
       delete from "compileError" e using unnest($2::text[], $3::bigint[]) as d(kind, id) where e.kind = d.kind and e."entityID" = d.id
         and not exists (select from jsonb_array_elements($4::jsonb) f where f->>'kind' = e.kind and (f->>'entityID')::bigint = e."entityID")
     ), failed as (
       insert into "compileError" (kind, "entityID", "siteID", message)
       select kind, "entityID", "siteID", message from jsonb_to_recordset($4::jsonb)
         as r(kind text, "entityID" bigint, "siteID" bigint, message text)
       on conflict (kind, "entityID") do update set message = excluded.message, "siteID" = excluded."siteID"
     ), batch as (
       select "siteID", "zoneID", max(n) as seq from jsonb_to_recordset($1::jsonb) as r("siteID" bigint, "zoneID" bigint, n bigint)
       group by 1, 2
     ), stand as (
       insert into publication as p ("siteID", revision, "zoneID", seq, "committedAt")
       select c."siteID", c.revision, z."zoneID",
         coalesce(b.seq, (select max(n) from published o where o."siteID" = c."siteID" and o."zoneID" = z."zoneID"), 0), c."committedAt"
       from jsonb_to_recordset($5::jsonb) as c("siteID" bigint, revision bigint, "committedAt" timestamptz)
       left join (site s join product pr on pr.id = s."productID" join "group" z on z.id = pr."groupID")
         on s.id = c."siteID" and s."deletedAt" is null
       left join batch b on b."siteID" = c."siteID" and b."zoneID" = z."zoneID"
       on conflict ("siteID") do update set revision = excluded.revision, "committedAt" = excluded."committedAt", "zoneID" = excluded."zoneID",
         seq = case when p."zoneID" = excluded."zoneID" then greatest(p.seq, excluded.seq) else excluded.seq end
       where excluded.revision >= p.revision
     ), anew as (
       update publication p set seq = b.seq, "committedAt" = clock_timestamp() from batch b
       where $8 and p."siteID" = b."siteID" and p."zoneID" = b."zoneID" returning p."siteID"
     ), unserved as (
       delete from ack using anew where ack."siteID" = anew."siteID"
     )
     delete from outbox where id = any($7::bigint[])`,
    values: [
      JSON.stringify(published),
      entities.map(entity => entity.kind),
      entities.map(entity => entity.id),
      JSON.stringify(failures),
      JSON.stringify(round.changes),
      streams.config,
      round.outboxIDs,
      round.compiledAnew === true,
    ],
  });
}
