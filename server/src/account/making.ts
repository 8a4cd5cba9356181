/** What holds up whoever makes accounts: how many there may be, whose e-mails they ask after, and whom they have written to. */
import { sql } from 'kysely';
import { fail, Fail, failFields } from '#contract/errors.ts';
import { accountLimits as limits } from '#contract/limits.ts';
import type { Area } from '#contract/kit/call.ts';
import type { Context } from '../kit/context.ts';
import type { Claim } from '../kit/tries.ts';
import { onUndone } from '../kit/untangled.ts';
import { row } from '../store/db.ts';

/** @throws 429 at `path` while one of the claims has to wait */
function take({ services }: Context, path: string, claims: readonly Claim[]): void {
  const wait = services.sessions.tries.take(claims);
  if (wait)
    throw new Fail('parameter', {
      status: 429,
      errorData: [{ path, rule: 'tooManyTries', bounds: { seconds: wait.seconds } }],
      extra: { retryAfter: wait.seconds },
    });
}

/**
 * Takes claims for something that its transaction does: one that is undone has counted nothing.
 * @returns gives them back, where nothing came of it all the same
 * @throws 429 at `path` while one of the claims has to wait
 */
export function takeOrWait(ctx: Context, path: string, claims: readonly Claim[]): () => void {
  take(ctx, path, claims);
  let isHeld = true;
  const giveBack = () => {
    if (isHeld) ctx.services.sessions.tries.undo(claims);
    isHeld = false;
  };
  onUndone(ctx.db, giveBack);
  return giveBack;
}

/** Links that one root account may have mailed before the next waits, whoever of its people asks; half of them are forgotten after a while. */
export const linksOf = ({ actor }: Context): Claim => ({
  kind: 'account',
  key: `links of ${actor.rootID}`,
  free: limits.linksFreeOfRoot,
  halvesMs: limits.linksHalveMinutes * 60_000,
});
/** And to one mailbox, which an account that is made again and again would have written to. */
export const linksTo = ({ actor }: Context, email: string): Claim => ({
  key: `link ${actor.rootID} ${email.toLowerCase()}`,
  free: limits.linksFreeOfMailbox,
});

/**
 * An e-mail that no account of the area has; `then` may find it out by the index. That one is taken is told to whoever makes accounts,
 * else they could not choose another: so many times, then they wait, or they would ask whole lists after who is here. Nothing else that
 * `then` fails by counts.
 */
export async function askingEmail<T>(ctx: Context, then: () => Promise<T>): Promise<T> {
  const asked: Claim[] = [{ kind: 'account', key: `asks ${ctx.actor.rootID}`, free: limits.takenFreeOfRoot }];
  take(ctx, 'email', asked);
  let isTaken = false;
  try {
    return await then();
  } catch (error) {
    isTaken = error instanceof Fail && error.name === 'duplicateEmail';
    throw error;
  } finally {
    if (!isTaken) ctx.services.sessions.tries.undo(asked);
  }
}
export async function unused({ db }: Context, auth: Area, email: string): Promise<void> {
  const found = await row(
    db,
    sql`select 1 from account where auth = ${auth} and lower(email) = lower(${email}) and "deletedAt" is null`,
  );
  if (found) throw fail('duplicateEmail');
}

/** Of sub-accounts in one tree; whoever makes one holds its root. */
export async function roomForOne({ db }: Context, rootID: number): Promise<void> {
  const { n } = (await row<{ n: number }>(
    db,
    sql`select count(*) as n from account where "rootID" = ${rootID} and not "isRoot" and "deletedAt" is null`,
  ))!;
  if (n >= limits.subsOfRootMax)
    throw failFields([{ path: 'email', rule: 'tooManyAccounts', bounds: { n: limits.subsOfRootMax } }]);
}
