/** One's own sessions: what is open, and ending it. Whoever acts in another's name has no business with the other's devices. */
import { sql } from 'kysely';
import { fail } from '#contract/errors.ts';
import { sessions, sessionsShown } from '#contract/account/sessions.ts';
import type { Context } from '../kit/context.ts';
import { implement } from '../kit/implement.ts';
import { whereabouts } from '../kit/place.ts';
import { unknownID } from '../kit/store.ts';
import { row, rows, type Sql } from '../store/db.ts';
import { deviceOf } from './device.ts';

function ownOnly({ actor }: Context): void {
  if (actor.proxyName) throw fail('permissionDenied');
}
/** A device that was signed out from afar is one that was not seen before, when it comes again: its owner is told (new-device.ts). */
const forget = (ctx: Context, which: Sql) =>
  sql`update session set "userAgent" = null where "accountID" = ${ctx.actor.accountID} and "endedAt" is not null and ${which}`.execute(
    ctx.db,
  );
const isOpen = sql`"endedAt" is null and "expiredAt" > now()`;

interface Open {
  id: string;
  isProxy: boolean;
  address: string | null;
  userAgent: string | null;
  createdAt: string;
  usedAt: string;
  total: number;
}

export const ownSessionCalls = implement(sessions, {
  'GET /sessions': async ({ ctx }) => {
    ownOnly(ctx);
    const { accountID, sessionID } = ctx.actor;
    const found = await rows<Open>(
      ctx.db,
      sql`select id, "proxyID" is not null as "isProxy", address, "userAgent", "createdAt", "usedAt", count(*) over () as total
          from session where "accountID" = ${accountID} and ${isOpen}
          order by id::text = ${sessionID} desc, "usedAt" desc limit ${sessionsShown}`,
    );
    const { of, credits } = await whereabouts(ctx.services);
    const sessions = found.map(({ id, isProxy, address, userAgent, createdAt, usedAt }) => ({
      id,
      isCurrent: id === sessionID,
      isProxy,
      device: deviceOf(isProxy ? '' : (userAgent ?? '')),
      address: isProxy ? null : address,
      place: isProxy ? null : of(address),
      createdAt,
      usedAt,
    }));
    return {
      sessions,
      total: found[0]?.total ?? 0,
      credits: sessions.some(({ place }) => place) ? credits.slice(0, 20) : [],
    };
  },
  'DELETE /session': async ({ ctx, body }) => {
    ownOnly(ctx);
    const mine = await row(
      ctx.db,
      sql`select 1 from session where id = ${body.sessionID}::uuid and "accountID" = ${ctx.actor.accountID} and ${isOpen}`,
    );
    if (!mine) throw unknownID('sessionID');
    await ctx.services.sessions.end(ctx.db, body.sessionID);
    // it may have signed in more than once
    await forget(
      ctx,
      sql`("userAgent", address) = (select "userAgent", address from session where id = ${body.sessionID}::uuid)`,
    );
    return {};
  },
  'DELETE /sessions': async ({ ctx }) => {
    ownOnly(ctx);
    const { accountID, sessionID } = ctx.actor;
    const ended = await ctx.services.sessions.endOthers(ctx.db, accountID, sessionID);
    await forget(ctx, sql`true`);
    return { ended };
  },
});
