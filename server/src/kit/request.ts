import type { Line } from './turns.ts';

/** What a handler may know of the request beyond its declared input. */
export interface Incoming {
  ip: string;
  /** the hostname it was sent to, without a port, as far as the proxies we trust know */
  host: string;
  /** it came over https, as far as we and the proxies we trust know */
  isSecure: boolean;
  /** the connection it came over */
  line: Line;
  cookie: string | undefined;
  /** sets a header of the answer */
  answer(name: string, value: string): void;
  userAgent: string;
  /** raw Authorization header, for calls that read it themselves */
  authorization: string | undefined;
}
