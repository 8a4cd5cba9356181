/** What every guard file starts with: the product's calls on a server of its own, and two tenants whose rows must not meet. */
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { sql } from 'kysely';
import { groups } from '#contract/index.ts';
import { type Area, areas, type Mounted, mounted } from '#contract/kit/call.ts';
import { implementations, sharedParams } from '#server/calls.ts';
import { Keys } from '#server/kit/crypto.ts';
import { analytics, type Analytics } from '#server/store/analytics/client.ts';
import { migrateAnalytics } from '#server/store/analytics/migrate.ts';
import { clickhouse } from '#system/engines.ts';
import { Api } from '../harness.ts';
import { inRound, type Mount, nodeGate, Rig, type World } from './world.ts';

const mount: Mount = { groups, implementations, params: sharedParams };
/** How often the table is walked: `npm run bench -- guards` sees what a longer one would cost. */
const times = Number(process.env.GUARD_TIMES ?? 1);
export const walks: readonly (readonly Mounted[])[] = Array.from({ length: times }, (_, round) =>
  [...mounted(groups)].map(call => (times > 1 ? inRound(call, round) : call)),
);
/** All of them. A guard that reads with one call what it wrote with another takes each walk by itself: the next has rows of its own. */
export const calls = walks.flat();
/** Without those for the installation's owner alone: the worlds of some guards are later operators (server/test/retention.test.ts). */
export const everybodys = calls.filter(call => !call.def.owner);

/** One part of `parts` of the calls, areas mixed: a file takes a part, so that twice the calls need twice the files and no more time. */
export const shard = (of: readonly Mounted[], part: number, parts: number) => of.filter((_, index) => index % parts === part - 1);

export const clean = (problems: string[]) =>
  assert.deepEqual(problems, [], `${problems.length} problems\n${problems.slice(0, 60).join('\n')}`);

export interface Stage {
  api: Api;
  rig: Rig;
  mine: World;
  theirs: World;
}

/** Filled before the first test of the file, ended after its last. `more`: what a file needs besides, made when all this is there. */
export function stage(more?: () => Promise<void>): Stage {
  const made = {} as Stage;
  let store: Analytics;
  before(async () => {
    store = analytics(await clickhouse());
    await migrateAnalytics(store);
    const gate = await nodeGate(() => made.api);
    made.api = await Api.start({ analytics: store, nodes: gate });
    made.rig = new Rig(made.api, mount, gate);
    made.mine = await made.rig.world('alpha');
    made.theirs = await made.rig.world('bravo');
    // what the other tenant has must not show anywhere
    for (const kind of ['domain', 'node', 'upstream']) await made.rig.at(made.theirs, kind);
    await more?.();
  });
  after(async () => {
    await made.api?.stop();
    store?.close();
  });
  return made;
}

export const tokensOf = (world: World) =>
  Object.fromEntries(areas.map(area => [area, world.people[area].token])) as Record<Area, string>;
/** A sub-account in each area, whose keys are set as the guard wants them. */
export async function subAccounts(of: Rig, world: World) {
  const tokens = {} as Record<Area, string>;
  const accounts = {} as Record<Area, number>;
  for (const area of areas) {
    const parentClient = area === 'user' ? world.people.client.id : undefined;
    const person = await of.api.account(area, `sub-${area}-${Math.random()}@test.test`, {
      rootID: world.people[area].id,
      parentClient,
      keys: [],
    });
    tokens[area] = person.token;
    accounts[area] = person.id;
  }
  const hold = async (area: Area, held: string[]) => {
    await sql`update role set "permissionKeys" = ${held} from account a where a.id = ${accounts[area]} and role.id = a."roleID"`.execute(
      of.api.database.db,
    );
    await of.api.changed();
  };
  return { tokens, accounts, hold };
}
export function expiredToken(of: Api, token: string): string {
  const body = `${token.split('.')[0]}.${Date.now() - 1000}`;
  return `${body}.${new Keys(of.key).signer('access-token').sign(body)}`;
}
