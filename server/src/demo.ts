/**
 * The demo: a product, a site and `demo.breakwater.test` on the local origin that BREAKWATER_DEMO_ORIGIN names
 * (`127.0.0.1:port`). Made once, by the same rows a person would make; a second start points it at the origin again.
 */
import { sql } from 'kysely';
import { settingOf } from '#host/secrets.ts';
import { openDatabase, row } from './store/db.ts';
import { writeSetting } from './system/settings.ts';
import { publish } from './kit/context.ts';
import type { Effects } from './kit/effects.ts';
import { ownerID } from './kit/owner.ts';

export const demoHost = 'demo.breakwater.test';
export const demoZone = 'cdn.breakwater.test';

export async function demo(databaseUrl: string, origin: string): Promise<void> {
  const [address, port] = [origin.slice(0, origin.lastIndexOf(':')), Number(origin.slice(origin.lastIndexOf(':') + 1))];
  const database = openDatabase(databaseUrl, 1);
  try {
    await database.db.transaction().execute(async db => {
      const effects: Effects = { holds: true, changes: [], documents: new Map(), open: new Set() };
      const one = async (query: ReturnType<typeof sql>) => (await row<{ id: number }>(db, query))!.id;
      const found = await row<{ id: number }>(
        db,
        sql`select id from domain where "domainName" = ${demoHost} and "deletedAt" is null`,
      );
      if (found) {
        await sql`update upstream set address = ${address}, port = ${port} where "domainID" = ${found.id} and "deletedAt" is null`.execute(
          db,
        );
        effects.documents.set('d', { kind: 'domain', id: found.id });
      } else {
        const operator = await one(sql`select ${ownerID} as id`);
        const customer = await one(
          sql`select id from account where auth = 'user' and "isRoot" and "parentClient" = ${operator} and "deletedAt" is null order by id limit 1`,
        );
        const group = await one(
          sql`select id from "group" where "clientID" = ${operator} and "deletedAt" is null order by id limit 1`,
        );
        const product = await one(
          sql`insert into product ("clientID", "groupID", name, memo) values (${operator}, ${group}, 'starter', 'demo') returning id`,
        );
        const site = await one(
          sql`insert into site ("clientID", "userID", "productID", "siteName", tags) values (${operator}, ${customer}, ${product}, 'demo', '{demo}') returning id`,
        );
        const domain = await one(sql`insert into domain ("siteID", "domainName") values (${site}, ${demoHost}) returning id`);
        await sql`insert into upstream ("domainID", address, port) values (${domain}, ${address}, ${port})`.execute(db);
        // what its names lead into, where the operator has who answers for it
        await sql`insert into cname ("clientID", "dnsSettingID", "domainName", memo) select ${operator}, id, ${demoZone}, 'demo' from "dnsSetting"
          where "clientID" = ${operator} and "deletedAt" is null order by id limit 1 on conflict do nothing`.execute(db);
        await sql`insert into "cacheRule" ("siteID", type, value, duration, mode, priority) values
          (${site}, 'fileType', 'css,js,png,svg', 60, 'followOrigin', 10)`.execute(db);
        effects.documents.set('s', { kind: 'site', id: site }).set('d', { kind: 'domain', id: domain });
      }
      // the demo's origin is on loopback: its zone, and no other, may have one there while the demo runs
      const zone =
        await one(sql`select g."zoneID" as id from domain d join site s on s.id = d."siteID" join product p on p.id = s."productID"
        join "group" g on g.id = p."groupID" where d."domainName" = ${demoHost} and d."deletedAt" is null`);
      if (await writeSetting(db, null, 'originDemo', { zoneID: zone, ranges: ['127.0.0.0/8'] }))
        effects.documents.set('z', { kind: 'zone', id: zone });
      await publish(db, effects);
    });
  } finally {
    await database.close();
  }
}

/** Its group answers with the nodes of its zone, unless anybody ever stood on one of its lines: what somebody took off stays off. */
export async function answering(databaseUrl: string): Promise<void> {
  const database = openDatabase(databaseUrl, 1);
  try {
    await sql`insert into "lineNode" ("groupID", "lineID", "nodeID") select g.id, 1, n.id
      from domain d join site s on s.id = d."siteID" join product p on p.id = s."productID" join "group" g on g.id = p."groupID"
      join node n on n."zoneID" = g."zoneID" and n.type = 'edge' and n."deletedAt" is null
      where d."domainName" = ${demoHost} and d."deletedAt" is null and not exists (select 1 from "lineNode" o where o."groupID" = g.id)
        and not exists (select 1 from "answerChange" c where c."groupID" = g.id) on conflict do nothing`.execute(database.db);
  } finally {
    await database.close();
  }
}

if (import.meta.main) {
  const { BREAKWATER_DEMO_ORIGIN: origin, BREAKWATER_DEMO_ANSWERS: answers } = process.env;
  const url = settingOf('DATABASE_URL', process.env);
  if (!url || !origin) throw new Error('DATABASE_URL and BREAKWATER_DEMO_ORIGIN must be set');
  await (answers ? answering(url) : demo(url, origin));
  console.log(JSON.stringify({ host: demoHost }));
}
