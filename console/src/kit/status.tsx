/** A state as people see it, wherever it stands: pages without a table have it too. */
import { tOf } from './text.ts';

/** What a state means, whatever it is a state of. */
const tones: Record<string, 'good' | 'warn' | 'bad' | 'idle'> = {
  normal: 'good',
  active: 'good',
  success: 'good',
  completed: 'good',
  succeeded: 'good',
  running: 'warn',
  enabled: 'good',
  limit: 'warn',
  warning: 'warn',
  processing: 'warn',
  reconnect: 'warn',
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
export function Status({ value, texts = 'state' }: { value: string; texts?: string }) {
  return (
    <span className="status">
      <span className={`status-dot ${tones[value] ?? 'idle'}`} aria-hidden />
      {tOf(texts, value)}
    </span>
  );
}
