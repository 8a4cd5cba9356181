/** How much an operator's nodes write down. Its zones' documents say it to them. */
import { nodeLog } from '#contract/system/node-log.ts';
import { implement } from '../kit/implement.ts';
import { touchZones } from './origins.ts';
import { readSetting, settingVersion, writeSetting } from './settings.ts';

const key = 'nodeLog';

export const nodeLogCalls = implement(nodeLog, {
  'GET /log': async ({ ctx }) => ({
    ...(await readSetting(ctx.db, ctx.actor.rootID, key)),
    version: await settingVersion(ctx.db, ctx.actor.rootID, key),
  }),
  'PUT /log': async ({ ctx, body: { level, sampling, ...rest } }) => {
    const { rootID } = ctx.actor;
    const before = await readSetting(ctx.db, rootID, key);
    await ctx.expect(
      'setting',
      { id: rootID, version: await settingVersion(ctx.db, rootID, key), ...before },
      { level, sampling, ...rest },
    );
    if (!(await writeSetting(ctx.db, rootID, key, { level, sampling }))) return {};
    ctx.note({ table: 'setting', id: rootID, before: { nodeLog: before }, after: { nodeLog: { level, sampling } } });
    await touchZones(ctx);
    return {};
  },
});
