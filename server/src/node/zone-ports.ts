/** Ports that the nodes of a zone listen on, for its sites. */
import { sql } from 'kysely';
import { Fail } from '#contract/errors.ts';
import { layer4Ports, portTypes } from '#contract/limits.ts';
import { zonePorts } from '#contract/node/zone-ports.ts';
import type { Context } from '../kit/context.ts';
import { implement } from '../kit/implement.ts';
import { removeEach } from '../kit/removal.ts';
import { row, rows } from '../store/db.ts';
import { checkNoEntrance } from './proxy-protocol.ts';
import { type ZonePortRow, zonePortTable, zoneTable } from './tables.ts';

const isLayer4 = (scheme: string) => layer4Ports.protocols.some(one => one === scheme);

/** The operator's licence opens layer 4 (101023): asked also of a port that is there and edited. */
async function checkLicence(ctx: Context, scheme: ZonePortRow['scheme'], path: string): Promise<void> {
  if (isLayer4(scheme)) await ctx.services.licences.needLayer4(ctx.db, ctx.actor.rootID, path, { scheme });
}

/** And layer 4 is the matter of products that open it (101023). */
async function checkType(ctx: Context, zoneID: number, { scheme }: Pick<ZonePortRow, 'scheme'>, path: string): Promise<void> {
  if (!isLayer4(scheme)) return;
  await checkLicence(ctx, scheme, path);
  const sold = await row(
    ctx.db,
    sql`select 1 from product p join "group" g on g.id = p."groupID" where g."zoneID" = ${zoneID} and p."portType" <> ${portTypes[0]}
          and p."deletedAt" is null limit 1`,
  );
  if (!sold) throw new Fail('illegalPortType', { errorData: [{ path, rule: 'layer4Closed', bounds: { scheme } }] });
}

/** Sites have it open: the zone goes on listening there (101011; of layer 4 202005). */
async function checkUnused(ctx: Context, { zoneID, port, scheme }: ZonePortRow, path: string): Promise<void> {
  const using = await rows<{ siteName: string }>(
    ctx.db,
    sql`select s."siteName" from port o join site s on s.id = o."siteID" join product p on p.id = s."productID" join "group" g on g.id = p."groupID"
        where g."zoneID" = ${zoneID} and o.port = ${port} and o."deletedAt" is null and s."deletedAt" is null order by s.id limit 6`,
  );
  if (!using.length) return;
  const sites = using.slice(0, 5).map(one => one.siteName);
  const bounds = { port, sites: [...sites, ...(using.length > sites.length ? ['…'] : [])].join(', ') };
  throw new Fail(isLayer4(scheme) ? 'portType4InUse' : 'inconsistentPorts', {
    errorData: [{ path, rule: 'portOpened', bounds }],
  });
}

export const zonePortCalls = implement(
  zonePorts,
  {
    'GET /ports': ({ ctx, params, query }) => ctx.store(zonePortTable, { zoneID: params.id }).page(query),
    'POST /ports': async ({ ctx, params, body }) => {
      const ids: number[] = [];
      await ctx.each(
        body.ports,
        one => String(one.port),
        async one => {
          const at = `ports.${body.ports.indexOf(one)}`;
          await checkType(ctx, params.id, one, `${at}.scheme`);
          await checkNoEntrance(ctx, params.id, one.port, `${at}.port`);
          ids.push(...(await ctx.store(zonePortTable, { zoneID: params.id }).add([one], {}, 'ports')));
        },
      );
      return { ids };
    },
    'PUT /port': async ({ ctx, params, body }) => {
      const store = ctx.store(zonePortTable, { zoneID: params.id });
      const before = await store.get(body.id);
      const isMoved = (body.port ?? before.port) !== before.port;
      const isOther = (body.scheme ?? before.scheme) !== before.scheme;
      if (isMoved || isOther) await checkUnused(ctx, before, isMoved ? 'port' : 'scheme');
      if (isMoved) await checkNoEntrance(ctx, params.id, body.port!, 'port');
      if (isOther) await checkType(ctx, params.id, { scheme: body.scheme! }, 'scheme');
      else await checkLicence(ctx, before.scheme, 'scheme');
      await store.set(body.id, body);
      return {};
    },
    'DELETE /ports': ({ ctx, params, body }) =>
      removeEach(
        ctx,
        ctx.store(zonePortTable, { zoneID: params.id }),
        body.ids,
        one => String(one.port),
        one => checkUnused(ctx, one, 'ids'),
      ),
  },
  { params: { id: zoneTable }, rows: { 'GET /ports': zonePortTable } },
);
