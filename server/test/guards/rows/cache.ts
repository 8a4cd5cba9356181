/** Cache rules and purges. */
import { sql } from 'kysely';
import { row } from '#server/store/db.ts';
import type { Rows } from '../world.ts';

export const cacheRows: Rows = {
  bodies: {
    'DELETE /{area}/site/{siteID}/setting/urlCache': async (rig, world) => {
      const id = await rig.at(world, 'domain');
      const name = (await row<{ n: string }>(rig.api.database.db, sql`select "domainName" as n from domain where id = ${id}`))!.n;
      return { type: 1, urls: [`http://${name}/x`] };
    },
  },
  lists: {
    'GET /{area}/site/{siteID}/setting/cacheRules': {
      kind: 'cacheRule',
      make: async (rig, world) =>
        rig.insert('cacheRule', { siteID: await rig.at(world, 'site'), type: 'site', duration: 1, mode: 'followOrigin' }),
    },
    'GET /{area}/site/{siteID}/setting/urlCaches': {
      kind: 'purgeTask',
      make: async (rig, world) =>
        rig.insert('purgeTask', { siteID: await rig.at(world, 'site'), type: 0, url: '*', generation: 1 }),
    },
  },
  values: { value: () => 'jpg' },
};
