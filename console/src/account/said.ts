/** Login, verify, password and switch failures show the server's message (§8); there is no form error map here. */
import { notify } from '../kit/notice.ts';
import { t } from '../kit/text.ts';
import { ApiError } from '../kit/transport.ts';

/** Runs a task; its failure becomes a message. Answers whether it went well. */
export async function said(task: () => Promise<unknown>): Promise<void> {
  try {
    await task();
  } catch (error) {
    console.error(error);
    notify.error(error instanceof ApiError && error.code ? error.message : t('error.generic'));
  }
}
