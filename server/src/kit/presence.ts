/**
 * Calls that decide where secrets go (`present` in their declaration): through which server codes and links are mailed, to which host links
 * lead, where backups are put. A session that was left open, a token or a sub-account with the key would else have the root's own password
 * link sent to itself. So the root account says it, in nobody's name, with its password and a code where its sign-in takes one.
 */
import { fail } from '#contract/errors.ts';
import type { Mounted } from '#contract/kit/call.ts';
import type { AnyHandler, Presence } from './implement.ts';

interface Steps {
  handler: AnyHandler;
  prepare: AnyHandler | undefined;
}

/**
 * The same call, asking who is there before it has its turn: a password takes long to judge, and a wrong code counts whatever becomes of it.
 * What it prepares itself comes in between, so that a form that is broken uses up no code. Neither of them sees what was asked.
 */
export function presently(call: Mounted, presence: Presence | undefined, { handler, prepare }: Steps): Steps {
  if (!call.def.present) return { handler, prepare };
  if (!presence) throw new Error(`nobody asks who is there: ${call.key}`);
  return {
    handler(input) {
      const { ownPassword: _, code: __, ...body } = input.body;
      return handler({ ...input, body });
    },
    async prepare({ body: { ownPassword, code, ...body }, ...input }) {
      const { ctx, request } = input;
      if (!ctx.actor.isRoot || ctx.actor.proxyName) throw fail('permissionDenied');
      await presence.password(ctx, request, ownPassword);
      const prepared: unknown = await prepare?.({ ...input, body });
      await presence.code(ctx, code);
      return prepared;
    },
  };
}
