/** Domains of a site and their origins. */
import { sql } from 'kysely';
import { upstreamsPerDomain } from '#contract/edge/kinds/domain.ts';
import { fail } from '#contract/errors.ts';
import { domains } from '#contract/domain/domains.ts';
import type { Context } from '../kit/context.ts';
import { csvLine, FileAnswer } from '../kit/answers.ts';
import { implement } from '../kit/implement.ts';
import { eachOf, removeAll, seenVersions, tellMissing, those } from '../kit/removal.ts';
import { isSame, unknownID } from '../kit/store.ts';
import { contains } from '../kit/table.ts';
import { rows } from '../store/db.ts';
import { checkOrigins } from '../system/origins.ts';
import { autoSSLSwitch, forgetDomains } from './acme/switch.ts';
import { publishShown } from './certificate/shown.ts';
import { provenNames, refusedNames, type Resumed } from './claims.ts';
import { makeAll } from './make.ts';
import { askedOf, checkFit, checkReached, newReached } from './schemes.ts';
import { type DomainRow, domainTable, upstreamTable } from './tables.ts';
import { Origins } from './upstreams.ts';

const eachDomain = async (ctx: Context, siteID: number, ids: readonly number[], act: (domain: DomainRow) => Promise<void>) =>
  eachOf(ctx, ctx.store(domainTable, { siteID }), ids, domain => domain.domainName, act, 'domainIDs');

/** Of these domains those that are off and are to go live. */
async function resumedOf(
  ctx: Context,
  siteID: number,
  asked: { domainIDs: readonly number[]; status: number },
): Promise<Resumed> {
  if (asked.status !== 1) return new Map();
  const off = [sql`t.id = any(${[...asked.domainIDs]})`, sql`t.status <> 1`];
  const found = await ctx.store(domainTable, { siteID }).pick(['id', 'claimID', 'domainName'], off);
  return new Map(found.map(({ id, claimID, domainName }) => [domainName, claimID ?? id]));
}

const origins = new Origins(upstreamTable, domainTable, 'domainID', domain => domain);

async function afterRemoval(ctx: Context, siteID: number, gone: readonly DomainRow[]): Promise<void> {
  publishShown(
    ctx,
    gone.map(one => one.certificateID),
  );
  await forgetDomains(
    ctx,
    siteID,
    gone.map(one => one.id),
  );
}

