/** Whether domains lead here: when somebody asks, and by itself from time to time. */
import { getServers } from 'node:dns/promises';
import { sql } from 'kysely';
import { Fail } from '#contract/errors.ts';
import { type cnameStates } from '#contract/states.ts';
import { resolutionLimits } from '#contract/limits.ts';
import { cnameChecks, type seenStates } from '#contract/resolution/check-cname.ts';
import { AddressPolicy } from '#contract/rules/address-policy.ts';
import { canonicalAddress } from '../domain/dns/records.ts';
import { domainTable } from '../domain/tables.ts';
import { addressesOf } from '../kit/answered.ts';
import { loopOf } from '../kit/metrics.ts';
import { implement } from '../kit/implement.ts';
import { those } from '../kit/removal.ts';
import { Seldom } from '../kit/seldom.ts';
import type { Services } from '../kit/services.ts';
import { lanesOf, type Line, type Party, partyOf, Turns } from '../kit/turns.ts';
import { logger } from '../log.ts';
import { type Database, type Db, openDatabase, rows, type Sql } from '../store/db.ts';
import { readSetting } from '../system/settings.ts';
import { lookAbove, newKeySeconds } from './above.ts';
import { type Seen, seenOf, type Unseen } from './seen.ts';

type State = (typeof cnameStates)[number];
/** Names asked for at a time by one call, or for one root account. */
const atOnce = 8;
const seenMost = 20;
/** That one name may take over all its steps, and all names of one call: what is left then is `unknown`. */
const nameMs = 5000;
const callMs = 30_000;
/** Of all who ask, and with the watch, which has places of its own: no customer, and no operator with all of its own, has them all. */
const turns = new Turns({
  name: 'cnameChecks',
  lanes: [...lanesOf(24), 32],
  each: atOnce,
  seconds: 0.75,
  // of several calls at once
  waiting: 5 * atOnce,
  waitingAll: 2000,
  // a call leaves before
  waitMs: 10 * callMs,
  refusal: () =>
    new Fail('parameter', {
      status: 429,
      errorData: [{ path: '', rule: 'tooManyCalls', bounds: { seconds: callMs / 1000 } }],
      extra: { retryAfter: callMs / 1000 },
    }),
});
export const watch: Party = { lane: 3, path: ['watch'] };
/** They wait until they have to be done. */
const until = (signal: AbortSignal): Line => ({
  destroyed: signal.aborted,
  once: (event, heard) => signal.addEventListener('abort', heard, { once: true }),
  off: (event, heard) => signal.removeEventListener('abort', heard),
});

interface Asked {
  id: number;
  domainName: string;
  siteID: number;
  /** `KEY.ZONE` of the site in each zone of its operator */
  targets: string[];
  /** of the edges on lines of its group, also as parts of virtual nodes there, that are answered: in one spelling */
  addresses: string[];
}
/** Of a relay, of a node on no line of the group, and behind an edge in its own house nobody is served. */
async function askedWhere(db: Db, condition: Sql): Promise<Asked[]> {
  const found = await rows<Omit<Asked, 'addresses'> & { nodes: string[][] }>(
    db,
    sql`select d.id, d."domainName", d."siteID",
        coalesce((select array_agg(s."cnameKey" || '.' || c."domainName" order by c.id) from cname c where c."clientID" = s."clientID" and c."deletedAt" is null), '{}') as targets,
        coalesce((select jsonb_agg(n.addresses || array(select sub.address from "nodeSub" sub where sub."nodeID" = n.id and sub."deletedAt" is null order by sub.id)) from node n
          where n."zoneID" = g."zoneID" and n.type = 'edge' and n."deletedAt" is null
            and (exists (select 1 from "lineNode" ln where ln."groupID" = g.id and ln."nodeID" = n.id)
              or exists (select 1 from "lineVirtualNode" lv join "virtualNode" v on v.id = lv."virtualNodeID" and v."deletedAt" is null
                join "virtualNodeRecord" r on r."virtualNodeID" = v.id and r."deletedAt" is null where lv."groupID" = g.id and r."nodeID" = n.id))), '[]') as nodes
      from domain d join site s on s.id = d."siteID" join product p on p.id = s."productID" join "group" g on g.id = p."groupID"
      where d."deletedAt" is null and s."deletedAt" is null and (${condition})`,
  );
  const answered = (addresses: string[]) => ([4, 6] as const).flatMap(family => addressesOf({ addresses }, family));
  return found.map(({ nodes, ...one }) => ({ ...one, addresses: [...new Set(nodes.flatMap(answered).map(canonicalAddress))] }));
}

