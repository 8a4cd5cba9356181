/**
 * When something was, as a mail says it: `2026-11-29 18:13 Asia/Taipei`, in the time zone of whom it is to (decisions.md, Accounts), which
 * is named, for whoever reads it may be elsewhere. One that PostgreSQL knows and we do not is no reason to send no mail: then it is UTC.
 */
export function mailTime({ timezone }: { timezone: string }, at: Date = new Date()): string {
  const timeZone = isKnown(timezone) ? timezone : 'UTC';
  // Swedish writes dates as ISO 8601 does
  const text = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'short', timeZone }).format(at);
  return `${text} ${timeZone}`;
}

function isKnown(timeZone: string): boolean {
  try {
    return !!new Intl.DateTimeFormat('sv-SE', { timeZone });
  } catch {
    return false;
  }
}
