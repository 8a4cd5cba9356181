/** Who answers for an operator's names. */
import { sql } from 'kysely';
import { Fail, fail, failFields } from '#contract/errors.ts';
import { resolutionLimits } from '#contract/limits.ts';
import { dnsSettings } from '#contract/resolution/dns-setting.ts';
import type { Context } from '../kit/context.ts';
import { implement } from '../kit/implement.ts';
import { removeEach } from '../kit/removal.ts';
import { row, rows } from '../store/db.ts';
import { troubleOf } from '../domain/dns/accounts.ts';
import { driverOf } from './drivers.ts';
import { zonesOf } from './load.ts';
import { cnameTable, dnsSettingTable, groupsWaiting, namesWaiting } from './tables.ts';

/** What an account says of itself (`dnsType`): the kind of the oldest that it has. */
async function sayType(ctx: Context, without: readonly number[] = []): Promise<void> {
  await sql`update account a set "dnsType" = (select driver from "dnsSetting" where "clientID" = a.id and "deletedAt" is null and id <> all(${[...without]}::bigint[]) order by id limit 1)
    where a.id = ${ctx.actor.rootID}`.execute(ctx.db);
  await ctx.services.sessions.changed(ctx.db);
}

export const dnsSettingCalls = implement(
  dnsSettings,
  {
    'GET /dns': async ({ ctx, query }) => {
      const { data, total } = await ctx.store(dnsSettingTable).page(query);
      return { data: data.map(one => ({ ...one, addresses: [...(ctx.services.knot?.addresses ?? [])] })), total };
    },
    'POST /dns': async ({ ctx, body }) => {
      if (!driverOf(ctx.services, body.driver)) throw fail('invalidDNSSetting');
      const store = ctx.store(dnsSettingTable);
      const { total } = await store.page({ pageSize: 1 });
      if (total >= resolutionLimits.dnsSettingsMax)
        throw failFields([{ path: 'driver', rule: 'tooMany', bounds: { n: resolutionLimits.dnsSettingsMax } }]);
      const ids = await store.add([{ memo: '', ...body }], { clientID: ctx.actor.rootID });
      await sayType(ctx);
      return { ids };
    },
    'DELETE /dns': ({ ctx, body }) => {
      const gone: number[] = [];
      return removeEach(
        ctx,
        ctx.store(dnsSettingTable),
        body.ids,
        one => one.driver,
        async ({ id }) => {
          // counted once it is held: what was counted before somebody else was through says nothing
          const [{ zoneCount }] = (await ctx.store(dnsSettingTable).pick(['zoneCount'], [sql`t.id = ${id}`])) as [
            { zoneCount: number },
          ];
          if (zoneCount) throw failFields([{ path: 'ids', rule: 'dnsInUse', bounds: { n: zoneCount } }]);
          gone.push(id);
          await sayType(ctx, gone);
        },
      );
    },
    'POST /dns/test': async ({ ctx, body }) => {
      const { driver: kind } = await ctx.store(dnsSettingTable).get(body.id);
      const driver = driverOf(ctx.services, kind);
      if (!driver) throw fail('invalidDNSSetting');
      const zones = (await zonesOf(ctx.db, sql`c."dnsSettingID" = ${body.id}`)).map(({ zone }) => zone);
      const startedAt = performance.now();
      try {
        const found = await driver.test(zones);
        const ms = Math.round(performance.now() - startedAt);
        return {
          ms,
          zones: zones.map(zone => ({ cnameID: zone.id, domainName: zone.name, isThere: found.has(zone.id) })),
        };
      } catch (error) {
        const { trouble, why } = troubleOf(error);
        const said = [{ path: 'id', rule: 'dnsSaid' as const, bounds: { why } }];
        throw new Fail(trouble === 'credentials' ? 'invalidDNSSetting' : 'dnsExecution', { errorData: said });
      }
    },
    'GET /dns/unprocessed': async ({ ctx }) => {
      const mine = sql`c."clientID" = ${ctx.actor.rootID} and c."deletedAt" is null`;
      const found = await row<{ names: number; groups: number }>(
        ctx.db,
        sql`select coalesce(sum((${namesWaiting(sql`c`)})), 0)::int as names, coalesce(sum((${groupsWaiting(sql`c`)})), 0)::int as groups from cname c where ${mine}`,
      );
      const { names, groups } = found ?? { names: 0, groups: 0 };
      const errors = await rows<{ cnameID: number; domainName: string; error: string; nextAt: string }>(
        ctx.db,
        sql`select c.id as "cnameID", c."domainName", c.error, c."nextAt" from cname c where ${mine} and c.error <> '' order by c.id`,
      );
      return { size: names + groups, names, groups, errors };
    },
    'POST /dns/recovery': async ({ ctx }) => {
      const zones = await ctx.store(cnameTable).pick(['id', 'domainName']);
      await sql`update cname set "comparedAt" = null, tries = 0, "nextAt" = now() where id = any(${zones.map(one => one.id)})`.execute(
        ctx.db,
      );
      for (const { id } of zones) ctx.note({ table: 'cname', id, after: { recovery: true } });
      return {};
    },
  },
  { rows: { 'GET /dns': dnsSettingTable } },
);
