/** Whether each sign-in takes a second factor. */
import { Fail, fail } from '#contract/errors.ts';
import { accountVerify } from '#contract/system/account-verify.ts';
import { implement } from '../kit/implement.ts';
import { mailServerOf } from '../kit/mail/send.ts';
import { readSetting, settingVersion, writeSetting } from './settings.ts';

const key = 'accountVerify';

export const accountVerifyCalls = implement(accountVerify, {
  'GET /accountVerify': async ({ ctx }) => ({
    enabled: await readSetting(ctx.db, ctx.actor.rootID, key),
    version: await settingVersion(ctx.db, ctx.actor.rootID, key),
  }),
  'PUT /accountVerify': async ({ ctx, body }) => {
    const { rootID } = ctx.actor;
    const before = await readSetting(ctx.db, rootID, key);
    await ctx.expect('setting', { id: rootID, version: await settingVersion(ctx.db, rootID, key), enabled: before }, body);
    // whoever takes the code off would be asked for less before mails, or backups, go elsewhere (kit/presence.ts)
    const { isRoot, proxyName, token } = ctx.actor;
    if (before && !body.enabled && (!isRoot || proxyName || token)) throw fail('permissionDenied');
    if (body.enabled && !before) {
      const server = await mailServerOf(ctx.db, ctx.services.sealing, rootID);
      if (!server?.testedAt)
        throw new Fail('illegalEmailSettings', { errorData: [{ path: 'enabled', rule: 'mailServerMissing' }] });
    }
    if (!(await writeSetting(ctx.db, rootID, key, body.enabled))) return {};
    ctx.note({ table: 'setting', id: rootID, before: { accountVerify: before }, after: { accountVerify: body.enabled } });
    return {};
  },
});
