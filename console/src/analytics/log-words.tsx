/** Parts of a line in words, for the list and the drawer. */
import { t, tOf } from '../kit/text.ts';
import { causeOf, type LogLine } from './log-line.ts';
import { statusClassOf } from './series.ts';

/** `WAF, rule #31`. */
export function blockWords(line: LogLine): string {
  const cause = causeOf(line);
  if (cause === undefined) return '';
  return [tOf('reason', cause), line.ruleID ? t('log.rule', { id: line.ruleID }) : ''].filter(Boolean).join(' ');
}

export function StatusWords({ status, words }: { status: number; words?: string }) {
  return (
    <span>
      <span className={`log-code log-code-${statusClassOf(status)}`}>{status}</span>
      {words && <span className="ink-3"> {words}</span>}
    </span>
  );
}
