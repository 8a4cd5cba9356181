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
    notify.error(error instanceof ApiError && error.code ? sentenceOf(error) : t('error.generic'));
  }
}

/** Who has to wait is told how long, who mistyped the old password what was wrong; else the server's message stands. */
function sentenceOf(error: ApiError): string {
  const { retryAfter } = (error.extra ?? {}) as { retryAfter?: number };
  if (error.status === 429 && retryAfter) return t('login.retryAfter', { seconds: retryAfter });
  const fields = Array.isArray(error.errorData) ? (error.errorData as { rule?: string }[]) : [];
  return fields.some(field => field.rule === 'wrongPassword') ? t('password.wrong') : error.message;
}
