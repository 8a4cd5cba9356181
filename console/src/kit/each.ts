/** A call for each of several rows, where no call takes them together: what went well stays, the rest is told as 101009 tells it. */
import { ruleText } from '#contract/rules/rule.ts';
import { codeOf } from './error-code.ts';
import { fieldsOf } from './errors.ts';
import { language } from './text.ts';
import { ApiError, isSessionCode } from './transport.ts';

/** So many at once: each call has its pause after it. */
const together = 5;

export async function eachRow<Row>(rows: readonly Row[], nameOf: (row: Row) => string, act: (row: Row) => Promise<unknown>) {
  const failed: { code: number; message: string; targets: string[] }[] = [];
  const one = async (row: Row) => {
    try {
      await act(row);
    } catch (error) {
      // without an answer, or without a session, the next one would fare no better
      if (!(error instanceof ApiError) || error.code === 0 || isSessionCode(error.code)) throw error;
      const [field] = fieldsOf(error.errorData);
      // of a field its reason says more than "wrong"
      const message = field ? ruleText(field, language) : error.message;
      failed.push({ code: error.code, message, targets: [nameOf(row)] });
    }
  };
  for (let start = 0; start < rows.length; start += together) await Promise.all(rows.slice(start, start + together).map(one));
  if (failed.length) throw new ApiError({ code: codeOf('multiple'), message: '', errorData: failed });
}
