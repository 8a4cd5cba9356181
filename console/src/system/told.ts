/** Of which kinds of notices anybody here is told: who holds the key that lets one see what they are about. */
import { type NoticeKind, noticeNeeds } from '#contract/limits.ts';

export function isTold(permissionKeys: readonly string[], kind: string): boolean {
  const key = kind in noticeNeeds ? noticeNeeds[kind as NoticeKind] : null; // one of them
  return key === null || permissionKeys.includes(key);
}
