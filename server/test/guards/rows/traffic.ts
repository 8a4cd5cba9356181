/** What customers may use beside their products, and what they used. */
import { sql } from 'kysely';
import { next } from '../generate.ts';
import type { Finds, ListRows, Pair } from '../list-rows.ts';
import type { Rig, Rows, World } from '../world.ts';

const hours = (n: number) => new Date(Date.now() + n * 3_600_000).toISOString();

const newPlan = async (rig: Rig, world: World) =>
  rig.insert('extraTrafficPlan', {
    clientID: world.people.client.id,
    userID: world.people.user.id,
    productID: await rig.at(world, 'product'),
    bytes: 1_000_000,
    startTime: hours(-1),
    endTime: hours(1),
  });
let year = 3000;
/** Each of a year of its own: a customer has one line of a month. */
const newMonth = async (rig: Rig, world: World) =>
  rig.insert('trafficMonth', {
    clientID: world.people.client.id,
    userID: world.people.user.id,
    productID: await rig.at(world, 'product'),
    year: year++,
    month: 1,
    startTime: hours(-1),
    endTime: hours(1),
    action: 'none',
    sellType: 'plan',
    trafficPrice: 0,
  });
const apart = async ({ rig, world, found }: Pair, table: string, name: string) => {
  const productID = await rig.insert('product', {
    clientID: world.people.client.id,
    groupID: await rig.at(world, 'group'),
    name,
  });
  await sql`update ${sql.table(table)} set "productID" = ${productID} where id = ${found}`.execute(rig.api.database.db);
  return productID;
};
const customer = async ({ rig, world, found }: Pair, table: string) => {
  const { id } = await rig.api.account('user', `${world.name}-bought-${next()}@test.test`, {
    parentClient: world.people.client.id,
  });
  await sql`update ${sql.table(table)} set "userID" = ${id} where id = ${found}`.execute(rig.api.database.db);
  return id;
};
const productID =
  (table: string): Finds =>
  pair =>
    apart(pair, table, `p-${next()}`);
const userID =
  (table: string): Finds =>
  pair =>
    customer(pair, table);
const productName: Finds = async pair => {
  const name = `Product%_${next()}`;
  await apart(pair, 'extraTrafficPlan', name);
  return name.slice(2).toUpperCase();
};
const sortOf = (table: string): NonNullable<ListRows['sort']> => ({
  productID: async pair => {
    const first = await apart({ ...pair, found: pair.other }, table, `p-${next()}`);
    return [first, await apart(pair, table, `p-${next()}`)];
  },
  userID: async pair => {
    const first = await customer({ ...pair, found: pair.other }, table);
    return [first, await customer(pair, table)];
  },
});
const years: NonNullable<ListRows['sort']>[string] = async () => [year++, year++];
const ofMonth: Record<string, Finds> = {
  year: () => {
    const asked = year++;
    return [asked, { year: asked }, { year: year++ }];
  },
  month: [7, { month: 7 }, { month: 8 }],
  states: [['warning'], { state: 'warning' }, { state: 'limited' }],
};

export const trafficRows: Rows = {
  make: { extraTrafficPlan: newPlan, trafficMonth: newMonth },
  kindOfCall: {
    'PUT /client/extraTrafficPlan': 'extraTrafficPlan',
    'DELETE /client/extraTrafficPlans': 'extraTrafficPlan',
  },
  lists: {
    'GET /client/extraTrafficPlans': {
      kind: 'extraTrafficPlan',
      make: newPlan,
      sort: sortOf('extraTrafficPlan'),
      filters: { userID: userID('extraTrafficPlan'), productID: productID('extraTrafficPlan'), productName },
    },
    'GET /user/extraTrafficPlans': {
      kind: 'extraTrafficPlan',
      make: newPlan,
      sort: { productID: sortOf('extraTrafficPlan')['productID']! },
      filters: { productName },
    },
    'GET /client/traffic/monthlyUsages': {
      kind: 'trafficMonth',
      make: newMonth,
      sort: { ...sortOf('trafficMonth'), year: years },
      filters: { ...ofMonth, userID: userID('trafficMonth'), productID: productID('trafficMonth') },
    },
    'GET /user/traffic/monthlyUsages': {
      kind: 'trafficMonth',
      make: newMonth,
      sort: { productID: sortOf('trafficMonth')['productID']!, year: years },
      filters: ofMonth,
    },
  },
};
