/**
 * Entities → messages → what the database remembers of them. One call is one round: load, compile, compare with what
 * stands on the bus, publish what differs, and record it all in a single statement.
 */
import { jetstream } from '@nats-io/jetstream';
import { type NatsConnection, headers } from '@nats-io/transport-node';
import { type EdgeDocument, documents } from '#contract/edge/document.ts';
import { signed } from '#contract/edge/signed.ts';
import { type DocumentKind, streams, subjects } from '#contract/edge/subjects.ts';
import { compilers, documentHash } from '../compile/compile.ts';
import { type Queryable, loaders } from '../compile/load.ts';
import type { DomainRows, SiteRows, ZoneRows } from '../compile/rows.ts';
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

/** A node's nginx takes a record of at most 4 MB (agent/src/render/records.ts), NATS a message of 8 MB; what customers may write stays below. */
export const documentBytesMax = 1_000_000;
/** Publications under way at once: enough to hide the round trip, few enough for the server's buffers. */
const inFlight = 256;
const publishTimeoutMs = 5000;
const kinds = ['site', 'domain', 'zone'] as const;
const key = (entity: { kind: string; id: number }) => `${entity.kind}.${entity.id}`;

/**
 * @throws when the bus or the database fails, or when somebody else wrote to a subject; nothing is recorded then, and the
 * round may be given again: documents are whole states
 */
export async function publishRound(db: Queryable, press: Press, round: Round): Promise<{ published: number }> {
  const entities = new Map(round.entities.map(entity => [key(entity), entity]));
  const sites = await load(db, 'site', entities);
  if (round.dependents !== false) await addDependents(db, entities, sites);
  const loaded = { site: sites, domain: await load(db, 'domain', entities), zone: await load(db, 'zone', entities) };
  const before = await loadPublished(db, [...entities.values()]);

  const messages: Message[] = [];
  const failures: CompileFailure[] = [];
  for (const kind of kinds) {
    for (const entity of entities.values()) {
      if (entity.kind !== kind) continue;
      const rows = loaded[kind].get(entity.id);
      const old = before.get(key(entity)) ?? [];
      try {
        messages.push(...difference(entity, rows, old));
      } catch (error) {
        failures.push({ kind, entityID: entity.id, siteID: siteOf(kind, entity.id, rows), message: (error as Error).message });
      }
    }
  }
  // New states first: a moved site stands in its new zone before it leaves the old one.
  messages.sort((a, b) => Number(a.hash === '') - Number(b.hash === ''));
  const published = await publishAll(press, messages);
  await record(db, round, [...entities.values()], published, failures);
  return { published: published.length };
}

type Rows = DomainRows | SiteRows | ZoneRows;

async function load<K extends DocumentKind>(db: Queryable, kind: K, entities: Map<string, Entity>): Promise<Map<number, Rows>> {
  const ids = [...entities.values()].filter(entity => entity.kind === kind).map(entity => entity.id);
  return ids.length ? ((await loaders[kind](db, ids)) as Map<number, Rows>) : new Map();
}

/** What the domains of a site take from it: when this changes, their documents change. */
const inheritedOf = ({ zoneID, site }: SiteRows) => `${zoneID} ${site.forceBackup}`;

/** Sites that moved, or whose domains inherit something else, bring their domains; sites that are gone take theirs along. */
async function addDependents(db: Queryable, entities: Map<string, Entity>, sites: Map<number, Rows>): Promise<void> {
  const ids = [...entities.values()].filter(entity => entity.kind === 'site').map(entity => entity.id);
  if (!ids.length) return;
  const { rows } = await db.query({
    name: 'published-sites',
    text: `select "entityID" as id, "zoneID", inherited from published where kind = 'site' and "entityID" = any($1::bigint[]) and hash <> ''`,
    values: [ids],
  });
  const known = new Map((rows as { id: string; inherited: string }[]).map(row => [Number(row.id), row.inherited]));
  const changed = ids.filter(id => {
    const site = sites.get(id) as SiteRows | undefined;
    return !site || known.get(id) !== inheritedOf(site);
  });
  if (!changed.length) return;
  const dependents = await db.query({
    name: 'dependents',
    text: `select id, 'domain' as kind from domain where "siteID" = any($1::bigint[]) and "deletedAt" is null
     union select "entityID", kind from published where "siteID" = any($1::bigint[]) and hash <> '' and kind = 'domain'`,
    values: [changed],
  });
  for (const row of dependents.rows as { id: string; kind: DocumentKind }[]) {
    const entity = { kind: row.kind, id: Number(row.id) };
    entities.set(key(entity), entity);
  }
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

const siteOf = (kind: DocumentKind, id: number, rows: Rows | undefined): number | null =>
  kind === 'site' ? id : rows && 'domain' in rows ? rows.domain.siteID : null;

/** The messages that bring the bus from what stands there to what the rows say. Throws a sentence when no document can be made. */
function difference(entity: Entity, rows: Rows | undefined, old: PublishedRow[]): Message[] {
  const { kind, id } = entity;
  const messages: Message[] = [];
  if (rows) {
    const { document, body } = compile(kind, rows);
    const there = old.find(row => row.zoneID === rows.zoneID);
    const hash = documentHash(document);
    const inherited = kind === 'site' ? inheritedOf(rows as SiteRows) : '';
    if (there?.hash !== hash || there.inherited !== inherited) {
      const subject = subjects.config(rows.zoneID, kind, id);
      const siteID = siteOf(kind, id, rows);
      messages.push({
        kind,
        entityID: id,
        zoneID: rows.zoneID,
        siteID,
        subject,
        hash,
        inherited,
        body,
        expected: there?.seq ?? 0,
      });
    }
  }
  for (const row of old)
    if (row.hash !== '' && row.zoneID !== rows?.zoneID)
      messages.push({ ...row, hash: '', inherited: '', body: '', expected: row.seq });
  return messages;
}

function compile(kind: DocumentKind, rows: Rows): { document: EdgeDocument; body: string } {
  const document: EdgeDocument = compilers[kind](rows as never);
  const checked = documents[kind].safeParse(document);
  if (!checked.success) {
    const issue = checked.error.issues[0];
    throw new Error(`${issue?.path.join('.') || 'document'}: ${issue?.message ?? 'invalid'}`);
  }
  const body = JSON.stringify(document);
  const bytes = Buffer.byteLength(body);
  if (bytes > documentBytesMax)
    throw new Error(`the document has ${bytes} bytes, at most ${documentBytesMax} fit into a node's record`);
  return { document, body };
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
    ],
  });
}
