/** What operators hold: issued by the vendor, or registered as a file. One row for each, whichever way it came last. */
import { sql } from 'kysely';
import type * as z from 'zod/mini';
import type { Order, Usage } from '#contract/licence/licences.ts';
import type { Context } from '../kit/context.ts';
import { type Held, type Limits, limitsOf, usageOf } from '../kit/licence.ts';
import { row } from '../store/db.ts';
import type { OfflineRow } from './tables.ts';

/** As the wire has it. */
export async function orderOf(ctx: Context, clientID: number): Promise<z.output<typeof Order>> {
  const { kind, state, name, limits, startTime, expiredAt, serial, version } = await ctx.services.licences.of(ctx.db, clientID);
  const usage = (await row<z.output<typeof Usage>>(ctx.db, usageOf(clientID)))!;
  return { userID: clientID, kind, state, name, licenseSetting: limits, startTime, expiredAt, serial, usage, version };
}

export interface NewOrder {
  kind: 'order' | 'offline';
  name: string;
  licenseID: number | null;
  limits: Limits;
  startTime: string;
  expiredAt: string | null;
  file: string | null;
  serial: string | null;
  revision: number;
  installationID: string | null;
}

const shown = (held: Pick<Held, 'kind' | 'name' | 'limits' | 'expiredAt' | 'serial'>) => ({
  kind: held.kind,
  name: held.name,
  expiredAt: held.expiredAt,
  serial: held.serial,
  ...limitsOf(held.limits),
});

/** Holds what the operator holds until the transaction is through. */
export const holdOrder = (ctx: Context, clientID: number) =>
  sql`select 1 from account where id = ${clientID} for no key update`.execute(ctx.db);

/** The operator holds this from now on. Every process learns of it with the commit. */
export async function putOrder(ctx: Context, clientID: number, order: NewOrder): Promise<void> {
  const before = await ctx.services.licences.of(ctx.db, clientID);
  const { limits, ...rest } = order;
  const values: Record<string, unknown> = { ...rest, ...limits, isGone: false };
  const names = Object.keys(values);
  const columns = (prefix: string) => sql.join(names.map(name => sql.raw(`${prefix}"${name}"`)));
  const written = await row<{ id: number }>(
    ctx.db,
    sql`insert into "licenseOrder" as o ("clientID", ${columns('')}) values (${clientID}, ${sql.join(Object.values(values))})
        on conflict ("clientID") do update set (${columns('')}, "rowVersion", "updatedAt") = row(${columns('excluded.')}, o."rowVersion" + 1, now())
        returning id`,
  );
  ctx.note({
    table: 'licenseOrder',
    id: written!.id,
    ...(before.kind === 'unlimited' ? {} : { before: shown(before) }),
    after: shown({ ...order, limits }),
  });
  await ctx.services.sessions.changed(ctx.db);
}

/** What is known of a file (0480_licence_serials.sql). */
interface Serial {
  leastRevision: number;
  portType: string | null;
}
/** Holds a file until the transaction is through, whoever registers it or takes it back: before what operators hold of it is looked at. */
export async function holdSerial(ctx: Context, serial: string): Promise<Serial> {
  await sql`insert into "licenseSerial" (serial) values (${serial}) on conflict do nothing`.execute(ctx.db);
  return (await row<Serial>(
    ctx.db,
    sql`select "leastRevision", "portType" from "licenseSerial" where serial = ${serial} for update`,
  ))!;
}
/** Of a held file nothing older than this counts from now on. */
export async function raiseSerial(ctx: Context, serial: string, leastRevision: number, portType: string): Promise<void> {
  await sql`update "licenseSerial" set "leastRevision" = greatest("leastRevision", ${leastRevision}), "portType" = coalesce("portType", ${portType})
    where serial = ${serial}`.execute(ctx.db);
}

type TakenBack = Pick<OfflineRow, 'serial' | 'revision' | 'portType'>;
/** A file that is taken back, up to this revision: whoever holds it here holds nothing any more, and nobody registers it. */
export async function takeBack(ctx: Context, { serial, revision, portType }: TakenBack): Promise<void> {
  await holdSerial(ctx, serial);
  await raiseSerial(ctx, serial, revision + 1, portType);
  const gone = await row<{ id: number; clientID: number }>(
    ctx.db,
    sql`update "licenseOrder" set "isGone" = true, "rowVersion" = "rowVersion" + 1, "updatedAt" = now()
        where serial = ${serial} and kind = 'offline' and not "isGone" returning id, "clientID"`,
  );
  if (!gone) return;
  ctx.note({ table: 'licenseOrder', id: gone.id, before: { serial, isGone: false }, after: { serial, isGone: true } });
  await ctx.services.sessions.changed(ctx.db);
}
