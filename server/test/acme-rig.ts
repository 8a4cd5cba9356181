/** What tests of certificates that make themselves begin with: customers of one operator, an authority, whoever looks and whoever works. */
import assert from 'node:assert/strict';
import { after, beforeEach } from 'node:test';
import { sql } from 'kysely';
import { autoSSLWork } from '#server/domain/acme/work.ts';
import type { AnyWork } from '#server/kit/task.ts';
import { row, rows } from '#server/store/db.ts';
import { poll } from '#server/store/engine-process.ts';
import { AutoSSL } from '#server/work/auto-ssl.ts';
import { FakeAuthority } from './acme-fake.ts';
import { by, ok } from './expect.ts';
import type { Person, Reply } from './harness.ts';
import { a, api, db, tasksRig } from './tasks-rig.ts';

/** The authority of this test: each has its own, with an account of its own. */
export let fake: FakeAuthority;
export let auto: AutoSSL;
export interface Customer {
  user: Person;
  siteID: number;
}

/** To be called at the top of a test file. `more`: what else the worker does; undefined: nobody works. */
export function acmeRig(more: readonly AnyWork[] | undefined = []): void {
  let nodeID: number;
  tasksRig(more && [autoSSLWork, ...more]);
  beforeEach(async () => {
    auto ??= new AutoSSL(api.database.url);
    fake?.stop();
    fake = await new FakeAuthority().start();
    api.services.acme = { directory: fake.directory, ca: fake.ca };
    const { n } = (await row<{ n: number }>(db(), sql`select count(*) as n from node where "zoneID" = ${a.zoneID}`))!;
    if (n > 0) return;
    nodeID = (await row<{ id: number }>(
      db(),
      sql`insert into node ("clientID", "zoneID", name, status) values (${a.client.id}, ${a.zoneID}, 'edge', 'normal') returning id`,
    ))!.id;
    // it serves whatever it is told at once
    await sql`create function acme_served() returns trigger language plpgsql as $$ begin
        insert into ack values (${sql.lit(nodeID)}, new.id, 9e15, 1) on conflict do nothing; return new; end $$`.execute(db());
    await sql`create trigger acme_served after insert on site for each row execute function acme_served()`.execute(db());
  });
  after(async () => {
    await auto?.stop();
    fake?.stop();
  });
}

let count = 0;
export const serial = () => count++;
/** A customer with a site. */
export async function customer(): Promise<Customer> {
  const n = serial();
  const user = await api.account('user', `customer${n}@test.test`, { parentClient: a.client.id });
  const siteID = await by(api, a.client).make('/client/site', { siteName: `site${n}`, productID: a.productID, userID: user.id });
  return { user, siteID };
}
export async function domains({ user, siteID }: Customer, ...names: string[]): Promise<number[]> {
  const reply = await by(api, user).post(`/user/site/${siteID}/domains`, {
    domains: names.map(domainName => ({ domainName, upstreams: [{ address: '192.0.2.1' }] })),
  });
  ok(reply);
  return reply.body.ids;
}
export const removeDomains = async ({ user, siteID }: Customer, ids: number[]) =>
  ok(await by(api, user).del(`/user/site/${siteID}/domains`, { ids }));
export const change = ({ user, siteID }: Customer, domainIDs: number[], enabled: boolean, more: object = {}): Promise<Reply> =>
  by(api, user).patch(`/user/site/${siteID}/domain/setting/autoSSL`, { domainIDs, enabled, ...more });
export const switched = async (who: Customer, domainIDs: number[], enabled = true) => ok(await change(who, domainIDs, enabled));
/** Domains that ask for a certificate. */
export async function asking(who: Customer, ...names: string[]): Promise<number[]> {
  const ids = await domains(who, ...names);
  await switched(who, ids);
  return ids;
}

export interface Found {
  id: number;
  state: string;
  attempts: number;
  error: string;
  provider: string;
  taskID: number | null;
  certificateID: number | null;
  /** from now until it is tried or renewed; null: at once */
  seconds: number | null;
}
/** How far the certificate of a domain is. */
export const found = async (domainID: number): Promise<Found> =>
  (await row<Found>(
    db(),
    sql`select *, extract(epoch from "nextAt" - clock_timestamp())::float8 as seconds from "autoCertificate"
        where "domainID" = ${domainID} and "deletedAt" is null`,
  ))!;
/** As if that time had passed: due now. */
export const due = async (...domainIDs: number[]) =>
  void (await sql`update "autoCertificate" set "nextAt" = now() where "domainID" = any(${domainIDs})`.execute(db()));
export const shownBy = async (domainID: number): Promise<number | null> =>
  (await row<{ id: number | null }>(db(), sql`select "certificateID" as id from domain where id = ${domainID}`))!.id;

export const isIdle = async (): Promise<boolean> =>
  (await row<{ n: number }>(db(), sql`select count(*) as n from task where "endedAt" is null`))!.n === 0;
export async function idle(limitMs = 60_000): Promise<void> {
  assert.ok(await poll(isIdle, limitMs, 50), JSON.stringify(await rows(db(), sql`select * from task where "endedAt" is null`)));
}
/** What is due becomes tasks, and they come to their end. */
export async function run(): Promise<void> {
  await auto.look();
  await idle();
}
export interface Line {
  taskID: number;
  code: string;
  level: string;
  values: Record<string, string | number>;
  error: { field?: { rule: string } } | null;
}
/** What logs of a site's tasks say. */
export const lines = ({ siteID }: Customer): Promise<Line[]> =>
  rows<Line>(
    db(),
    sql`select l."taskID", l.code, l.level, l.values, l.error from "taskLine" l join task t on t.id = l."taskID"
        where t."siteID" = ${siteID} order by l."taskID", l.n`,
  );
