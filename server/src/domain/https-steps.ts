/** What a domain lacks for https, as a person would look for it: its name, the proof, the certificate. */
import { getServers, Resolver } from 'node:dns/promises';
import { sql } from 'kysely';
import { autoSSL } from '#contract/domain/auto-certificates.ts';
import { httpsSteps, type leadsStates, type proofStates } from '#contract/domain/https-steps.ts';
import type { acmeWays } from '#contract/limits.ts';
import { AddressPolicy } from '#contract/rules/address-policy.ts';
import type { Context } from '../kit/context.ts';
import { implement } from '../kit/implement.ts';
import { type Db, row, rows } from '../store/db.ts';
import { readSetting } from '../system/settings.ts';
import { domainTable } from './tables.ts';

const lookMs = 2000;
/** A screen asks every few seconds, and several may: the name is asked for once. */
const keptMs = 3000;
const keptMost = 500;
const addressesMost = 20;
/** Names asked for at a time, of all and of one account: a resolver that is silent shall not cost us a socket for each call. */
const atOnce = 50;
const atOnceOfOne = 8;
const underWay = new Map<number, number>();
let allUnderWay = 0;
/** An authority that came by the name lately has found us there, whatever addresses nodes know of themselves. */
const provenMinutes = 60;

/** undefined: nobody answered */
type Found = string[] | undefined;
const kept = new Map<string, { at: number; found: Promise<Found> }>();

/** Where a name leads; of a wildcard, any name below it. */
function addressesOf(ctx: Context, domainName: string): Promise<Found> {
  const name = domainName.replace(/^\*\./, 'https-of-a-wildcard.');
  const now = performance.now();
  const known = kept.get(name);
  if (known && now - known.at < keptMs) return known.found;
  kept.delete(name);
  if (kept.size >= keptMost) kept.delete(kept.keys().next().value!);
  const { rootID } = ctx.actor;
  const mine = underWay.get(rootID) ?? 0;
  if (allUnderWay >= atOnce || mine >= atOnceOfOne) return Promise.resolve(undefined);
  const { dns } = ctx.services;
  const resolver = new Resolver({ timeout: lookMs, tries: 1 });
  resolver.setServers(dns?.resolvers.length ? dns.resolvers : getServers());
  const none = ({ code }: NodeJS.ErrnoException): Found => (code === 'ENODATA' || code === 'ENOTFOUND' ? [] : undefined);
  const found = Promise.all([resolver.resolve4(name).catch(none), resolver.resolve6(name).catch(none)]).then(([four, six]) =>
    four?.length || six?.length ? [...(four ?? []), ...(six ?? [])] : (four ?? six),
  );
  kept.set(name, { at: now, found });
  allUnderWay++;
  underWay.set(rootID, mine + 1);
  void found.finally(() => {
    allUnderWay--;
    const left = underWay.get(rootID)! - 1;
    if (left > 0) underWay.set(rootID, left);
    else underWay.delete(rootID);
  });
  return found;
}

interface Leads {
  state: (typeof leadsStates)[number];
  /** those that anybody may know: what a name means inside the house is not a customer's to learn */
  addresses: string[];
}
async function leads(db: Db, siteID: number, addresses: Found, isProven: boolean): Promise<Leads> {
  if (!addresses) return { state: isProven ? 'here' : 'unknown', addresses: [] };
  if (!addresses.length) return { state: isProven ? 'here' : 'none', addresses: [] };
  const known = await rows<{ one: string }>(
    db,
    sql`select distinct lower(a.one) as one from site s join product p on p.id = s."productID" join "group" g on g.id = p."groupID"
        join node n on n."zoneID" = g."zoneID" and n."deletedAt" is null cross join unnest(n.addresses) as a(one) where s.id = ${siteID}`,
  );
  const ours = new Set(known.map(({ one }) => one));
  // nor are those that the installation itself lets origins be at
  const policy = new AddressPolicy({ operator: [], environment: await readSetting(db, null, 'originEnvironment'), own: [] });
  const shown = addresses.filter(one => ours.has(one) || policy.judge(one, 443).allowed).slice(0, addressesMost);
  if (isProven || addresses.some(one => ours.has(one))) return { state: 'here', addresses: shown };
  return { state: known.length ? 'elsewhere' : 'unknown', addresses: shown };
}

interface Wish {
  state: 'pending' | 'processing' | 'success' | 'fail';
  way: (typeof acmeWays)[number];
  nextAt: string | null;
  isRecent: boolean;
}
const stateOf = { pending: 'waits', processing: 'runs', success: 'seen', fail: 'failed' } as const satisfies Record<
  Wish['state'],
  (typeof proofStates)[number]
>;

export const httpsStepImplementation = implement(
  httpsSteps,
  {
    'GET /domain/{domainID}/https': async ({ ctx, params, found, prepared }) => {
      const { domainName, autoSSL: isOn, certificateID } = found['domainID']!;
      const wish = isOn
        ? await row<Wish>(
            ctx.db,
            sql`select state, way, "nextAt", coalesce("issuedAt" > clock_timestamp() - ${provenMinutes} * interval '1 minute', false) as "isRecent"
                from "autoCertificate" where "domainID" = ${params.domainID} and "deletedAt" is null`,
          )
        : undefined;
      const line = wish
        ? await row<{ taskID: number; code: string; values: Record<string, unknown>; at: string }>(
            ctx.db,
            sql`select l."taskID", l.code, l.values, l.at from task k join "taskLine" l on l."taskID" = k.id
                where k."siteID" = ${params.siteID} and k.kind = ${autoSSL.name}
                  and k.input->'domainIDs' @> to_jsonb(${params.domainID}::bigint) and l.values->>'host' = ${domainName}
                order by k.id desc, l.n desc limit 1`,
          )
        : undefined;
      const certificate = certificateID
        ? await row<{ notAfter: string; isOver: boolean }>(
            ctx.db,
            sql`select "notAfter", "notAfter" <= clock_timestamp() as "isOver" from certificate where id = ${certificateID} and "deletedAt" is null`,
          )
        : undefined;
      const addresses = Array.isArray(prepared) ? prepared.map(String) : undefined;
      const isProven = wish?.state === 'success' && wish.way === 'http' && wish.isRecent;
      return {
        dns: await leads(ctx.db, params.siteID, addresses, isProven),
        proof: {
          state: wish ? stateOf[wish.state] : 'off',
          way: wish?.way ?? 'http',
          nextAt: wish?.nextAt ?? null,
          line: line
            ? {
                ...line,
                values: Object.fromEntries(
                  Object.entries(line.values).map(([name, value]) => [name, String(value).slice(0, 500)]),
                ),
              }
            : null,
        },
        certificate: {
          state: !certificate ? 'none' : certificate.isOver ? 'ended' : 'shown',
          notAfter: certificate?.notAfter ?? null,
        },
      };
    },
  },
  {
    params: { domainID: domainTable },
    // DNS takes its time: nobody's turn or connection is held meanwhile
    prepare: {
      'GET /domain/{domainID}/https': async ({ ctx, params }) => {
        const [domain] = await ctx
          .store(domainTable, { siteID: params.siteID })
          .pick(['domainName'], [sql`t.id = ${params.domainID}`]);
        return domain && addressesOf(ctx, domain.domainName);
      },
    },
  },
);
