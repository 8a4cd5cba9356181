/** What whoever steers tells name servers, and when: in one order, all of it, and again where somebody asks. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { sql } from 'kysely';
import { DnsProblem, problemOf } from '#server/domain/dns/driver.ts';
import { type HeldRecord, partOf, PartsRefused, type RecordApi } from '#server/domain/dns/records.ts';
import { AccountStore } from '#server/resolution/account.ts';
import { compare } from '#server/resolution/compare.ts';
import type { GroupAnswer, NameZone } from '#server/resolution/driver.ts';
import { ForeignDriver } from '#server/resolution/foreign.ts';
import { zonesOf } from '#server/resolution/load.ts';
import { Steering } from '#server/resolution/steer.ts';
import { row } from '#server/store/db.ts';
import { poll } from '#server/store/engine-process.ts';
import { by, ok } from './expect.ts';
import { Api, type Tenant } from './harness.ts';

let held: HeldRecord[] = [];
let serial = 0;
let isBad = (_name: string) => false;
let refusals = 0;
const account: RecordApi = {
  provider: 'Some',
  minTTL: 60,
  allZones: async () => [{ name: 'turns.test', id: '1' }],
  list: async (_zone, name) => held.filter(one => name === undefined || one.name === name),
  probe: async () => {},
  async change(_zone, sets) {
    const refused = new Map<number | string, DnsProblem>();
    for (const one of sets) {
      const { name, type, seconds, held: there, keep, add } = one;
      if (isBad(name)) {
        refused.set(partOf(one), problemOf('refused', { code: 'raw', bounds: { why: `no ${name}` } }));
        continue;
      }
      held = held.filter(record => !there.includes(record) || keep.includes(record));
      held.push(...add.map(value => ({ id: String(++serial), name, type, value, seconds, isOther: false })));
    }
    refusals += refused.size;
    if (refused.size) throw new PartsRefused(refused);
  },
};
/** Of either kind; what it is told is written down. */
class Told extends ForeignDriver {
  /** ids of each list */
  readonly lists: number[][] = [];
  observed: string[] = [];
  before: Partial<Record<'test' | 'prepare' | 'observe' | 'refresh', () => Promise<unknown>>> = {};

  constructor(watchMs = 600_000) {
    super(new AccountStore(account), { minTTL: 60, namesMost: 2000 }, watchMs);
  }
  override async prepare(all: readonly NameZone[], due: readonly NameZone[]) {
    const done = await super.prepare(all, due);
    this.lists.push(all.map(one => one.id));
    await this.before.prepare?.();
    return done;
  }
  override async test(zones: readonly NameZone[]) {
    await this.before.test?.();
    return super.test(zones);
  }
  override async observe(zone: NameZone, ...more: []) {
    this.observed.push(zone.name);
    await this.before.observe?.();
    return super.observe(zone, ...more);
  }
  override async refresh(_zone?: NameZone, _all?: readonly GroupAnswer[]): Promise<void> {
    await this.before.refresh?.();
  }
}

