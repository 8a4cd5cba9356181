/** Zones that customers' names lead into. */
import { sql } from 'kysely';
import { getPublicSuffix } from 'tldts';
import { resolutionLimits } from '#contract/limits.ts';
import { fail, failFields } from '#contract/errors.ts';
import { cnames } from '#contract/resolution/cnames.ts';
import type { Context } from '../kit/context.ts';
import { nameServerOf } from '#contract/rules.ts';
import { implement } from '../kit/implement.ts';
import { removeEach } from '../kit/removal.ts';
import { contains } from '../kit/table.ts';
import { unknownID } from '../kit/store.ts';
import { row } from '../store/db.ts';
import { lookAbove, newKeySeconds } from './above.ts';
import { suffixesOf } from '../domain/dns/driver.ts';
import { checkRules, usedRules } from '../kit/line-rules.ts';
import { holdSeen } from './check-cname.ts';
import { zonesOf } from './load.ts';
import { preview } from './preview.ts';
import { withErrors } from './told.ts';
import { cnamesMost, type CnameRow, cnameTable, dnsSettingTable } from './tables.ts';

/** Of a name that lies in the zone itself nobody else could tell the address. */
function checkGlue(zone: string, servers: readonly string[] = []): void {
  for (const [i, { name, addresses }] of servers.map(nameServerOf).entries())
    if (name.endsWith(`.${zone}`) && !addresses.length) throw failFields([{ path: `nameServers.${i}`, rule: 'glueMissing' }]);
}

/** Any number; it names "who looks whether a name is free" among PostgreSQL's advisory locks. */
const namesKey = 72_033;

/** One name server answers for everybody: a zone in another operator's, or around it, would take names from it. */
async function checkName(ctx: Context, name: string): Promise<void> {
  if (getPublicSuffix(name, { allowPrivateDomains: true }) === name)
    throw failFields([{ path: 'domainName', rule: 'zoneOfEverybody', bounds: { value: name } }]);
  // two at once would each find the other's name free; held until this one stands
  await sql`select pg_advisory_xact_lock(${namesKey}::bigint)`.execute(ctx.db);
  const near = await row<{ isSame: boolean }>(
    ctx.db,
    sql`select "domainName" = ${name} and "clientID" = ${ctx.actor.rootID} as "isSame" from cname where "deletedAt" is null and ("domainName" = any(${suffixesOf(name)}) or right("domainName", ${name.length + 1}) = ${`.${name}`}) order by 1 desc limit 1`,
  );
  if (near?.isSame) throw fail('duplicated');
  if (near) throw failFields([{ path: 'domainName', rule: 'zoneOfAnother' }]);
  // what a virtual node leads to would lead back here
  const led = await row<{ target: string }>(
    ctx.db,
    sql`select r.target from "virtualNodeRecord" r join "virtualNode" v on v.id = r."virtualNodeID" where v."clientID" = ${ctx.actor.rootID} and r."deletedAt" is null
      and (r.target = ${name} or right(r.target, ${name.length + 1}) = ${`.${name}`}) limit 1`,
  );
  if (led) throw failFields([{ path: 'domainName', rule: 'cnameLoop', bounds: { value: led.target } }]);
}

/**
 * No domain leads here, and that is known of each: one that nobody could look at, or nobody has looked at for long, may lead here. It is asked
 * once the zone is held and nobody else writes down where domains lead: what was counted before says nothing.
 */
async function checkUnused(ctx: Context, cnameID: number): Promise<void> {
  await holdSeen(ctx.db);
  const minutes = 2 * resolutionLimits.checkMinutes.active;
  const { leading, unsure } = (await row<{ leading: number; unsure: number }>(
    ctx.db,
    sql`select count(*) filter (where n.seen @> array[s."cnameKey" || '.' || c."domainName"] and (d."cnameStatus" = 'active' or n."isUnknown"))::int as leading,
        count(*) filter (where n."domainID" is null or n."isUnknown" or n."checkedAt" < clock_timestamp() - ${minutes} * interval '1 minute')::int as unsure
      from cname c join site s on s."clientID" = c."clientID" and s."deletedAt" is null join domain d on d."siteID" = s.id and d."deletedAt" is null
      left join "cnameSeen" n on n."domainID" = d.id where c.id = ${cnameID}`,
  ))!;
  if (leading) throw failFields([{ path: 'ids', rule: 'zoneInUse', bounds: { n: leading } }]);
  if (unsure) throw failFields([{ path: 'ids', rule: 'zoneUnsure', bounds: { n: unsure } }]);
}

/**
 * With a DS of its keys above, or in the memory of resolvers, and nobody who answers by them, resolvers that validate say of every name there
 * that it cannot be. `answered`: zones of which somebody said now what stands above; of a zone that has had a key this has to be known.
 */
