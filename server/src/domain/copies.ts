/** Domains made after others, and one address of their origins put for another. */
import { sql } from 'kysely';
import { domainCopies } from '#contract/domain/copies.ts';
import { domainSettings } from '#contract/edge/settings.ts';
import { Fail, type FieldError, fail, failFields } from '#contract/errors.ts';
import { canonicalHost } from '#contract/rules/origins.ts';
import type { Context } from '../kit/context.ts';
import { implement } from '../kit/implement.ts';
import { eachOf } from '../kit/removal.ts';
import { settingName } from '../kit/setting.ts';
import { unknownID } from '../kit/store.ts';
import { underName } from '../kit/table.ts';
import { siteTable } from '../site/tables.ts';
import { rows } from '../store/db.ts';
import { chosenProvider, operatorOf, type Provider } from './acme/providers.ts';
import { autoSSLSwitch } from './acme/switch.ts';
import { autoCertificateTable } from './acme/tables.ts';
import { claimOf, provenNames } from './claims.ts';
import { insert, makeAll, type NewDomain, room, settled } from './make.ts';
import { checkReached, type Reached, type Wished } from './schemes.ts';
import { type DomainRow, domainTable, type UpstreamRow, upstreamTable } from './tables.ts';
import { adjustable } from './upstreams.ts';

/** What else stands at these domains, in the order of the second list. */
async function copySettings(ctx: Context, from: readonly number[], to: readonly number[]): Promise<void> {
  const copied = await rows<{ name: string; domainID: number; value: Record<string, unknown> }>(
    ctx.db,
    sql`insert into "scopedSetting" (name, "domainID", value) select x.name, p.made, x.value
      from unnest(${[...from]}::bigint[], ${[...to]}::bigint[]) as p(had, made) join "scopedSetting" x on x."domainID" = p.had
      where x.name = any(${Object.values(domainSettings).map(({ name }) => name)})
      returning name, "domainID", value`,
  );
  for (const { name, domainID, value } of copied) ctx.note({ table: settingName(name, 'domain'), id: domainID, after: value });
}

/** What is refused of what the copies are made from, told of the field of the call that leads there. */
async function toldAt<T>(field: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    const problems = error instanceof Fail && error.name === 'parameter' ? (error.errorData as FieldError[]) : [];
    if (!problems.length) throw error;
    throw failFields(problems.slice(0, 1).map(problem => ({ ...problem, path: field })));
  }
}
const checkAt = (ctx: Context, siteID: number, reached: Reached, origins: readonly Omit<Wished, 'path'>[], field: string) =>
  toldAt(field, () =>
    checkReached(
      ctx,
      siteID,
      reached,
      origins.map(one => ({ ...one, path: field })),
    ),
  );

/** The origins of these domains, as they would be given for new ones. */
async function originsOf(ctx: Context, ids: readonly number[]): Promise<Map<number, NewDomain['upstreams']>> {
  const found = await rows<UpstreamRow>(
    ctx.db,
    sql`select * from upstream where "domainID" = any(${[...ids]}) and "deletedAt" is null order by id`,
  );
  const origins = new Map<number, NewDomain['upstreams']>(ids.map(id => [id, []]));
  for (const { domainID, address, port, weight, protocol, backup, enabled, maxFails, failTimeout, hash, keepalive } of found)
    origins.get(domainID)!.push({ address, port, weight, protocol, backup, enabled, maxFails, failTimeout, hash, keepalive });
  return origins;
}

/** As it would be given for a new one, under this name. */
function like(domain: DomainRow, domainName: string, upstreams: NewDomain['upstreams']): NewDomain {
  const { balance, originHost, tags } = domain;
  // of the fields that a domain has by these names
  const later = Object.fromEntries(settled.map(key => [key, domain[key]])) as Pick<NewDomain, (typeof settled)[number]>;
  return { domainName, upstreams, balance, originHost, tags, ...later };
}

/** Those that can lie at the other site, and why the others cannot. */
async function fitting(
  ctx: Context,
  there: readonly (DomainRow & { id: number })[],
  origins: Map<number, NewDomain['upstreams']>,
  to: number,
) {
  const has = await rows<{ domainName: string }>(
    ctx.db,
    sql`select "domainName" from domain where "siteID" = ${to} and "domainName" = any(${there.map(one => one.domainName)}) and "deletedAt" is null`,
  );
  const taken = new Set(has.map(one => one.domainName));
  const all: (DomainRow & { id: number })[] = [];
  const refused = new Map<number, Fail>();
  for (const domain of there) {
    const problem = taken.has(domain.domainName)
      ? fail('duplicated')
      : await ctx.attempt(() => checkAt(ctx, to, domain, origins.get(domain.id)!, 'ids'));
    if (problem) refused.set(domain.id, problem);
    else all.push(domain);
    taken.add(domain.domainName);
  }
  // last: from here on the operator's other calls that make domains wait
  const fit = all.length ? all.slice(0, Math.max(0, await room(ctx, to))) : [];
  for (const { id } of all.slice(fit.length)) refused.set(id, fail('domainsExceeded'));
  return { fit, refused };
}

