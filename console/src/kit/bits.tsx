/** Small things that stand in tables and headers. */
import { Tag } from 'antd';
import type { ReactNode } from 'react';
import { tOf } from './text.ts';

/** What a state means, whatever it is a state of. */
const tones: Record<string, 'good' | 'warn' | 'bad' | 'idle'> = {
  normal: 'good',
  active: 'good',
  success: 'good',
  completed: 'good',
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

export function Tags({ values }: { values: readonly string[] }) {
  return (
    <span className="tags">
      {values.map(value => (
        <Tag key={value} variant="filled">
          {value}
        </Tag>
      ))}
    </span>
  );
}

/** Pairs of a name and a value, as in a drawer of details. */
export function Facts({ facts }: { facts: readonly (readonly [label: string, value: ReactNode])[] }) {
  return (
    <dl className="facts">
      {facts.map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
