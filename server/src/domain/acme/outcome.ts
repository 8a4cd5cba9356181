/** What an order comes to: a certificate that its domain shows, or when it is tried again. */
import type { KeyObject } from 'node:crypto';
import { sql } from 'kysely';
import { failFields } from '#contract/errors.ts';
import { acmeLimits } from '#contract/limits.ts';
import type { Context } from '../../kit/context.ts';
import { row } from '../../store/db.ts';
import { covers, readPair } from '../certificate/pem.ts';
import { show, stored } from '../certificate/shown.ts';
import { certificateTable } from '../certificate/tables.ts';
import { domainTable } from '../tables.ts';
import type { Way } from './orders.ts';
import type { Provider } from './providers.ts';

export interface Known {
  /** of the row autoCertificate */
  id: number;
  domainID: number;
  host: string;
  attempts: number;
  certificateID: number | null;
  way: Way;
}

/** A part of it either way, so that what was begun together does not come again together. */
const jitter = (part: number) => 1 - part + 2 * part * Math.random();

/** Keeps it, and has the domain show it; answers the day it ends. @throws Fail where it cannot be kept, or is not for this name */
export async function issue(
  ctx: Context,
  { siteID, provider }: { siteID: number; provider: Provider },
  { id, domainID, host, certificateID }: Known,
  pem: string,
  key: KeyObject,
  way: Way,
): Promise<string> {
  const pair = readPair(pem, key);
  if (!covers(pair.names, host))
    throw failFields([
      { path: 'certificate', rule: 'certificateNames', bounds: { hosts: host, names: pair.names.slice(0, 5).join(', ') } },
    ]);
  const store = ctx.store(certificateTable, { siteID });
  const [own] = certificateID === null ? [] : await store.pick(['id'], [sql`t.id = ${certificateID} and t.type <> 'manual'`]);
  // whoever else shows it must be among the names of what takes its place
  const held = own && (await hostsShowing(ctx, siteID, own.id)).every(one => covers(pair.names, one)) ? own : undefined;
  const type = way === 'dns' ? 'dns' : 'autoSSL';
  if (held) await store.set(held.id, { provider, type, ...stored(pair) }, 'certificate');
  const [shown] = held
    ? [held.id]
    : await store.add([{ sslName: host.slice(0, 64), type, provider, ...stored(pair) }], {}, 'certificate');
  if (await mayShow(ctx, domainID, shown!, own?.id)) await show(ctx, siteID, domainID, shown!);
  const from = pair.notBefore.valueOf();
  const life = pair.notAfter.valueOf() - from;
  const renewAt = new Date(from + life * acmeLimits.renewAfter * jitter(0.05));
  await sql`update "autoCertificate" set state = 'success', attempts = 0, error = '', way = ${way}, "certificateID" = ${shown}, "taskID" = null,
      "nextAt" = ${renewAt.toISOString()}, "updatedAt" = now() where id = ${id}`.execute(ctx.db);
  return pair.notAfter.toISOString().slice(0, 10);
}

const hostsShowing = async (ctx: Context, siteID: number, certificateID: number): Promise<string[]> =>
  (await ctx.store(domainTable, { siteID }).pick(['domainName'], [sql`t."certificateID" = ${certificateID}`])).map(
    one => one.domainName,
  );

/** What somebody put there by hand stays while it is good; what is ours, is none, or is over gives way. */
async function mayShow({ db }: Context, domainID: number, ...own: (number | undefined)[]): Promise<boolean> {
  const found = await row<{ id: number | null; isOver: boolean }>(
    db,
    sql`select d."certificateID" as id, c.id is null or c."notAfter" <= now() as "isOver"
        from domain d left join certificate c on c.id = d."certificateID" and c."deletedAt" is null where d.id = ${domainID}`,
  );
  return !found || found.isOver || own.includes(found.id ?? undefined);
}

/** Wildcards can be proven by DNS alone; of others it is tried where HTTP did not do. */
export const firstWay = (host: string): Way => (host.startsWith('*.') ? 'dns' : 'http');

/** It did not come about: when it is tried again. Answers in how many minutes. */
export async function noteFailure(ctx: Context, { id, domainID, host, attempts }: Known, why: string): Promise<number> {
  const { retryMinutes } = acmeLimits;
  const minutes = retryMinutes[Math.min(attempts, retryMinutes.length - 1)]! * jitter(0.1);
  await sql`update "autoCertificate" set state = 'fail', attempts = attempts + 1, error = ${why.slice(0, 500)}, "taskID" = null, way = ${firstWay(host)},
      "nextAt" = clock_timestamp() + ${minutes} * interval '1 minute', "updatedAt" = now() where id = ${id}`.execute(ctx.db);
  await sql`update domain set "certStatus" = 'fail' where id = ${domainID} and "certificateID" is null`.execute(ctx.db);
  return Math.ceil(minutes);
}

/** The authority wants to be left alone: nobody's fault, and tried again when it is over. */
export async function postpone(ctx: Context, all: readonly Known[], seconds: number, why = ''): Promise<void> {
  await sql`update "autoCertificate" set state = 'pending', "taskID" = null, error = ${why.slice(0, 500)}, "updatedAt" = now(),
      "nextAt" = clock_timestamp() + (${seconds} + random() * 60) * interval '1 second' where id = any(${all.map(({ id }) => id)})`.execute(
    ctx.db,
  );
}