/**
 * A name leads here through one of its site's own names. One that cannot have a CNAME (the top of a zone) leads here by addresses, all of
 * which are edges' of its group: its provider follows the name for it.
 */
export function stateOf({ targets, addresses }: Pick<Asked, 'targets' | 'addresses'>, seen: Seen): State {
  if (seen.through.some(name => targets.includes(name))) return 'active';
  if (!seen.through.length && seen.addresses.length && seen.addresses.every(one => addresses.includes(canonicalAddress(one))))
    return 'active';
  return seen.through.length || seen.addresses.length ? 'wrong' : 'unset';
}

export interface Found {
  id: number;
  domainName: string;
  status: (typeof seenStates)[number];
  seen: string[];
  nameServers: string[];
  /** of `unknown` */
  reason: Unseen | null;
}

/**
 * Asks resolvers, and nobody else; a few names at a time, when it is the turn of `party`. What is not answered when `signal` is aborted is
 * `unknown`.
 * @throws Fail `tooManyCalls` with status 429 and Retry-After where too many of its names wait already
 */
export async function look(
  asked: readonly Asked[],
  { dns }: Pick<Services, 'dns'>,
  policy: AddressPolicy,
  { party, signal }: { party: Party; signal: AbortSignal },
): Promise<Found[]> {
  const found: Found[] = [];
  let at = 0;
  const answerOf = async (one: Asked) => {
    const within = AbortSignal.timeout(nameMs);
    const answered = await seenOf(one.domainName, dns?.resolvers ?? [], AbortSignal.any([signal, within]));
    // whose own time ran out had enough of it: nobody answered
    return answered === 'tooLate' && within.aborted && !signal.aborted ? 'noAnswer' : answered;
  };
  const next = async () => {
    for (let one = asked[at++]; one; one = asked[at++]) {
      const name = one;
      const answered = await turns
        .run(party, () => answerOf(name), until(signal))
        .catch((error: unknown) => {
          if (signal.aborted) return 'tooLate' as const;
          at = asked.length;
          throw error;
        });
      const seen = typeof answered === 'string' ? undefined : answered;
      // what a name means inside the house is not a customer's to learn
      const shown = seen?.through.length
        ? seen.through
        : (seen?.addresses ?? []).filter(ip => name.addresses.includes(canonicalAddress(ip)) || policy.judge(ip, 443).allowed);
      found.push({
        id: name.id,
        domainName: name.domainName,
        status: seen ? stateOf(name, seen) : 'unknown',
        seen: shown.slice(0, seenMost),
        nameServers: seen?.nameServers ?? [],
        reason: typeof answered === 'string' ? answered : null,
      });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, next));
  return found;
}

/** Any number; it names "where domains lead" among PostgreSQL's advisory locks. */
const seenKey = 72_034;
/** Until the transaction ends nobody writes down that a domain leads anywhere: what is read of it now stays so. */
export const holdSeen = (db: Db) => sql`select pg_advisory_xact_lock(${seenKey}::bigint)`.execute(db);

/** Writes down what was seen, in a transaction: a fact about the world. @returns domains that lead elsewhere than before */
async function remember(db: Db, found: readonly Found[]): Promise<{ id: number; before: string; after: string }[]> {
  await sql`select pg_advisory_xact_lock_shared(${seenKey}::bigint)`.execute(db);
  const said = sql`jsonb_to_recordset(${JSON.stringify(found)}::jsonb) as f(id bigint, status text, seen jsonb, "nameServers" jsonb, reason text)`;
  const unknown = found.filter(one => one.status === 'unknown').map(one => one.id);
  await sql`insert into "cnameSeen" as s ("domainID", seen, "nameServers", "isUnknown", unseen, "seenAt", since) select f.id, array(select jsonb_array_elements_text(f.seen)),
      array(select jsonb_array_elements_text(f."nameServers")), f.status = 'unknown', coalesce(f.reason, ''),
      case when f.status <> 'unknown' then clock_timestamp() end, case when f.status <> 'unknown' then clock_timestamp() end from ${said}
      where exists (select 1 from domain d where d.id = f.id)
    on conflict ("domainID") do update set "checkedAt" = clock_timestamp(), "isUnknown" = excluded."isUnknown",
      "nameServers" = case when excluded."nameServers" = '{}' then s."nameServers" else excluded."nameServers" end,
      unseen = excluded.unseen, since = case when s."seenAt" is null and s.seen = '{}' then excluded.since else s.since end,
      "seenAt" = coalesce(excluded."seenAt", s."seenAt"),
      seen = case when excluded."domainID" = any(${unknown}::bigint[]) then s.seen else excluded.seen end`.execute(db);
  return rows(
    db,
    sql`update domain d set "cnameStatus" = was.after from
        (select d.id, d."cnameStatus" as before, f.status as after from domain d join ${said} on f.id = d.id
          where f.status not in ('unknown', d."cnameStatus") for no key update of d) was
      where d.id = was.id returning was.*`,
  );
}
const policyOf = async (db: Db) =>
  new AddressPolicy({ operator: [], environment: await readSetting(db, null, 'originEnvironment'), own: [] });

