/** The owner's say in what is kept for how long; work/retention.ts does it. */
import { retention } from '#contract/system/retention.ts';
import { implement } from '../kit/implement.ts';
import { readSetting, settingVersion, writeSetting } from './settings.ts';

export const retentionCalls = implement(retention, {
  'GET /retention': async ({ ctx }) => {
    const lastRun = await readSetting(ctx.db, null, 'retentionRun');
    const version = await settingVersion(ctx.db, null, 'retention');
    return { ...(await readSetting(ctx.db, null, 'retention')), lastRun, version };
  },
  'PUT /retention': async ({ ctx, body }) => {
    const before = await readSetting(ctx.db, null, 'retention');
    await ctx.expect('setting', { ...before, id: 0, version: await settingVersion(ctx.db, null, 'retention') }, body);
    if (await writeSetting(ctx.db, null, 'retention', body))
      ctx.note({ table: 'setting', id: 0, before: { retention: before }, after: { retention: body } });
    return {};
  },
});
