/** A failure a person can mend: the message is one sentence that says what is wrong and what to do; no stack trace is shown. */
export class StartError extends Error {
  override name = 'StartError';
}
