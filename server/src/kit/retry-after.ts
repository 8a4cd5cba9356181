/** When somebody else's server wants to be asked again (Retry-After, RFC 9110, 10.2.3). */

type Header = string | string[] | undefined;
/** The three spellings of a date (RFC 9110, 5.6.7); the last of them names no zone. */
const days = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/;
function dateOf(said: Header): number | undefined {
  if (typeof said !== 'string' || !days.test(said)) return undefined;
  const at = Date.parse(said.endsWith('GMT') ? said : `${said} GMT`);
  return Number.isNaN(at) ? undefined : at;
}

/** Seconds from now, `mostSeconds` at most. A date is by the clock of whoever says it, which it has to tell. Undefined: it says nothing that can be read. */
export function retryAfterOf(headers: Readonly<Record<string, Header>>, mostSeconds: number): number | undefined {
  const said = headers['retry-after'];
  if (typeof said !== 'string') return undefined;
  if (/^\d{1,15}$/.test(said)) return Math.min(mostSeconds, Number(said));
  const [now, then] = [dateOf(headers['date']), dateOf(said)];
  if (now === undefined || then === undefined) return undefined;
  const seconds = Math.ceil((then - now) / 1000);
  return Math.min(mostSeconds, Math.max(0, seconds));
}
