/** The console's address of an operator. */
import { outgoingURL } from '#contract/system/outgoing-url.ts';
import { implement } from '../kit/implement.ts';
import { claimHostname, hostProof, provenHostname } from './host-claims.ts';
import { readSetting, settingVersion, writeSetting } from './settings.ts';

export const outgoingURLCalls = implement(
  outgoingURL,
  {
    'GET /outgoingURL': async ({ ctx }) => ({
      outgoingURL: await readSetting(ctx.db, ctx.actor.rootID, 'outgoingURL'),
      installation: ctx.services.publicURL,
      version: await settingVersion(ctx.db, ctx.actor.rootID, 'outgoingURL'),
    }),
    'GET /outgoingURL/proof': async ({ ctx, query }) => hostProof(ctx, 'outgoingURL', new URL(query.outgoingURL).hostname),
    'PUT /outgoingURL': async ({ ctx, body, prepared }) => {
      const { rootID } = ctx.actor;
      const before = await readSetting(ctx.db, rootID, 'outgoingURL');
      const version = await settingVersion(ctx.db, rootID, 'outgoingURL');
      await ctx.expect('setting', { id: rootID, version, outgoingURL: before }, { outgoingURL: body.outgoingURL });
      const after = body.outgoingURL === '' ? '' : new URL(body.outgoingURL).origin;
      if (after === before) return {};
      if (after !== '') await claimHostname(ctx, 'outgoingURL', new URL(after).hostname, prepared === true);
      await writeSetting(ctx.db, rootID, 'outgoingURL', after);
      ctx.note({ table: 'setting', id: rootID, before: { outgoingURL: before }, after: { outgoingURL: after } });
      return {};
    },
  },
  {
    prepare: {
      'PUT /outgoingURL': async ({ ctx, body }) =>
        body.outgoingURL !== '' && provenHostname(ctx, 'outgoingURL', new URL(body.outgoingURL).hostname),
    },
  },
);
