/**
 * When something was, as a mail says it: `2026-11-29 18:13 Asia/Taipei`, in the time zone of whom it is to (decisions.md, Accounts), which
 * is named, for whoever reads it may be elsewhere.
 */
export function mailTime({ timezone }: { timezone: string }, at: Date = new Date()): string {
  // Swedish writes dates as ISO 8601 does
  const text = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'short', timeZone: timezone }).format(at);
  return `${text} ${timezone}`;
}
