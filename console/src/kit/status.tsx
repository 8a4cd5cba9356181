/** A state as people see it, wherever it stands: pages without a table have it too. */
import type { ReactNode } from 'react';
import { tOf } from './text.ts';

/** What a state means, whatever it is a state of. */
const tones: Record<string, 'good' | 'warn' | 'bad' | 'idle'> = {
  normal: 'good',
  valid: 'good',
  illegal: 'bad',
  missing: 'bad',
  active: 'good',
  success: 'good',
  completed: 'good',
  done: 'good',
  succeeded: 'good',
  running: 'warn',
  enabled: 'good',
  limit: 'warn',
  warning: 'warn',
  wrong: 'warn',
  processing: 'warn',
  reconnect: 'warn',
  updating: 'warn',
  updateComplete: 'good',
  updateFailed: 'bad',
  expired: 'warn',
  error: 'bad',
  fail: 'bad',
  failed: 'bad',
  natsError: 'bad',
  offline: 'bad',
  lock: 'bad',
  limited: 'bad',
};

/** A dot and a word: colour never says it alone. */
export function Toned({ tone, children }: { tone: 'good' | 'warn' | 'bad' | 'idle'; children: ReactNode }) {
  return (
    <span className="status">
      <span className={`status-dot ${tone}`} aria-hidden />
      {children}
    </span>
  );
}

/** The status of an answer of HTTP, by its class. */
export function AnswerStatus({ status }: { status: number }) {
  return <Toned tone={status < 400 ? 'good' : status < 500 ? 'warn' : 'bad'}>{status}</Toned>;
}

export function Status({ value, texts = 'state' }: { value: string; texts?: string }) {
  return <Toned tone={tones[value] ?? 'idle'}>{tOf(texts, value)}</Toned>;
}