export const domainCalls = implement(
  domains,
  {
    'GET /domains': ({ ctx, params, query }) => ctx.store(domainTable, params).page(query),
    'GET /simpleDomains': ({ ctx, params, query }) => ctx.store(domainTable, params).page(query),
    'GET /metaDomains': async ({ ctx, params, query }) => {
      const conditions = contains(query.keyword, 'domainName');
      return (await ctx.store(domainTable, params).pick(['id', 'domainName'], conditions, sql`t."domainName"`)).map(
        ({ id, domainName }) => ({
          id,
          name: domainName,
        }),
      );
    },
    // found by its table before, as the list shows it
    'GET /domain/{domainID}': async ({ found }) => found['domainID'] as never,
    'POST /domains': async ({ ctx, params, body, prepared }) => {
      await checkReached(
        ctx,
        params.siteID,
        newReached,
        body.domains.flatMap(({ upstreams }, i) => upstreams.map((one, j) => ({ ...one, path: `domains.${i}.upstreams.${j}` }))),
      );
      return makeAll(ctx, params.siteID, body.domains, { proven: prepared, path: i => `domains.${i}.domainName` });
    },
    'POST /domains/export': async ({ ctx, params, found, body }) => {
      const chosen = await ctx
        .store(domainTable, params)
        .pick(['id', 'domainName', 'status', 'balance', 'tags'], [sql`t.id = any(${body.ids})`]);
      if (chosen.length !== new Set(body.ids).size) throw unknownID('ids');
      const origins = await rows<{ domainID: number; address: string; port: number }>(
        ctx.db,
        sql`select "domainID", address, port from upstream where "domainID" = any(${body.ids}) and "deletedAt" is null order by id`,
      );
      const lines = chosen.map(domain =>
        csvLine([
          domain.domainName,
          domain.status,
          domain.balance,
          origins
            .filter(origin => origin.domainID === domain.id)
            .map(origin => `${origin.address.includes(':') ? `[${origin.address}]` : origin.address}:${origin.port}`)
            .join(' '),
          domain.tags.join(' '),
        ]),
      );
      return new FileAnswer(
        `${String(found['siteID']!['siteName'])}-domains.csv`,
        csvLine(['domainName', 'status', 'balance', 'upstreams', 'tags']) + lines.join(''),
      );
    },
    'DELETE /domains': ({ ctx, params, body }) =>
      removeAll(ctx.store(domainTable, params), body.ids, gone => afterRemoval(ctx, params.siteID, gone)),
    'DELETE /domainsByNames': async ({ ctx, params, body }) => {
      // a host name in two spellings is one
      const names = new Map(body.names.map(name => [name.toLowerCase(), name]));
      const store = ctx.store(domainTable, params);
      const found = await store.pick(['id', 'domainName'], [sql`t."domainName" = any(${[...names.keys()]})`]);
      // as of ids: none there fails the call, of some the rest is told; some may be gone since they were found
      const ids = found.map(({ id }) => id);
      const { there } = await those(store, ids, 'names');
      const gone = await store.remove(
        there.map(({ id }) => id),
        'names',
      );
      await afterRemoval(ctx, params.siteID, gone);
      for (const { domainName } of there) names.delete(domainName);
      tellMissing([...names.values()]);
      return {};
    },
    'PUT /domain/setting/tags': async ({ ctx, params, body }) => {
      const seen = seenVersions(body.domainIDs, body.versions, 'domainIDs');
      await eachDomain(ctx, params.siteID, body.domainIDs, async domain => {
        if (seen) ctx.effects.expected = seen.get(domain.id);
        await ctx.store(domainTable, params).set(domain.id, { tags: body.tags });
      });
      return {};
    },
    'PATCH /domain/setting/status': async ({ ctx, params, body, prepared }) => {
      const resumed = await resumedOf(ctx, params.siteID, body);
      const { clientID } = ctx.actor;
      const proven: ReadonlySet<string> = prepared instanceof Set ? prepared : new Set();
      const refused = await refusedNames(ctx, params.siteID, [...resumed.keys()], proven, resumed);
      const licensed = body.status === 1 && clientID !== null ? await ctx.services.licences.room(ctx.db, clientID, 'domains') : 0;
      await eachDomain(ctx, params.siteID, body.domainIDs, async domain => {
        if (domain.status !== 1 && licensed < 0) throw fail('domainsExceeded');
        const refusal = domain.status === 1 ? undefined : refused.get(domain.domainName);
        if (refusal) throw refusal('domainIDs');
        if (body.status === 1) await origins.checkEnabled(ctx, domain.id);
        await ctx.store(domainTable, params).set(domain.id, { status: body.status });
      });
      return {};
    },
    'PATCH /domain/setting/balance': async ({ ctx, params, body }) => {
      await eachDomain(
        ctx,
        params.siteID,
        body.domainIDs,
        async domain => void (await ctx.store(domainTable, params).set(domain.id, { balance: body.balance })),
      );
      return {};
    },
    'PATCH /domain/setting/autoSSL': async ({ ctx, params, body }) => {
      await eachDomain(ctx, params.siteID, body.domainIDs, await autoSSLSwitch(ctx, params.siteID, body));
      return {};
    },
    'PATCH /domain/setting/forceSSL': async ({ ctx, params, body }) => {
      await eachDomain(
        ctx,
        params.siteID,
        body.domainIDs,
        async domain => void (await ctx.store(domainTable, params).set(domain.id, { forceSSL: body.forceSSL })),
      );
      return {};
    },
    'PATCH /domain/setting/hsts': async ({ ctx, params, body }) => {
      await eachDomain(
        ctx,
        params.siteID,
        body.domainIDs,
        async domain => void (await ctx.store(domainTable, params).set(domain.id, { hsts: body.hsts })),
      );
      return {};
    },
    'PATCH /domain/setting/originHost': async ({ ctx, params, body }) => {
      await eachDomain(
        ctx,
        params.siteID,
        body.domainIDs,
        async domain => void (await ctx.store(domainTable, params).set(domain.id, { originHost: body.originHost })),
      );
      return {};
    },
    'PUT /domain/{domainID}/scheme': async ({ ctx, params, body }) => {
      const store = ctx.store(domainTable, { siteID: params.siteID });
      const before = await store.get(params.domainID, 'domainID');
      const { data } = await ctx.store(upstreamTable, { domainID: params.domainID }).page({ pageSize: upstreamsPerDomain });
      const origins = data.map(({ address, port, protocol }) => ({ address, port, protocol, path: 'portMap' }));
      const { scheme, portMap } = before;
      // what stands otherwise from before these rules keeps nobody from the rest
      if (!isSame([scheme, portMap], [body.scheme, body.portMap])) checkFit(body, origins, 'portMap');
      const asked = askedOf(origins, portMap);
      const isNew = (one: (typeof asked)[number]) => !asked.some(old => old.address === one.address && old.port === one.port);
      await checkOrigins(ctx, params.siteID, askedOf(origins, body.portMap).filter(isNew));
      await store.set(params.domainID, body, 'domainID');
      return {};
    },
    'GET /domain/{domainID}/upstreams': ({ ctx, params, query }) => origins.page(ctx, params, query),
    'POST /domain/{domainID}/upstreams': ({ ctx, params, body }) => origins.add(ctx, params, body.upstreams),
    'PUT /domain/{domainID}/upstreams': ({ ctx, params, body }) => origins.change(ctx, params, body.upstreams),
    'DELETE /domain/{domainID}/upstreams': ({ ctx, params, body }) => origins.remove(ctx, params, body.ids),
  },
  {
    params: { domainID: domainTable },
    prepare: {
      'POST /domains': ({ ctx, params: { siteID }, body, request: { line } }) => {
        const names = body.domains.map((one: { domainName: string }) => one.domainName);
        return provenNames(ctx, { siteID, names, line });
      },
      'PATCH /domain/setting/status': async ({ ctx, params: { siteID }, body, request: { line } }) => {
        const resumed = await resumedOf(ctx, siteID, body);
        return provenNames(ctx, { siteID, names: [...resumed.keys()], resumed, line });
      },
    },
    rows: { 'GET /domains': domainTable, 'GET /simpleDomains': domainTable, 'GET /domain/{domainID}/upstreams': upstreamTable },
  },
);
