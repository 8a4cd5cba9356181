/** What was found in our streams that we did not write: only somebody with the server's own credentials, or a hole in our rights, can have. */
import { eventOf } from '../kit/metrics.ts';

export interface ForeignWrites {
  /** since this process started */
  count: number;
  /** the newest */
  stream?: string;
  subject?: string;
  /** milliseconds since 1970 */
  at?: number;
}

const foreignWrite = eventOf('bus', 'foreignWrite');
let found: ForeignWrites = { count: 0 };

export function noteForeign(stream: string, subject: string): void {
  found = { count: found.count + 1, stream, subject: subject.slice(0, 200), at: Date.now() };
  foreignWrite();
}

export const foreignWrites = (): ForeignWrites => ({ ...found });
