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

/** Undefined: nobody says. `seconds`: how long others may have it from before. */
async function digestsAbove(name: string, resolvers: readonly string[]): Promise<{ all: string[]; seconds: number } | undefined> {
  for (const one of resolvers) {
    const answer = await ask(serverOf(one), name, dns.types.DS, undefined, true).catch(() => undefined);
    // NXDOMAIN says as well that there is none
    if (answer?.rcode !== 0 && answer?.rcode !== 3) continue;
    return { all: digestsIn(answer, dns.types.DS), seconds: Math.max(0, ...answer.answers.map(record => record.ttl)) };
  }
  return undefined;
}

/** A new key takes over no sooner after its DS was seen above: most zones above let resolvers keep what they said for a day at most. */
export const newKeySeconds = 86_400;

/**
 * Looks at zones of the embedded name server whose turn it is, or at signed ones of `only` now; a zone above that keeps DS for longer than
 * `waitSeconds` is waited for as long.
 */
export async function lookAbove(
  db: Db,
  resolvers: readonly string[],
  waitSeconds: number,
  only?: readonly number[],
): Promise<void> {
  const servers = resolvers.length ? resolvers : getServers();
  const due = only
    ? sql`c.signed and c.id = any(${[...only]}::bigint[])`
    : sql`coalesce(c."aboveAt", '-infinity') < clock_timestamp() - ${resolutionLimits.checkMinutes.other}::int * interval '1 minute'`;
  // taken by noting the look before it: whoever dies in its midst has left them for later
  const taken = await rows<{ id: number; name: string; ds: string[] }>(
    db,
    sql`update cname set "aboveAt" = clock_timestamp() where id in (select c.id from cname c join "dnsSetting" s on s.id = c."dnsSettingID"
        where s.driver = ${embedded} and c."deletedAt" is null
          and ${due}
        order by c."aboveAt" nulls first limit ${together} for update of c skip locked)
      returning id, "domainName" as name, ds`,
  );
  await Promise.all(
    taken.map(async ({ id, name, ds }) => {
      const found = await digestsAbove(name, servers);
      if (!found) return;
      const above = found.all.map(one => {
        const [tag, algorithm, type] = one.split(' ');
        const ours = type === sha256 ? undefined : ds.find(own => own.includes(` IN DS ${tag} ${algorithm} `));
        return ours ?? `${name}. ${ttl.zone} IN DS ${one}`;
      });
      const all = [...new Set(above)].slice(0, 20);
      const seconds = Math.max(waitSeconds, found.seconds);
      // of two keys the new one is the last
      await sql`update cname set "dsAbove" = ${all}::text[], "newKeyFrom" = case when cardinality(ds) < 2 or not ds[2:] && ${all}::text[] then null
          else coalesce("newKeyFrom", clock_timestamp() + ${seconds} * interval '1 second') end where id = ${id}`.execute(db);
    }),
  );
}
