/** Kinds of tasks that tests alone have: they show what no copy of a module comes upon. */
import { beforeEach } from 'node:test';
import { int, obj } from '#contract/kit/schema.ts';
import { taskOf } from '#contract/kit/task.ts';
import type { Actor } from '#server/kit/actor.ts';
import { Context } from '#server/kit/context.ts';
import { itemsOf, startTask, taskWork } from '#server/kit/task.ts';
import type { Person } from './harness.ts';
import { api, db } from './tasks-rig.ts';

export const sample = taskOf({
  name: 'sample',
  resource: 'modules',
  of: 'account',
  input: obj({ steps: int() }),
  about: [],
  says: { did: ['n'] },
});
/** What a step does is told from outside. */
export const doing: { act: (n: number, ctx: Context) => Promise<void> | void } = { act: () => {} };
export const stepsOfSite = taskOf({ ...sample, name: 'stepsOfSite', of: 'site' });
const stepsOf = (kind: typeof sample | typeof stepsOfSite) =>
  taskWork<typeof sample, number>({
    kind: kind as typeof sample,
    async step({ ctx, input, cursor = 0, say }) {
      await doing.act(cursor, ctx);
      say('did', { n: cursor });
      return { cursor: cursor + 1, done: cursor + 1, total: input.steps, isEnd: cursor + 1 >= input.steps };
    },
  });
export const ofSite = taskOf({ ...sample, name: 'ofSite', of: 'site' });
const ofSiteWork = itemsOf(ofSite, {
  items: () => [0],
  common: async () => undefined,
  act: async () => {},
  failed: async () => {},
});
export const picky = taskOf({ ...sample, name: 'picky', says: {} });
const pickyWork = itemsOf(picky, {
  items: ({ steps }) => Array.from({ length: steps }, (_, n) => n),
  common: async () => undefined,
  act: async ({ ctx }, item) => doing.act(item, ctx),
  failed: async () => {},
});

export const sampleWorks = [stepsOf(sample), stepsOf(stepsOfSite), pickyWork, ofSiteWork];
/** To be called at the top of a test file. */
export const quiet = () => beforeEach(() => void (doing.act = () => {}));

/** Starts a task of one of the kinds of this test, as a call of this person would. */
export async function begin(
  who: Person,
  kind: typeof sample | typeof picky | typeof ofSite | typeof stepsOfSite,
  steps: number,
  more: { siteID?: number } = {},
): Promise<number> {
  const actor = (await api.sessions.actor(who.token, '127.0.0.1')) as Actor;
  return db()
    .transaction()
    .execute(trx =>
      startTask(
        new Context({ actor, db: trx, language: 'en_US', reqID: 'test', ip: '', services: api.services }),
        kind,
        { steps },
        { about: {}, ...more },
      ),
    );
}
