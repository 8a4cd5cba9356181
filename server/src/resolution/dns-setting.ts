/** Who answers for an operator's names. */
import { sql } from 'kysely';
import { fail, failFields } from '#contract/errors.ts';
import { dnsSettingFields, type dnsTypes, resolutionLimits } from '#contract/limits.ts';
import { dnsSettings, NewDnsSetting } from '#contract/resolution/dns-setting.ts';
import { ruleOfRefusal } from '#contract/rules/address-policy.ts';
import { dnsSetting, zodRule } from '#contract/rules.ts';
import type { Context } from '../kit/context.ts';
import { implement } from '../kit/implement.ts';
import { removeEach } from '../kit/removal.ts';
import { row, rows } from '../store/db.ts';
import { serverOf } from '../domain/dns/rfc2136.ts';
import { checkWhole } from '../kit/whole.ts';
import { askNow } from './asked-now.ts';
import { operatorPolicy } from './drivers.ts';
import { zonesOf } from './load.ts';
import { errorIn, refusedIn, type ToldZone, toldColumns } from './told.ts';
import { dnsSettingTable, groupsWaiting, isLeaving, namesWaiting } from './tables.ts';

/** What an account says of itself (`dnsType`): the kind of the oldest that it has. */
async function sayType(ctx: Context, without: readonly number[] = []): Promise<void> {
  await sql`update account a set "dnsType" = (select driver from "dnsSetting" where "clientID" = a.id and "deletedAt" is null and id <> all(${[...without]}::bigint[]) order by id limit 1)
    where a.id = ${ctx.actor.rootID}`.execute(ctx.db);
  await ctx.services.sessions.changed(ctx.db);
}

/** So long a setting stays, that names of ours are taken away from where it leads; who does not answer for so long may never. */
const leaveMinutes = 60;
const whole = NewDnsSetting.check(zodRule(dnsSetting));
const usual = { server: '', keyName: '', algorithm: 'hmacSHA256', credentials: null } as const;
/** Fields that say nothing to a name server of this kind are as if nobody had set them. */
const unused = (driver: (typeof dnsTypes)[number]) =>
  Object.fromEntries(Object.entries(usual).filter(([name]) => !dnsSettingFields[driver].some(one => one === name)));

/** Where the platform may connect is said when it is saved, too. */
async function checkServer(ctx: Context, driver: (typeof dnsTypes)[number], server: string | undefined): Promise<void> {
  if (!server) return;
  const said = driver === 'powerdns' ? new URL(server) : undefined;
  const { host, port } = said
    ? { host: said.hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(said.port || (said.protocol === 'https:' ? 443 : 80)) }
    : serverOf(server);
  const verdict = (await operatorPolicy(ctx.db, ctx.actor.rootID)).judgeHost(host, port);
  if (!verdict.allowed) throw failFields([{ path: 'server', rule: ruleOfRefusal(verdict.kind), bounds: { address: host } }]);
}

interface Waiting extends ToldZone {
  cnameID: number;
  domainName: string;
  nextAt: string;
}

/** What waits for it is tried again at once. */
const wake = (ctx: Context, id: number) =>
  sql`update cname set tries = 0, "nextAt" = now() where "dnsSettingID" = ${id} and "deletedAt" is null`.execute(ctx.db);

