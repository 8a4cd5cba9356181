/** What the database remembers of a round. */
import type { DocumentKind } from '#contract/edge/kinds/index.ts';
import type { Queryable } from '../compile/load.ts';
import type { Entity, PublishedRow, Round } from './round.ts';

export interface CompileFailure {
  kind: DocumentKind;
  entityID: number;
  siteID: number | null;
  message: string;
}

/** What stands on a subject now. */
export interface Stands extends PublishedRow {
  n: number;
  body: string;
}

/** What a round has come to; a piece of one has published something, and done nothing yet. */
export interface Outcome {
  published: Stands[];
  entities: Entity[];
  failures: CompileFailure[];
  changes: Round['changes'];
  outboxIDs: string[];
  compiledAnew: boolean;
}

/**
 * One statement, so one transaction: subjects, errors, publications, and the outbox rows that are done.
 * @param ledger the row of "busStream" that says how far the stream is known
 */
export async function record(
  db: Queryable,
  ledger: string,
  { published, entities, failures, changes, outboxIDs, compiledAnew }: Outcome,
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
      JSON.stringify(changes),
      ledger,
      outboxIDs,
      compiledAnew,
    ],
  });
}
