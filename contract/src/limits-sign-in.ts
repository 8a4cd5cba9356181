/** Of mails, codes, links and second factors (decisions.md, Sessions; issue 11). */

/** How a mail server is spoken to. */
export const mailSecurities = ['starttls', 'tls', 'none'] as const;
export const mailLimits = {
  portDefault: 587,
  /** of the whole conversation with a server */
  timeoutSeconds: 30,
  /** how long one is tried that nobody said otherwise of */
  keptHours: 24,
  /** mails under way at a time: of all, and of one operator */
  atOnce: 8,
  atOnceOfOne: 2,
  /** that may wait of one operator */
  waitingMax: 10_000,
} as const;