let api: Api;
let a: Tenant;
let key: string;
/** its own, and the embedded one */
let settings: number[];
const db = () => api.database.db;
const client = () => by(api, a.client);
before(async () => {
  const secret = Buffer.alloc(32);
  const at = { port: 1, lines: '/nowhere', socket: '/nowhere', addresses: ['192.0.2.53'] };
  api = await Api.start({ knot: { ...at, key: { name: 'k', algorithm: 'hmacSHA256', secret } } });
  a = await api.tenant('a');
  key = (await row<{ key: string }>(db(), sql`select "cnameKey" as key from site where id = ${a.siteID}`))!.key;
  const credentials = 'abcdefgh12345678abcdefgh12345678abcdefgh';
  settings = [
    await client().make('/client/setting/dns', { driver: 'cloudflare', credentials }),
    await client().make('/client/setting/dns', { driver: 'knot' }),
  ];
});
beforeEach(() => {
  [held, refusals, isBad] = [[], 0, () => false];
});
afterEach(async () => {
  await sql`delete from cname`.execute(db());
});
after(async () => {
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

const zoneAt = (setting: number, name: string): Promise<number> =>
  client().make('/client/setting/dns/cname', {
    domainName: `${name}.turns.test`,
    dnsSettingID: settings[setting],
    nameServers: ['ns1.example.test'],
  });
async function steered(own: Told, ours: Told | undefined, act: () => Promise<void>): Promise<void> {
  const driver = (of: { driver: string }) => (of.driver === 'knot' ? ours : own);
  const steering = new Steering(api.database.url, api.services, { steadySeconds: 0.2, driver });
  steering.start();
  try {
    await act();
  } finally {
    await steering.stop();
  }
}
const stands = (name: string) => held.some(one => one.type === 'CNAME' && one.name === `${name}.turns.test`);
const isCompared = async (id: number) =>
  (await row(db(), sql`select 1 from cname where id = ${id} and "comparedAt" is not null`)) !== undefined;

test('zones are told in one order, whichever of them has its turn first', { timeout: 60_000 }, async () => {
  const ids = [await zoneAt(0, 'one'), await zoneAt(0, 'two')];
  isBad = name => name === `${key}.one.turns.test`;
  const own = new Told();
  await steered(own, undefined, async () => {
    assert.ok(await poll(() => refusals > 2 && stands(`${key}.two`), 30_000, 20), `${refusals} refused`);
    const count = own.lists.length;
    ok(await client().put('/client/setting/dns/cname', { id: ids[1], nameServers: ['ns2.example.test'] }));
    assert.ok(await poll(() => own.lists.length > count, 20_000, 20));
  });
  for (const list of own.lists) assert.deepEqual(list, ids);
});

test('who has all compared while it is being compared has it compared once more', { timeout: 60_000 }, async () => {
  const id = await zoneAt(0, 'one');
  const own = new Told();
  let go = () => {};
  const gate = new Promise<void>(done => (go = done));
  own.before.observe = () => gate;
  await steered(own, undefined, async () => {
    assert.ok(await poll(() => own.observed.length === 1, 20_000, 20));
    ok(await client().post('/client/setting/dns/recovery', {}));
    go();
    assert.ok(await poll(async () => own.observed.length === 2 && (await isCompared(id)), 20_000, 20), `${own.observed.length}`);
  });
});

test('lines that cannot be read keep no name from coming, whatever is said of them', { timeout: 60_000 }, async () => {
  for (const error of [new DnsProblem('refused', 'bad lines'), new Error('no space left on device')]) {
    held = [];
    const id = await zoneAt(0, 'one');
    const own = new Told();
    own.before.refresh = () => Promise.reject(error);
    await steered(own, undefined, async () => {
      assert.ok(await poll(() => stands(`${key}.one`), 20_000, 20));
      const said = async () => (await row<{ error: string }>(db(), sql`select error from cname where id = ${id}`))!.error;
      assert.ok(await poll(async () => (await said()) === error.message, 10_000, 20), await said());
    });
    await sql`delete from cname`.execute(db());
  }
});

test(
  'a zone that goes elsewhere leaves the list where it stood, however soon the other has it',
  { timeout: 60_000 },
  async () => {
    const [stays, goes] = [await zoneAt(1, 'stays'), await zoneAt(1, 'goes')];
    const [own, ours] = [new Told(), new Told(0)];
    await steered(own, ours, async () => {
      assert.ok(await poll(async () => (await isCompared(stays)) && isCompared(goes), 20_000, 20));
      // it is slow, and the other is not
      ours.before.test = () => poll(() => own.lists.length > 0, 5000, 20);
      ok(await client().put('/client/setting/dns/cname', { id: goes, dnsSettingID: settings[0] }));
      assert.ok(await poll(() => own.lists.flat().includes(goes), 20_000, 20));
      ours.before = {};
      assert.ok(await poll(() => String(ours.lists.at(-1)) === String([stays]), 10_000, 20), JSON.stringify(ours.lists));
    });
  },
);

test(
  'a zone that goes while its name server did not take the list with it is told there as well',
  { timeout: 60_000 },
  async () => {
    const stays = await zoneAt(1, 'stays');
    const ours = new Told();
    await steered(new Told(), ours, async () => {
      assert.ok(await poll(() => isCompared(stays), 20_000, 20));
      ours.before.prepare = () => Promise.reject(new Error('it ended in the midst of it'));
      const goes = await zoneAt(1, 'goes');
      assert.ok(await poll(() => ours.lists.flat().includes(goes), 20_000, 20));
      await sql`delete from cname where id = ${goes}`.execute(db());
      ours.before = {};
      assert.ok(await poll(() => String(ours.lists.at(-1)) === String([stays]), 15_000, 20), JSON.stringify(ours.lists));
    });
  },
);

test('of a site that is no more its name goes with the next comparison, also where somebody led it elsewhere', async () => {
  const id = await zoneAt(0, 'one');
  const gone = 'gone-site';
  await sql`insert into site ("clientID", "userID", "productID", "siteName", "cnameKey", "deletedAt") select "clientID", "userID", "productID", ${gone}, ${gone}, now()
    from site where id = ${a.siteID}`.execute(db());
  await sql`insert into "cnameSite" ("cnameID", "siteID", label, "groupID") select ${id}, s.id, s."cnameKey", p."groupID"
    from site s join product p on p.id = s."productID" where s."cnameKey" = any(${[gone, key]})`.execute(db());
  for (const label of [gone, key])
    held.push({
      ...{ id: String(++serial), name: `${label}.one.turns.test`, type: 'CNAME', seconds: 300, isOther: false },
      value: 'g999999.l.one.turns.test',
    });
  const [zone] = await zonesOf(db(), sql`c.id = ${id}`);
  assert.deepEqual(await compare(db(), new Told(), zone!), []);
  assert.deepEqual([stands(`${gone}.one`), stands(`${key}.one`)], [false, true]);
});

test(
  'a name of whatever bytes, which is not to be taken away either, keeps its zone from nothing, and is told in a line',
  { timeout: 60_000 },
  async () => {
    const id = await zoneAt(0, 'one');
    const name = 'a\0b\ud800.one.turns.test';
    held.push({
      ...{ id: String(++serial), name, type: 'CNAME', seconds: 300, isOther: false },
      value: 'g999999.l.one.turns.test',
    });
    isBad = one => one === name;
    await steered(new Told(), undefined, async () => {
      const said = async () => (await row<{ error: string }>(db(), sql`select error from cname where id = ${id}`))!.error;
      assert.ok(await poll(async () => stands(`${key}.one`) && isCompared(id), 20_000, 20), await said());
      const told = async () => (await client().read('/client/setting/dns/unprocessed')).errors[0]?.refused;
      const shown = 'a b\ufffd.one.turns.test';
      assert.ok(await poll(async () => (await told())?.length === 1, 10_000, 20), await said());
      assert.deepEqual(await told(), [{ name: shown, why: `no ${shown}` }]);
    });
  },
);
