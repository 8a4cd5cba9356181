/** Commands of the control plane: done when signed, meant for us, in time, and newer than the one before; anything else does nothing. */
import type { Msg } from '@nats-io/transport-node';
import { SignedCommand } from '#contract/edge/signed.ts';
import { own } from '#contract/edge/subjects.ts';
import type { Identity } from './identity.ts';
import { Verifier } from './verify.ts';

export type Verbs = Record<string, (body: string) => Promise<void> | void>;
export interface CommandAnswer {
  count: number;
  ok: boolean;
  why?: string;
}

/** @returns what to answer; undefined: it was no command for us now */
export async function obey(msg: Msg, identity: Identity, verbs: Verbs): Promise<CommandAnswer | undefined> {
  const grant = identity.grant;
  const read = SignedCommand.safeParse(safeJson(msg));
  if (!grant || !read.success) return undefined;
  const { signature, ...command } = read.data;
  const isOurs = command.node === grant.nodeID && msg.subject === own.command(command.verb);
  if (!isOurs || command.expires < Date.now() || command.count <= identity.lastCommand) return undefined;
  if (!new Verifier(grant.documentKey).command(command, signature)) return undefined;
  // Remembered before it is done: a command that ends us must not end us again.
  try {
    await identity.remember(command.count);
  } catch (error) {
    // it is not used up: the same command may be sent again
    return { count: command.count, ok: false, why: `it cannot be remembered: ${(error as Error).message}`.slice(0, 300) };
  }
  const act = verbs[command.verb];
  if (!act) return { count: command.count, ok: false, why: 'unknown command' };
  try {
    await act(command.body);
    return { count: command.count, ok: true };
  } catch (error) {
    return { count: command.count, ok: false, why: (error as Error).message.slice(0, 300) };
  }
}

function safeJson(msg: Msg): unknown {
  try {
    return msg.json();
  } catch {
    return undefined;
  }
}
