/** The console's address of an operator. */
import { sql } from 'kysely';
import { fail, failFields } from '#contract/errors.ts';
import { outgoingURL } from '#contract/system/outgoing-url.ts';
import { implement } from '../kit/implement.ts';
import { isOwner } from '../kit/owner.ts';
import { row } from '../store/db.ts';
import { isOfInstallation } from './logos.ts';
import { readSetting, settingVersion, writeSetting } from './settings.ts';

export const outgoingURLCalls = implement(outgoingURL, {
  'GET /outgoingURL': async ({ ctx }) => ({
    outgoingURL: await readSetting(ctx.db, ctx.actor.rootID, 'outgoingURL'),
    installation: ctx.services.publicURL,
    version: await settingVersion(ctx.db, ctx.actor.rootID, 'outgoingURL'),
  }),
  'PUT /outgoingURL': async ({ ctx, body }) => {
    const { rootID } = ctx.actor;
    const before = await readSetting(ctx.db, rootID, 'outgoingURL');
    const version = await settingVersion(ctx.db, rootID, 'outgoingURL');
    await ctx.expect('setting', { id: rootID, version, outgoingURL: before }, body);
    const after = body.outgoingURL === '' ? '' : new URL(body.outgoingURL).origin;
    if (after === before) return {};
    if (after !== '') {
      const { hostname } = new URL(after);
      if (isOfInstallation(ctx.services, hostname) && !(await isOwner(ctx)))
        throw failFields([{ path: 'outgoingURL', rule: 'hostOfInstallation' }]);
      // whose branding a hostname shows must be one answer
      const taken = await row(
        ctx.db,
        sql`select 1 from setting where key = 'outgoingURL' and "clientID" <> ${rootID}
            and substring(value #>> '{}' from '^https?://([^/:]+|\\[[^]]+\\])') = ${hostname} limit 1`,
      );
      if (taken) throw fail('duplicated');
    }
    await writeSetting(ctx.db, rootID, 'outgoingURL', after);
    ctx.note({ table: 'setting', id: rootID, before: { outgoingURL: before }, after: { outgoingURL: after } });
    return {};
  },
});
