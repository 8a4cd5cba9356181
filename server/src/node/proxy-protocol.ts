/** Where load balancers come: at no port that sites may open. */
import { sql } from 'kysely';
import { failFields } from '#contract/errors.ts';
import { settingValue } from '#contract/kit/setting.ts';
import { proxyProtocol } from '#contract/site/zone-settings.ts';
import type { Context } from '../kit/context.ts';
import { implementSetting } from '../kit/setting.ts';
import { row, rows } from '../store/db.ts';
import { zoneTable } from './tables.ts';

const entrances = ['httpPort', 'httpsPort'] as const;

/** Who changes ports or entrances of a zone does it after whoever does. */
const held = (ctx: Context, zoneID: number) => sql`select 1 from zone where id = ${zoneID} for no key update`.execute(ctx.db);

/** A port is the sites' or the balancers'. @throws 101003 where it is where balancers come */
export async function checkNoEntrance(ctx: Context, zoneID: number, port: number, path: string): Promise<void> {
  await held(ctx, zoneID);
  const found = await row<{ value: unknown }>(
    ctx.db,
    sql`select value from "scopedSetting" where name = ${proxyProtocol.name} and "zoneID" = ${zoneID}`,
  );
  const value = settingValue(proxyProtocol, found?.value);
  if (value && entrances.some(name => value[name] === port)) throw failFields([{ path, rule: 'portInZone', bounds: { port } }]);
}

export const proxyProtocolImplementation = implementSetting(proxyProtocol, 'zone', zoneTable, {
  before: async (ctx, value, zoneID) => {
    await held(ctx, zoneID);
    const taken = await rows<{ port: number }>(
      ctx.db,
      sql`select port from "zonePort" where "zoneID" = ${zoneID} and "deletedAt" is null`,
    );
    const wrong = entrances.flatMap(path => {
      const port = taken.find(one => one.port === value[path])?.port;
      return port === undefined ? [] : [{ path, rule: 'portInZone' as const, bounds: { port } }];
    });
    if (wrong.length) throw failFields(wrong);
  },
});
