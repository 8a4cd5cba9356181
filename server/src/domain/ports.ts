/** Ports of a site and their origins. */
import { sql } from 'kysely';
import { ports, portUpstreams } from '#contract/domain/ports.ts';
import { upstreamsPerDomain } from '#contract/edge/kinds/domain.ts';
import { Fail, fail } from '#contract/errors.ts';
import { layer4Ports, portTypes, schemes } from '#contract/limits.ts';
import { portMapDefault } from '#contract/rules/schemes.ts';
import type { Context } from '../kit/context.ts';
import { implement } from '../kit/implement.ts';
import { removeAll } from '../kit/removal.ts';
import { isSame, unknownID } from '../kit/store.ts';
import { row, rows } from '../store/db.ts';
import { checkOrigins } from '../system/origins.ts';
import { askedOf, checkFit, type Reached } from './schemes.ts';
import { type PortRow, portTable, portUpstreamTable } from './tables.ts';
import { Origins } from './upstreams.ts';

type Wanted = Pick<PortRow, 'port' | 'scheme'>;

/** Visitors come by the port's scheme alone; what layer 4 passes on has none, and is asked at the origin's own port. */
const reachedOf = ({ scheme, portMap }: Pick<PortRow, 'scheme' | 'portMap'>): Reached => ({
  scheme: schemes.find(one => one === scheme) ?? 'http',
  portMap,
});
const origins = new Origins(portUpstreamTable, portTable, 'portID', reachedOf, { mayBeNone: true });

interface Sold {
  zoneID: number;
  portType: (typeof portTypes)[number];
  limit: number;
  /** that it has */
  count: number;
}
async function soldTo(ctx: Context, siteID: number): Promise<Sold> {
  const found = await row<Sold>(
    ctx.db,
    sql`select g."zoneID", p."portType", coalesce(s."portLimit", p."portLimit") as limit,
          (select count(*) from port o where o."siteID" = s.id and o."deletedAt" is null)::int as count
        from site s join product p on p.id = s."productID" join "group" g on g.id = p."groupID" where s.id = ${siteID} and s."deletedAt" is null`,
  );
  if (!found) throw unknownID('siteID');
  return found;
}

/**
 * The product opens the layer (101023), and the zone has the port, for this scheme (101011). Held meanwhile: who takes it from the zone waits,
 * and finds it open then.
 */
async function checkOpen(ctx: Context, { zoneID, portType }: Sold, { port, scheme }: Wanted, path: string): Promise<void> {
  await checkLicence(ctx, scheme, path);
  if (layer4Ports.protocols.some(one => one === scheme) && portType === portTypes[0])
    throw new Fail('illegalPortType', { errorData: [{ path: `${path}scheme`, rule: 'layer4Closed', bounds: { scheme } }] });
  const there = await row(
    ctx.db,
    sql`select 1 from "zonePort" where "zoneID" = ${zoneID} and port = ${port} and scheme = ${scheme} and "deletedAt" is null for share`,
  );
  if (!there)
    throw new Fail('inconsistentPorts', { errorData: [{ path: `${path}port`, rule: 'portNotOpen', bounds: { port, scheme } }] });
}

/** The operator's licence opens the layer (101023): asked also of a port that is there and edited. */
async function checkLicence(ctx: Context, scheme: string, path: string): Promise<void> {
  const { clientID } = ctx.actor;
  if (clientID !== null && layer4Ports.protocols.some(one => one === scheme))
    await ctx.services.licences.needLayer4(ctx.db, clientID, `${path}scheme`, { scheme });
}

export const portCalls = implement(
  ports,
  {
    'GET /ports': ({ ctx, params, query }) => ctx.store(portTable, params).page(query),
    'GET /zonePorts': async ({ ctx, params }) => {
      const { zoneID } = await soldTo(ctx, params.siteID);
      return rows<Wanted & { name: string }>(
        ctx.db,
        sql`select concat(scheme, ':', port) as name, port, scheme from "zonePort" where "zoneID" = ${zoneID} and "deletedAt" is null order by port`,
      );
    },
    'POST /ports': async ({ ctx, params, body }) => {
      const sold = await soldTo(ctx, params.siteID);
      const ids: number[] = [];
      await ctx.each(
        body.ports,
        one => String(one.port),
        async one => {
          await checkOpen(ctx, sold, one, `ports.${body.ports.indexOf(one)}.`);
          if (sold.limit > 0 && sold.count + ids.length >= sold.limit) throw fail('portsExceeded');
          ids.push(...(await ctx.store(portTable, params).add([{ portMap: portMapDefault, ...one }], {}, 'ports')));
        },
      );
      return { ids };
    },
    'PUT /port/{portID}': async ({ ctx, params, body }) => {
      const store = ctx.store(portTable, { siteID: params.siteID });
      const before = await store.get(params.portID, 'portID');
      const wished = {
        port: body.port ?? before.port,
        scheme: body.scheme ?? before.scheme,
        portMap: body.portMap ?? before.portMap,
      };
      if (!isSame([wished.port, wished.scheme], [before.port, before.scheme]))
        await checkOpen(ctx, await soldTo(ctx, params.siteID), wished, '');
      else await checkLicence(ctx, wished.scheme, '');
      const { data } = await ctx.store(portUpstreamTable, { portID: params.portID }).page({ pageSize: upstreamsPerDomain });
      const own = data.map(({ address, port, protocol }) => ({ address, port, protocol, path: 'portMap' }));
      const isMoved = !isSame([wished.scheme, wished.portMap], [before.scheme, before.portMap]);
      if (isMoved) checkFit(reachedOf(wished), own, 'portMap');
      if (isMoved) await checkOrigins(ctx, params.siteID, askedOf(own, wished.portMap));
      await store.set(params.portID, body, 'portID');
      return {};
    },
    'DELETE /ports': ({ ctx, params, body }) => removeAll(ctx.store(portTable, params), body.ids),
  },
  { params: { portID: portTable }, rows: { 'GET /ports': portTable } },
);

export const portUpstreamCalls = implement(
  portUpstreams,
  {
    'GET /port/{portID}/upstreams': ({ ctx, params, query }) => origins.page(ctx, params, query),
    'POST /port/{portID}/upstreams': ({ ctx, params, body }) => origins.add(ctx, params, body.upstreams),
    'PUT /port/{portID}/upstreams': ({ ctx, params, body }) => origins.change(ctx, params, body.upstreams),
    'DELETE /port/{portID}/upstreams': ({ ctx, params, body }) => origins.remove(ctx, params, body.ids),
  },
  { params: { portID: portTable }, rows: { 'GET /port/{portID}/upstreams': portUpstreamTable } },
);
