/** Login, verify, password and switch failures show the server's message (§8); there is no form error map here. */
import { notify } from '../kit/notice.ts';
import { t } from '../kit/text.ts';
import { ApiError } from '../kit/transport.ts';
import { FieldErrors } from './parts.tsx';

/** Runs a task; its failure becomes a message. False: it failed. @throws FieldErrors for what is wrong with one field alone */
export async function said(task: () => Promise<unknown>): Promise<boolean> {
  try {
    await task();
    return true;
  } catch (error) {
    console.error(error);
    const fields = error instanceof ApiError && Array.isArray(error.errorData) ? (error.errorData as { rule?: string }[]) : [];
    if (fields.some(field => field.rule === 'wrongPassword')) throw new FieldErrors({ oldPassword: t('password.wrong') });
    notify.error(error instanceof ApiError && error.code ? sentenceOf(error) : t('error.generic'));
    return false;
  }
}

/** Who has to wait is told how long; else the server's message stands. */
function sentenceOf(error: ApiError): string {
  const { retryAfter } = (error.extra ?? {}) as { retryAfter?: number };
  return error.status === 429 && retryAfter ? t('login.retryAfter', { seconds: retryAfter }) : error.message;
}
