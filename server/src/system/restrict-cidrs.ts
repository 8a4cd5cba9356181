/** From which networks an operator's people may come. It is judged at each call (kit/session.ts), so it takes at once. */
import { failFields } from '#contract/errors.ts';
import { restrictGroupCIDRs } from '#contract/system/restrict-cidrs.ts';
import { implement } from '../kit/implement.ts';
import { isWithin, Networks } from '../kit/networks.ts';
import { readSetting, settingVersion, writeSetting } from './settings.ts';

export const restrictGroupCIDRsCalls = implement(restrictGroupCIDRs, {
  'GET /restrictGroupCIDRs': async ({ ctx, request }) => ({
    cidrs: [...(await readSetting(ctx.db, ctx.actor.rootID, 'restrictGroupCIDRs'))],
    address: request.ip,
    version: await settingVersion(ctx.db, ctx.actor.rootID, 'restrictGroupCIDRs'),
  }),
  'PUT /restrictGroupCIDRs': async ({ ctx, body, request }) => {
    const { rootID } = ctx.actor;
    const before = await readSetting(ctx.db, rootID, 'restrictGroupCIDRs');
    const version = await settingVersion(ctx.db, rootID, 'restrictGroupCIDRs');
    await ctx.expect('setting', { id: rootID, version, cidrs: before }, body);
    if (body.cidrs.length && !new Networks(body.cidrs).has(request.ip))
      throw failFields([{ path: 'cidrs', rule: 'ownAddressOut', bounds: { address: request.ip } }]);
    // An operator's root may be anywhere when it next signs in. Whether a list lets its last address in would tell whoever asks where it is,
    // and help no root that moves: so others who hold the key let more in, and the root alone says who is out.
    if (!ctx.actor.isRoot && !isWithin(before, body.cidrs)) throw failFields([{ path: 'cidrs', rule: 'rootNarrows' }]);
    if (!(await writeSetting(ctx.db, rootID, 'restrictGroupCIDRs', body.cidrs))) return {};
    ctx.note({
      table: 'setting',
      id: rootID,
      before: { restrictGroupCIDRs: before },
      after: { restrictGroupCIDRs: body.cidrs },
    });
    await ctx.services.sessions.changed(ctx.db);
    return {};
  },
});
