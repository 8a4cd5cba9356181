/** What a handler may know of the request beyond its declared input. */
export interface Incoming {
  ip: string;
  userAgent: string;
  /** raw Authorization header, for calls that read it themselves */
  authorization: string | undefined;
}