async function checkUndelegated(
  ctx: Context,
  { id, ds, dsBefore, dsAbove }: CnameRow,
  answered: readonly unknown[],
): Promise<void> {
  const ours = [...ds, ...dsBefore];
  if (!ours.length) return;
  if (!answered.includes(id)) throw failFields([{ path: 'ids', rule: 'zoneAboveUnseen' }]);
  if (dsAbove.some(one => ours.includes(one))) throw failFields([{ path: 'ids', rule: 'zoneDelegated' }]);
  const { minutes } = (await row<{ minutes: number | null }>(
    ctx.db,
    sql`select ceil(extract(epoch from "dsGoneFrom" - clock_timestamp()) / 60)::int as minutes from cname where id = ${id}`,
  ))!;
  if (minutes !== null && minutes > 0) throw failFields([{ path: 'ids', rule: 'zoneRemembered', bounds: { minutes } }]);
}

export const cnameCalls = implement(
  cnames,
  {
    'GET /cnames': async ({ ctx, query }) => {
      const { data, total } = await ctx.store(cnameTable).page(query);
      return { data: await withErrors(ctx.db, data, ctx.language), total };
    },
    'POST /cname': async ({ ctx, body }) => {
      const store = ctx.store(cnameTable);
      const { total } = await store.page({ pageSize: 1 });
      if (total >= cnamesMost) throw failFields([{ path: 'domainName', rule: 'tooMany', bounds: { n: cnamesMost } }]);
      const [first] = await ctx.store(dnsSettingTable).pick(['id'], [], sql`t.id`);
      const dnsSettingID = body.dnsSettingID ?? first?.id;
      if (dnsSettingID === undefined) throw fail('invalidDNSSetting');
      await checkName(ctx, body.domainName);
      checkGlue(body.domainName, body.nameServers);
      const before = await usedRules(ctx);
      const ids = await store.add([{ nameServers: [], memo: '', ...body, dnsSettingID }], { clientID: ctx.actor.rootID });
      await checkRules(ctx, before, 'domainName');
      return { ids };
    },
    'PUT /cname': async ({ ctx, body }) => {
      const { domainName, signed, driver, dnsSettingID, ds, newKeyAt } = await ctx.store(cnameTable).get(body.id);
      const isMoved = body.dnsSettingID !== undefined && body.dnsSettingID !== dnsSettingID;
      if (signed && (body.signed === false || isMoved))
        throw failFields([{ path: body.signed === false ? 'signed' : 'dnsSettingID', rule: 'signedStays' }]);
      if (body.signed && !signed && (driver !== 'knot' || isMoved)) throw fail('invalidDNSSetting');
      // which key is to go is not known before there is one, nor while another comes
      if (body.newKey && (ds.length !== 1 || newKeyAt !== null)) throw failFields([{ path: 'newKey', rule: 'newKeyNotNow' }]);
      checkGlue(domainName, body.nameServers);
      const { dsReplaced, newKey, ...set } = body;
      const before = await usedRules(ctx);
      const newKeyAsked = newKey && { newKeyAt: new Date().toISOString(), newKeyFrom: null };
      await ctx.store(cnameTable).set(body.id, {
        ...set,
        ...(dsReplaced && { dsBefore: [] }),
        // what stands above it is another server's matter now
        ...(isMoved && { dsAbove: [], dsSeenAt: null, dsGoneFrom: null, aboveAt: null }),
        ...newKeyAsked,
      });
      // it is begun now, not when the zone is compared next
      if (newKey) await sql`update cname set "comparedAt" = null, "nextAt" = now() where id = ${body.id}`.execute(ctx.db);
      await checkRules(ctx, before, body.signed && !signed ? 'signed' : 'dnsSettingID');
      return {};
    },
    'DELETE /cname': ({ ctx, body, prepared }) =>
      removeEach(
        ctx,
        ctx.store(cnameTable),
        body.ids,
        one => one.domainName,
        async one => {
          // what `prepare` answered, below
          await checkUndelegated(ctx, one, Array.isArray(prepared) ? prepared : []);
          await checkUnused(ctx, one.id);
        },
      ),
    'POST /cname/preview': async ({ ctx, body }) => {
      await ctx.store(cnameTable).get(body.id);
      const [held] = await zonesOf(ctx.db, sql`c.id = ${body.id}`);
      if (!held) throw unknownID('id');
      return preview(ctx, held);
    },
    'GET /cname/meta': async ({ ctx, query }) => {
      const wanted = [sql`not t.disabled`, ...contains(query.keyword, 'domainName')];
      const found = await ctx.store(cnameTable).pick(['id', 'domainName'], wanted, sql`t.id`);
      return found.map(({ id, domainName }) => ({ id, name: domainName }));
    },
  },
  {
    rows: { 'GET /cnames': cnameTable },
    prepare: {
      // what was seen there may be ten minutes old; whoever has just deleted the DS is not to wait
      'DELETE /cname': async ({ ctx, body }) => {
        const mine = await ctx.store(cnameTable).pick(['id'], [sql`t.id = any(${body.ids})`]);
        const ids = mine.map(({ id }) => id);
        return lookAbove(ctx.services.database.db, ctx.services.dns?.resolvers ?? [], newKeySeconds, ids);
      },
    },
  },
);
