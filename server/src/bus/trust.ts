/**
 * What stands on the bus is what the database says stands there: looked at when the relay begins, after each reconnection and every few
 * seconds (relay.ts). What is done here may be much, and goes on where it was broken off.
 */
import { isKind, kindNames, kinds } from '#contract/edge/kinds/index.ts';
import { signed } from '#contract/edge/signed.ts';
import { parseConfigSubject, streams } from '#contract/edge/subjects.ts';
import type { Queryable } from '../compile/load.ts';
import { compilerMark } from '../compile/mark.ts';
import { numbersSkipped } from '../store/dump.ts';
import { noteForeign } from './foreign.ts';
import type { Press } from './publish.ts';
import { type Entity, key } from './round.ts';
import { publishRounds, roundMost } from './rounds.ts';
import { settle } from './settle.ts';
import { type StreamFacts, configAfter, ensureConfigStream, removeConfigMessage, renewConfigStream } from './streams.ts';

/** Notes how far a new stream is filled. */
const filling = `${streams.config} filling`;

export async function trustStream(client: Queryable, press: Press, log: (message: string) => void, anew: boolean): Promise<void> {
  const stream = await ensureConfigStream(press.nats);
  const { rows } = await client.query('select epoch, "lastSeq", compiler from "busStream" where name = $1', [streams.config]);
  const known = rows[0] as { epoch: string; lastSeq: string; compiler: string } | undefined;
  const lastSeq = Number(known?.lastSeq ?? 0);
  if (anew || known?.epoch !== stream.epoch || stream.lastSeq < lastSeq) {
    press.epoch = '';
    await publishEverything(client, press, stream, log, anew);
  } else {
    press.epoch = stream.epoch;
    if (stream.lastSeq > lastSeq) await compileAgain(client, press, lastSeq, log);
    if (known.compiler !== compilerMark) await compileEverything(client, press, log);
  }
}

/** A stream that lost messages since it was half filled holds less than the database says it does. */
export const isFilledFurther = (
  begun: { epoch: string; lastSeq: string },
  found: Pick<StreamFacts, 'epoch' | 'lastSeq'>,
): boolean => begun.epoch === found.epoch && found.lastSeq >= Number(begun.lastSeq);

/** What is gone, last found first: what may name it was looked at after it. */
export const goneInOrder = (gone: ReadonlyMap<string, Entity>): Entity[] => [...gone.values()].reverse();

/**
 * Fills a new stream. While its row is missing, nobody is told what stands in it: half of it would be taken for all. Another row notes how
 * far it is, so that one that was broken off is filled further.
 */
async function publishEverything(
  client: Queryable,
  press: Press,
  found: StreamFacts,
  log: (message: string) => void,
  anew: boolean,
): Promise<void> {
  const { rows } = await client.query('select epoch, "lastSeq" from "busStream" where name = $1', [filling]);
  const begun = rows[0] as { epoch: string; lastSeq: string } | undefined;
  const goesOn = !anew && begun !== undefined && isFilledFurther(begun, found);
  log(`relay: the stream is new to us; ${goesOn ? 'the rest of it is published' : 'everything is published again'}`);
  const stream = goesOn || found.lastSeq === 0 ? found : await renewConfigStream(press.nats);
  const further: Press = { ...press, epoch: stream.epoch, ledger: filling };
  if (goesOn) await compileAgain(client, further, Number(begun.lastSeq), log);
  else
    await client.query(
      `with gone as (delete from published), untold as (delete from "busStream" where name = $1)
       insert into "busStream" (name, epoch, "lastSeq") values ($2, $3, 0)
       on conflict (name) do update set epoch = excluded.epoch, "lastSeq" = excluded."lastSeq"`,
      [streams.config, filling, stream.epoch],
    );
  await publishAllKinds(client, further, { compiledAnew: false });
  const { lastSeq } = await ensureConfigStream(press.nats);
  await client.query(
    `with filled as (delete from "busStream" where name = $5),
     stream as (insert into "busStream" (name, epoch, "lastSeq", compiler) values ($1, $2, $3, $4)),
     newest as (select "siteID", "zoneID", max(n) as seq from published where "siteID" is not null group by 1, 2),
     site_ as (
       select s.id, s.revision, g."zoneID", coalesce(s."changedAt", s."updatedAt") as "committedAt", coalesce(n.seq, 0) as seq
       from site s join product p on p.id = s."productID" join "group" g on g.id = p."groupID"
       left join newest n on n."siteID" = s.id and n."zoneID" = g."zoneID" where s."deletedAt" is null
     ), gone as (delete from publication where not exists (select from site_ where site_.id = publication."siteID"))
     insert into publication as p ("siteID", revision, "zoneID", seq, "committedAt")
     select id, revision, "zoneID", seq, "committedAt" from site_
     on conflict ("siteID") do update set seq = excluded.seq, "zoneID" = excluded."zoneID"`,
    [streams.config, stream.epoch, lastSeq, compilerMark, filling],
  );
  press.epoch = stream.epoch;
  await settle(client, {});
}

