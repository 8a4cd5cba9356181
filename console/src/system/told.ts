/** Of which kinds of notices anybody here is told: who holds the key that lets one see what they are about. */
import { type NoticeKind, noticeNeeds } from '#contract/limits.ts';

export const isTold = (permissionKeys: readonly string[], kind: string): boolean =>
  !(kind in noticeNeeds) || permissionKeys.includes(noticeNeeds[kind as NoticeKind] /* one of them */);
