/** A failure a person can mend: the message is one sentence that says what is wrong and what to do; no stack trace is shown. */
export class StartError extends Error {
  override name = 'StartError';
}

/** With this code a short program says: my last line on stderr is the sentence of a StartError. */
export const sentenceCode = 3;

/** A short program whose last line is the JSON of what it answers; a failure a person can mend ends it with one sentence. */
export async function program(work: () => Promise<unknown>): Promise<void> {
  try {
    console.log(JSON.stringify(await work()));
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    console.error(error.message);
    process.exitCode = sentenceCode;
  }
}