/**
 * Kind after kind in the order in which they are sent: a site's parts stand there before the site that names them. What is gone goes after all
 * of them, in the opposite order and with what may name it: a domain whose module is gone before it is not served.
 */
async function publishAllKinds(client: Queryable, press: Press, { compiledAnew }: { compiledAnew: boolean }): Promise<void> {
  const gone = new Map<string, Entity>();
  const hold = (entity: Entity) => void gone.set(key(entity), entity);
  for (const kind of kindNames) {
    // Nobody is told of a stream that is being filled; and what comes before a site waits for nothing.
    const pending = compiledAnew && (kind === 'site' || kind === 'domain');
    for (let after = 0; ;) {
      const { rows } = await client.query(
        `select id from ${kinds[kind].on} where id > $1 and "deletedAt" is null order by id limit ${roundMost}`,
        [after],
      );
      const ids = (rows as { id: string }[]).map(row => Number(row.id));
      if (!ids.length) break;
      after = ids.at(-1)!;
      await publishRounds(
        client,
        press,
        ids.map(id => ({ entities: [{ kind, id }], changes: [], outboxIDs: [], dependents: false, pending, compiledAnew, hold })),
      );
    }
  }
  await publishRounds(
    client,
    press,
    goneInOrder(gone).map(entity => ({ entities: [entity], changes: [], outboxIDs: [], pending: compiledAnew, compiledAnew })),
  );
}

/** Documents stand there that another release of us made: what reads otherwise now is published, the rest stays. */
async function compileEverything(client: Queryable, press: Press, log: (message: string) => void): Promise<void> {
  log('relay: documents are made otherwise now; those that differ are published');
  await publishAllKinds(client, press, { compiledAnew: true });
  await client.query(`update "busStream" set compiler = $2 where name = $1`, [streams.config, compilerMark]);
}

/**
 * A number that our bus has seen and this database has not given yet: it went back. What it gives next must not be called as what was lost,
 * whose log lines and figures are still there.
 */
async function neverAgain(client: Queryable, table: string, id: number): Promise<void> {
  await client.query(
    `select setval(pg_get_serial_sequence($1, 'id'), $2::bigint + $3) from pg_sequences
     where schemaname = 'public' and sequencename = split_part(pg_get_serial_sequence($1, 'id'), '.', 2) and coalesce(last_value, 0) < $2`,
    [table, id, numbersSkipped],
  );
}

/**
 * The stream holds messages that the database knows nothing of: their entities are compiled from what the rows say now. Ours (a crash came
 * in between, or the database is older than the stream) bear our signature; any other was written by somebody who may not.
 */
async function compileAgain(client: Queryable, press: Press, after: number, log: (message: string) => void): Promise<void> {
  const entities = new Map<string, Entity>();
  const newest = new Map<string, number>();
  let last = after;
  for await (const { subject, seq, header, data } of configAfter(press.nats, after)) {
    last = seq;
    const found = parseConfigSubject(subject);
    const parsed = found && isKind(found.kind) ? { ...found, kind: found.kind } : null;
    const n = Number(header(signed.number));
    const epoch = header(signed.epoch);
    const ours =
      parsed !== null &&
      Number.isSafeInteger(n) &&
      press.signer.isDocument({ zoneID: parsed.zoneID, epoch, n, subject }, data, header(signed.signature));
    if (!ours) {
      noteForeign(streams.config, subject);
      log(`relay: somebody else wrote to ${subject.slice(0, 100)}; it is ${parsed ? 'overwritten' : 'removed'}`);
    }
    if (!parsed) {
      await removeConfigMessage(press.nats, seq);
      continue;
    }
    const { kind, id, zoneID } = parsed;
    if (ours) newest.set(kinds[kind].on, Math.max(id, newest.get(kinds[kind].on) ?? 0));
    if (ours) press.numbers.set(zoneID, Math.max(n, press.numbers.get(zoneID) ?? 0));
    entities.set(`${kind} ${id}`, { kind, id });
    // Its text is not ours to hand out: whoever asks meanwhile gets what stood there before.
    await client.query(
      `insert into published (kind, "entityID", "zoneID", subject, hash, seq) values ($1, $2, $3, $4, 'unknown', $5)
       on conflict (kind, "entityID", "zoneID") do update set hash = excluded.hash, seq = excluded.seq`,
      [kind, id, zoneID, subject, seq],
    );
  }
  for (const [table, id] of newest) await neverAgain(client, table, id);
  await publishRounds(
    client,
    press,
    [...entities.values()].map(entity => ({ entities: [entity], changes: [], outboxIDs: [] })),
  );
  await client.query(`update "busStream" set "lastSeq" = greatest("lastSeq", $2) where name = $1`, [press.ledger, last]);
}