export const dnsSettingCalls = implement(
  dnsSettings,
  {
    'GET /dns': async ({ ctx, query }) => {
      const { data, total } = await ctx.store(dnsSettingTable).page(query);
      const reached = ctx.services.knot?.addresses ?? [];
      return { data: data.map(one => ({ ...one, addresses: one.driver === 'knot' ? [...reached] : [] })), total };
    },
    'POST /dns': async ({ ctx, body }) => {
      const { driver } = body;
      if (driver === 'knot' && !ctx.services.knot) throw fail('invalidDNSSetting');
      if (dnsSettingFields[driver].includes('credentials') && !body.credentials)
        throw failFields([{ path: 'credentials', rule: 'required' }]);
      const given = { ...usual, memo: '', ...body, ...unused(driver) };
      await checkServer(ctx, driver, given.server);
      const store = ctx.store(dnsSettingTable);
      const { total } = await store.page({ pageSize: 1 });
      if (total >= resolutionLimits.dnsSettingsMax)
        throw failFields([{ path: 'driver', rule: 'tooMany', bounds: { n: resolutionLimits.dnsSettingsMax } }]);
      const ids = await store.add([given], { clientID: ctx.actor.rootID });
      await sayType(ctx);
      return { ids };
    },
    'PUT /dns': async ({ ctx, body }) => {
      const store = ctx.store(dnsSettingTable);
      const before = await store.get(body.id);
      const { driver } = before;
      if ((body.credentials === null || body.credentials === '') && dnsSettingFields[driver].includes('credentials'))
        throw failFields([{ path: 'credentials', rule: 'required' }]);
      const patch = { ...body, ...unused(driver) };
      checkWhole(whole, before, patch);
      // whoever may change where its API is would else have the key sent to one of their own; a TSIG key is never sent
      if (driver === 'powerdns' && patch.server !== undefined && patch.server !== before.server && !body.credentials)
        throw failFields([{ path: 'credentials', rule: 'dnsKeyAgain' }]);
      await checkServer(ctx, driver, patch.server);
      await store.set(body.id, patch);
      await wake(ctx, body.id);
      return {};
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
          // with its credentials our names could not be taken away any more, and would be answered for ever
          const leaving = await row<{ n: number }>(
            ctx.db,
            sql`select count(*)::int as n from cname c where c."dnsSettingID" = ${id} and ${isLeaving} and c."deletedAt" > clock_timestamp() - ${leaveMinutes} * interval '1 minute'`,
          );
          if (leaving?.n)
            throw failFields([{ path: 'ids', rule: 'dnsLeaving', bounds: { n: leaving.n, minutes: leaveMinutes } }]);
          gone.push(id);
          await sayType(ctx, gone);
          await sql`update "dnsSetting" set credentials = null where id = ${id}`.execute(ctx.db);
        },
      );
    },
    'POST /dns/test': async ({ ctx, body }) => {
      await ctx.store(dnsSettingTable).get(body.id);
      const zones = (await zonesOf(ctx.db, sql`c."dnsSettingID" = ${body.id}`)).map(({ zone }) => zone);
      const { ms, answer: found } = await askNow(ctx, body.id, driver => driver.test(zones));
      return { ms, zones: zones.map(zone => ({ cnameID: zone.id, domainName: zone.name, isThere: found.has(zone.id) })) };
    },
    'GET /dns/unprocessed': async ({ ctx }) => {
      const mine = sql`c."clientID" = ${ctx.actor.rootID} and c."deletedAt" is null`;
      const found = await row<{ names: number; groups: number }>(
        ctx.db,
        sql`select coalesce(sum((${namesWaiting(sql`c`)})), 0)::int as names, coalesce(sum((${groupsWaiting(sql`c`)})), 0)::int as groups from cname c where ${mine}`,
      );
      const { names, groups } = found ?? { names: 0, groups: 0 };
      // of zones that are no more: names of ours that still stand at somebody else's
      const gone = await rows<Waiting & { names: number; groups: number }>(
        ctx.db,
        sql`select c.id as "cnameID", c."domainName", ${toldColumns}, c."nextAt", (select count(*)::int from "cnameSite" x where x."cnameID" = c.id) as names,
            (select count(*)::int from "cnameGroup" x where x."cnameID" = c.id) as groups from cname c where c."clientID" = ${ctx.actor.rootID} and ${isLeaving} order by c.id`,
      );
      const sum = (of: 'names' | 'groups') => gone.reduce((all, one) => all + one[of], 0);
      const errors = await rows<Waiting>(
        ctx.db,
        sql`select c.id as "cnameID", c."domainName", ${toldColumns}, c."nextAt" from cname c where ${mine} and c.error <> '' order by c.id`,
      );
      const left = gone.filter(one => one.error !== '');
      return {
        size: names + groups + sum('names') + sum('groups'),
        names: names + sum('names'),
        groups: groups + sum('groups'),
        errors: [...errors, ...left].map(({ cnameID, domainName, nextAt, ...told }) => {
          const refused = refusedIn(told, ctx.language);
          return {
            cnameID,
            domainName,
            error: errorIn(told, ctx.language),
            nextAt,
            refused,
            // of what is not said any more nobody is told how many there were
            refusedCount: refused.length ? told.refusedCount : 0,
          };
        }),
      };
    },
    'POST /dns/recovery': async ({ ctx }) => {
      // those too that are no more, as long as names of ours stand there
      const zones = await rows<{ id: number }>(
        ctx.db,
        sql`update cname c set "comparedAt" = null, tries = 0, "nextAt" = now()
          where c."clientID" = ${ctx.actor.rootID} and (c."deletedAt" is null or ${isLeaving}) returning c.id`,
      );
      for (const { id } of zones) ctx.note({ table: 'cname', id, after: { recovery: true } });
      return {};
    },
  },
  { rows: { 'GET /dns': dnsSettingTable } },
);
