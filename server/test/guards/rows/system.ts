/** What the house itself keeps: tasks. */
import { sql } from 'kysely';
import type { Rig, Rows, World } from '../world.ts';

const newTask = (rig: Rig, world: World, area: 'user' | 'client' | 'admin') =>
  rig.insert('task', {
    kind: 'copyModule',
    resource: 'modules',
    rootID: world.people[area].id,
    accountID: world.people[area].id,
    input: '{}',
    // the guard of strangers looks for the name
    about: JSON.stringify({ name: world.name, count: 1 }),
  });

export const systemRows: Rows = {
  make: { task: newTask },
  stage: {
    'PUT /{area}/task/{taskID}/cancel': async (rig, _world, _body, { taskID }) =>
      void (await sql`update task set state = 'waiting', "endedAt" = null where id = ${taskID}`.execute(rig.api.database.db)),
    'PUT /{area}/task/{taskID}/retry': async (rig, _world, _body, { taskID }) =>
      void (await sql`update task set state = 'failed', "endedAt" = now() where id = ${taskID}`.execute(rig.api.database.db)),
  },
  lists: {
    'GET /{area}/tasks': {
      kind: 'task',
      make: newTask,
      filters: {
        state: ['failed', { state: 'failed' }, {}],
        siteID: async ({ rig, world, found }) => {
          const siteID = await rig.fresh(world, 'site', 'client');
          await sql`update task set "siteID" = ${siteID} where id = ${found}`.execute(rig.api.database.db);
          return siteID;
        },
      },
    },
  },
};
