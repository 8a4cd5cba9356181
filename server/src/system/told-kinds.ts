/**
 * Who says where notices go beyond the console: a webhook, a chat. They tell of all that the root account sees, whoever set them, and go on
 * when that one has left: so the root itself, in nobody's name, says where they go and of what, as far as its own area has it. Others who hold the key turn them
 * off, or leave kinds out.
 */
import { failFields } from '#contract/errors.ts';
import { type NoticeKind, noticeNeeds } from '#contract/limits.ts';
import type { Actor } from '../kit/actor.ts';
import { mayBeTold } from './notices.ts';

/** Whether anybody of this area is ever told of it: a customer has neither nodes, a licence nor backups. The root holds all keys of its area. */
export const isToldTo = (actor: Pick<Actor, 'permissions'>, kind: string): boolean =>
  !(kind in noticeNeeds) || mayBeTold(actor, kind as NoticeKind); // one of them

interface Told {
  enable: boolean;
  /** the address, or the chat */
  to: string;
  kinds: readonly string[];
}
/**
 * @param isSecret whether another secret or token is sent along
 * @throws 101003 at `kinds`, or at `field`, which has the address
 */
export function checkTold(
  actor: Actor,
  field: 'url' | 'chatID',
  before: Told,
  after: Told,
  { isSecret, allKinds }: { isSecret: boolean; allKinds: readonly string[] },
): void {
  // none stands for all of them where a webhook says so
  const all = (kinds: readonly string[]) => (kinds.length ? kinds : allKinds);
  if (actor.isRoot && !actor.proxyName) {
    const strange = after.kinds.filter(kind => !before.kinds.includes(kind) && !isToldTo(actor, kind));
    if (strange.length) throw failFields(strange.map(value => ({ path: 'kinds', rule: 'unknown' as const, bounds: { value } })));
    return;
  }
  if (isSecret || after.to !== before.to || (after.enable && !before.enable))
    throw failFields([{ path: field, rule: 'rootSends' }]);
  if (all(after.kinds).some(kind => !all(before.kinds).includes(kind))) throw failFields([{ path: 'kinds', rule: 'rootSends' }]);
}