export const cnameCheckCalls = implement(
  cnameChecks,
  {
    'POST /domains/checkCNAME': async ({ ctx, params, body, prepared }) => {
      const { there, tell } = await those(ctx.store(domainTable, params), body.ids);
      // what `prepare` answered, below
      const found = (Array.isArray(prepared) ? prepared : []) as Found[];
      const mine = found.filter(one => there.some(({ id }) => id === one.id));
      for (const { id, before, after } of await remember(ctx.db, mine))
        ctx.note({ table: 'domain', id, before: { cnameStatus: before }, after: { cnameStatus: after } });
      tell();
      return mine.map(({ id, domainName, status, seen, reason }) => {
        const { cname } = there.find(one => one.id === id)!;
        return { id, domainName, cname, status, seen, reason };
      });
    },
  },
  {
    // DNS takes its time: nobody's turn or connection is held meanwhile
    prepare: {
      'POST /domains/checkCNAME': async ({ ctx, params, body }) => {
        const mine = await ctx.store(domainTable, { siteID: params.siteID }).pick(['id'], [sql`t.id = any(${body.ids})`]);
        const asked = await askedWhere(ctx.db, sql`d.id = any(${mine.map(one => one.id)}::bigint[])`);
        return look(asked, ctx.services, await policyOf(ctx.db), {
          party: partyOf(ctx.actor),
          signal: AbortSignal.timeout(callMs),
        });
      },
    },
  },
);

const lookMs = 5000;
const together = 100;
const troubles = new Seldom(300_000);

/** Looks at every domain from time to time, those that lead here less often, and at what is said above of our zones' keys. Several processes may: each takes others. */
export class CnameWatch {
  readonly #database: Database;
  readonly #services: Pick<Services, 'dns'>;
  #isStopping = false;
  readonly #stopped = new AbortController();
  #wake = () => {};
  #running: Promise<void> | undefined;

  constructor(databaseUrl: string, services: Pick<Services, 'dns'>) {
    this.#database = openDatabase(databaseUrl, 1);
    this.#services = services;
  }

  start(): void {
    const round = loopOf('cnameWatch');
    const go = async () => {
      while (!this.#isStopping) {
        const n = await this.turn().catch((err: Error) => {
          if (troubles.isTime('look')) logger.warn({ err }, 'where domains lead could not be looked at');
          return 0;
        });
        round();
        if (n < together && !this.#isStopping) await this.#pause();
      }
    };
    this.#running = go();
  }

  async #pause(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>(resolve => {
      this.#wake = resolve;
      timer = setTimeout(resolve, lookMs);
    });
    clearTimeout(timer);
  }

  /** @returns how many were looked at */
  async turn(): Promise<number> {
    const { db } = this.#database;
    const { resolvers = [] } = this.#services.dns ?? {};
    if (!(resolvers.length || getServers().length)) return 0;
    await lookAbove(db, resolvers, newKeySeconds);
    const { active, other } = resolutionLimits.checkMinutes;
    // taken by noting the look before it: whoever dies in its midst has left them for later
    const taken = await rows<{ id: number }>(
      db,
      sql`insert into "cnameSeen" ("domainID", "isUnknown") select d.id, true from domain d join site s on s.id = d."siteID" left join "cnameSeen" c on c."domainID" = d.id
          where d."deletedAt" is null and s."deletedAt" is null
            and exists (select 1 from cname z where z."clientID" = s."clientID" and z."deletedAt" is null)
            and coalesce(c."checkedAt", '-infinity') < clock_timestamp() - case when d."cnameStatus" = 'active' then ${active}::int else ${other}::int end * interval '1 minute'
          order by c."checkedAt" nulls first limit ${together} on conflict ("domainID") do update set "checkedAt" = clock_timestamp() returning "domainID" as id`,
    );
    if (!taken.length) return 0;
    const asked = await askedWhere(db, sql`d.id = any(${taken.map(one => one.id)}::bigint[])`);
    const found = await look(asked, this.#services, await policyOf(db), { party: watch, signal: this.#stopped.signal });
    await db.transaction().execute(async trx => remember(trx, found));
    return taken.length;
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#stopped.abort();
    this.#wake();
    await this.#running;
    await this.#database.close();
  }
}
