/** DNS accounts of a site. */
import { sql } from 'kysely';
import { NewSiteDNS, siteDNS } from '#contract/domain/site-dns.ts';
import { Fail, failFields } from '#contract/errors.ts';
import { dnsAccountFields, type dnsProviders } from '#contract/limits.ts';
import { ruleOfRefusal } from '#contract/rules/address-policy.ts';
import { dnsAccount, zodRule } from '#contract/rules.ts';
import type { Context } from '../../kit/context.ts';
import { implement } from '../../kit/implement.ts';
import { removeAll } from '../../kit/removal.ts';
import { checkWhole } from '../../kit/whole.ts';
import { originPolicy } from '../../system/origins.ts';
import { domainTable } from '../tables.ts';
import { accountsWhere, troubleOf, zonesOf } from './accounts.ts';
import { serverOf } from './rfc2136.ts';
import { saidText } from './said.ts';
import { siteDNSTable } from './tables.ts';

type Provider = (typeof dnsProviders)[number];
const whole = NewSiteDNS.check(zodRule(dnsAccount));

const usual = { server: '', keyName: '', algorithm: 'hmacSHA256' } as const;
/** Fields that say nothing to this provider are as if nobody had set them. */
const unused = (provider: Provider) =>
  Object.fromEntries(Object.entries(usual).filter(([name]) => !dnsAccountFields[provider].some(one => one === name)));

/** Where the platform may connect is said when it is saved, too. */
async function checkServer(ctx: Context, siteID: number, server: string | undefined): Promise<void> {
  if (!server) return;
  const { host, port } = serverOf(server);
  const verdict = (await originPolicy(ctx.db, siteID)).judgeHost(host, port);
  if (!verdict.allowed) throw failFields([{ path: 'server', rule: ruleOfRefusal(verdict.kind), bounds: { address: host } }]);
}

/** Names that could not be proven are tried anew. */
async function wake(ctx: Context, siteID: number): Promise<void> {
  // an authority bears few tries
  await sql`update "autoCertificate" a set "nextAt" = least(a."nextAt", greatest(now(), a."updatedAt" + interval '1 minute'))
    from domain d where d.id = a."domainID" and d."siteID" = ${siteID} and a.state = 'fail' and a."deletedAt" is null`.execute(
    ctx.db,
  );
  await sql`select pg_notify('autoSSL', '')`.execute(ctx.db);
}

export const siteDNSCalls = implement(
  siteDNS,
  {
    'GET /dns': ({ ctx, params, query }) => ctx.store(siteDNSTable, params).page(query),
    'POST /dns': async ({ ctx, params, body }) => {
      if (!body.credentials) throw failFields([{ path: 'credentials', rule: 'required' }]);
      const row = { ...usual, memo: '', ...body, ...unused(body.provider) };
      await checkServer(ctx, params.siteID, row.server);
      const [id] = await ctx.store(siteDNSTable, params).add([row], {}, 'provider');
      await wake(ctx, params.siteID);
      return { ids: [id!] };
    },
    'PUT /dns': async ({ ctx, params, body }) => {
      const store = ctx.store(siteDNSTable, params);
      const before = await store.get(body.id);
      const provider = body.provider ?? before.provider;
      const isOther = provider !== before.provider;
      if (body.credentials === null || body.credentials === '' || (isOther && !body.credentials))
        throw failFields([{ path: 'credentials', rule: 'required' }]);
      const patch = { ...body, ...unused(provider) };
      checkWhole(whole, before, patch);
      await checkServer(ctx, params.siteID, patch.server);
      await store.set(body.id, patch);
      await wake(ctx, params.siteID);
      return {};
    },
    'DELETE /dns': ({ ctx, params, body }) =>
      removeAll(ctx.store(siteDNSTable, params), body.ids, async gone => {
        const ids = gone.map(({ id }) => id);
        // those that still have something to take away are emptied once that is gone (acme/records.ts)
        await sql`update "siteDNS" n set credentials = null where id = any(${ids})
          and not exists (select from "acmeRecord" r where r."dnsID" = n.id)`.execute(ctx.db);
      }),
    'GET /dns/domains': async ({ ctx, params, query }) => {
      await ctx.store(siteDNSTable, params).get(query.dnsID, 'dnsID');
      const [account] = await accountsWhere(ctx.db, sql`id = ${query.dnsID}`);
      const domains = await ctx.store(domainTable, params).pick(['id', 'domainName'], [], sql`t."domainName", t.id`);
      const bare = (name: string) => name.replace(/^\*\./, '');
      try {
        const names = [...new Set(domains.map(({ domainName }) => bare(domainName)))];
        const zones = await zonesOf(ctx.services, account!, names, true);
        const zoneOf = (name: string) => {
          const zone = zones.get(name);
          return zone?.off === undefined ? (zone?.name ?? '') : '';
        };
        const whyNot = (name: string) => saidText(zones.get(name)?.off, ctx.language);
        return domains.map(({ domainName, ...one }) => {
          const name = bare(domainName);
          return { ...one, domainName, zone: zoneOf(name), why: whyNot(name) };
        });
      } catch (error) {
        const { trouble, why, said } = troubleOf(error);
        throw new Fail(trouble === 'credentials' ? 'invalidDNSSetting' : 'dnsExecution', {
          errorData: [{ path: 'dnsID', rule: 'dnsSaid', bounds: { why: saidText(said, ctx.language, why) } }],
        });
      }
    },
  },
  { rows: { 'GET /dns': siteDNSTable } },
);