async function copyToSite(ctx: Context, siteID: number, ids: readonly number[], to: number): Promise<{ ids: number[] }> {
  const found = await ctx.store(siteTable).need([...new Set([siteID, to])], 'siteID');
  // onto itself
  if (to === siteID) throw failFields([{ path: 'siteID', rule: 'invalidChoice' }]);
  // a name is its customer's: nobody has another's without showing whose it is (claims.ts)
  if (new Set(found.map(({ userID }) => userID)).size > 1) throw failFields([{ path: 'siteID', rule: 'siteOfAnother' }]);
  const there = await ctx.store(domainTable, { siteID }).there(ids);
  if (!there.length) throw unknownID('ids');
  const origins = await originsOf(
    ctx,
    there.map(({ id }) => id),
  );
  const { fit, refused } = await fitting(ctx, there, origins, to);
  let made: number[] = [];
  if (fit.length) {
    made = await insert(
      ctx,
      to,
      fit.map(one => ({ ...like(one, one.domainName, origins.get(one.id)!), status: 0 })),
    );
    const from = fit.map(({ id }) => id);
    await sql`update domain t set "claimID" = ${claimOf('s')} from unnest(${from}::bigint[], ${made}::bigint[]) as p(had, made)
      join domain s on s.id = p.had where t.id = p.made`.execute(ctx.db);
    await copySettings(ctx, from, made);
  }
  const names = new Map(there.map(({ id, domainName }) => [id, domainName]));
  await ctx.each(
    ids,
    id => names.get(id) ?? String(id),
    async id => {
      const problem = names.has(id) ? refused.get(id) : unknownID('ids');
      if (problem) throw problem;
    },
  );
  return { ids: made };
}

/** The authority that is asked for this domain's certificate; none where nobody asks. @throws where it is set up no longer */
async function authorityOf(ctx: Context, siteID: number, { id, autoSSL }: DomainRow): Promise<Provider | undefined> {
  if (!autoSSL) return undefined;
  const [asked] = await ctx.store(autoCertificateTable, { domainID: id }).pick(['provider']);
  const clientID = await operatorOf(ctx.db, siteID);
  if (clientID === undefined) throw unknownID('siteID');
  return chosenProvider(ctx, clientID, asked?.provider);
}

/** What a new domain has of the one it is made after, beside its own row and origins. */
async function dress(
  ctx: Context,
  siteID: number,
  { from, provider }: { from: DomainRow; provider: Provider | undefined },
  made: readonly { id: number }[],
): Promise<void> {
  const ids = made.map(({ id }) => id);
  await copySettings(
    ctx,
    ids.map(() => from.id),
    ids,
  );
  await sql`insert into "domainModule" ("domainID", type, "moduleID") select d, a.type, a."moduleID"
    from unnest(${ids}::bigint[]) d cross join "domainModule" a where a."domainID" = ${from.id}`.execute(ctx.db);
  const { moduleIDs } = from;
  const under = underName(domainTable, { siteID });
  if (Object.keys(moduleIDs).length) for (const id of ids) ctx.note({ table: 'domain', id, after: { moduleIDs }, under });
  if (provider === undefined) return;
  const switchOn = await autoSSLSwitch(ctx, siteID, { enabled: true, provider });
  for (const domain of await ctx.store(domainTable, { siteID }).need(ids)) {
    const problem = await ctx.attempt(() => switchOn(domain));
    // a wildcard without a DNS account is made without
    if (problem && problem.name !== 'parameter') throw problem;
  }
}

/** Puts one address of a domain's origins for another. @returns whether it had any there */
async function readdress(ctx: Context, siteID: number, domain: DomainRow, from: string, to: string): Promise<boolean> {
  const store = ctx.store(upstreamTable, { domainID: domain.id });
  const all = await store.pick(['id', 'address', 'port', 'protocol']);
  const moved = all.filter(one => canonicalHost(one.address) === from);
  if (!moved.length) return false;
  await adjustable(ctx, siteID, 'domainIDs');
  const wanted = moved.map(({ port, protocol }) => ({ address: to, port, protocol }));
  await checkAt(ctx, siteID, domain, wanted, 'to');
  const origins = async () => store.pick(['id', 'address', 'port'], [], sql`t.id`);
  await ctx.store(domainTable, { siteID }).set(domain.id, {}, 'domainIDs', {
    differing: async () => ({ upstreams: await origins() }),
    write: async () => {
      for (const { id } of moved) await store.set(id, { address: to }, 'to');
    },
  });
  return true;
}

export const domainCopyCalls = implement(
  domainCopies,
  {
    'POST /domains/copyToSite': ({ ctx, params, body }) => copyToSite(ctx, params.siteID, body.ids, body.siteID),
    'POST /domains/createFrom': async ({ ctx, params, body, prepared }) => {
      const { siteID } = params;
      const from = await ctx.store(domainTable, { siteID }).get(body.fromDomainID, 'fromDomainID');
      const origins = (await originsOf(ctx, [from.id])).get(from.id)!;
      await checkAt(ctx, siteID, from, origins, 'fromDomainID');
      const provider = await toldAt('fromDomainID', () => authorityOf(ctx, siteID, from));
      return makeAll(
        ctx,
        siteID,
        body.domains.map(name => like(from, name, origins)),
        { proven: prepared, path: i => `domains.${i}`, after: made => dress(ctx, siteID, { from, provider }, made) },
      );
    },
    'PUT /domains/modifyUpstreamIPs': async ({ ctx, params, body }) => {
      // an address in another spelling is the same one
      const [from, to] = [canonicalHost(body.from), canonicalHost(body.to)];
      if (from === to) throw failFields([{ path: 'to', rule: 'invalidChoice' }]);
      let changed = 0;
      const store = ctx.store(domainTable, { siteID: params.siteID });
      await eachOf(
        ctx,
        store,
        body.domainIDs,
        domain => domain.domainName,
        async domain => {
          if (await readdress(ctx, params.siteID, domain, from, to)) changed++;
        },
        'domainIDs',
      );
      if (!changed) throw failFields([{ path: 'from', rule: 'unknown' }]);
      return { changed };
    },
  },
  {
    prepare: {
      'POST /domains/createFrom': ({ ctx, params: { siteID }, body, request: { line } }) =>
        provenNames(ctx, { siteID, names: body.domains, line }),
    },
  },
);
