/**
 * What the zone above says of our zones' keys (DS, RFC 4034, 5), as resolvers say it. Without that nobody would know that a zone which is
 * restored from before it was signed is believed by nobody, nor when a new key may take the place of the one before.
 */
import { getServers } from 'node:dns/promises';
import { sql } from 'kysely';
import { resolutionLimits } from '#contract/limits.ts';
import * as dns from '../domain/dns/message.ts';
import { type Db, rows } from '../store/db.ts';
import { ask, digestsIn, type NameServer } from './ask.ts';
import { embedded } from './load.ts';
import { ttl } from './names.ts';

const together = 20;
/** SHA-256, as we show them; of any other digest the key's tag and algorithm have to do. */
const sha256 = '2';

/** `192.0.2.53`, `192.0.2.53:5353`, `[2001:db8::53]:5353` */
function serverOf(text: string): NameServer {
  const [, six, four, port] = /^(?:\[([^\]]+)\]|([^:]+)):(\d+)$/.exec(text) ?? [];
  return { host: six ?? four ?? text, port: Number(port ?? 53) };
}

/** What any of them has, for one may know already what another still has from before. Undefined: nobody says. `seconds`: how long others may have it. */
async function digestsAbove(name: string, resolvers: readonly string[]): Promise<{ all: string[]; seconds: number } | undefined> {
  const asked = await Promise.all(
    resolvers.map(one => ask(serverOf(one), name, dns.types.DS, undefined, true).catch(() => undefined)),
  );
  // NXDOMAIN says as well that there is none
  const said = asked.flatMap(answer => (answer?.rcode === 0 || answer?.rcode === 3 ? [answer] : []));
  if (!said.length) return undefined;
  const ttls = said.flatMap(({ answers }) => answers.filter(({ type }) => type === dns.types.DS).map(record => record.ttl));
  return { all: said.flatMap(answer => digestsIn(answer, dns.types.DS)), seconds: Math.max(0, ...ttls) };
}

/** A new key takes over no sooner after its DS was seen above: most zones above let resolvers keep what they said for a day at most. */
export const newKeySeconds = 86_400;

/**
 * Looks at zones of the embedded name server whose turn it is, or at all signed ones of `only` now; a zone above that keeps DS for longer
 * than `waitSeconds` is waited for as long. @returns ids of those that somebody said something of: of others nothing is known now
 */
export async function lookAbove(
  db: Db,
  resolvers: readonly string[],
  waitSeconds: number,
  only?: readonly number[],
): Promise<number[]> {
  const servers = resolvers.length ? resolvers : getServers();
  // one that is asked about by name is waited for, not passed over
  const due = only
    ? sql`(c.signed or c."dsBefore" <> '{}') and c.id = any(${[...only]}::bigint[]) order by c.id for update of c`
    : sql`coalesce(c."aboveAt", '-infinity') < clock_timestamp() - ${resolutionLimits.checkMinutes.other}::int * interval '1 minute'
        order by c."aboveAt" nulls first limit ${together} for update of c skip locked`;
  // taken by noting the look before it: whoever dies in its midst has left them for later
  const taken = await rows<{ id: number; name: string; ds: string[]; dsBefore: string[] }>(
    db,
    sql`update cname set "aboveAt" = clock_timestamp() where id in (select c.id from cname c join "dnsSetting" s on s.id = c."dnsSettingID"
        where s.driver = ${embedded} and c."deletedAt" is null
          and ${due})
      returning id, "domainName" as name, ds, "dsBefore"`,
  );
  const answered = await Promise.all(
    taken.map(async ({ id, name, ds, dsBefore }) => {
      const found = await digestsAbove(name, servers);
      if (!found) return [];
      const above = found.all.map(one => {
        const [tag, algorithm, type] = one.split(' ');
        const ours = type === sha256 ? undefined : [...ds, ...dsBefore].find(own => own.includes(` IN DS ${tag} ${algorithm} `));
        return ours ?? `${name}. ${ttl.zone} IN DS ${one}`;
      });
      const all = [...new Set(above)].slice(0, 20);
      const seconds = Math.max(waitSeconds, found.seconds);
      // of two keys the new one is the last
      await sql`update cname set "dsAbove" = ${all}::text[], "dsSeenAt" = clock_timestamp(),
          "dsGoneFrom" = case when (ds || "dsBefore") && ${all}::text[] then greatest("dsGoneFrom", clock_timestamp() + ${found.seconds} * interval '1 second')
            else "dsGoneFrom" end,
          "newKeyFrom" = case when cardinality(ds) < 2 or not ds[2:] && ${all}::text[] then null
          else coalesce("newKeyFrom", clock_timestamp() + ${seconds} * interval '1 second') end where id = ${id}`.execute(db);
      return [id];
    }),
  );
  return answered.flat();
}
