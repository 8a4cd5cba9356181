/** A ranking: words, a bar, a figure. */
import './chart.css';
import type { ReactNode } from 'react';
import { ErrorState } from './empty.tsx';
import { t } from './text.ts';

export interface TopItem {
  key: string;
  name: ReactNode;
  value: number;
  /** Beside the figure: its share, its bytes. */
  note?: string;
}
export interface TopListProps {
  title: string;
  summary?: string;
  /** Left out while they are on their way. */
  items?: readonly TopItem[];
  format: (value: number) => string;
  /** Rows of the list when it is full, for the height while waiting. */
  rows?: number;
  error?: unknown;
  onRetry?: () => void;
}

const rowPx = 29;

export function TopList({ title, summary, items, format, rows = 10, error, onRetry }: TopListProps) {
  const max = Math.max(1, ...(items ?? []).map(item => item.value));
  return (
    <section className="panel top" aria-label={title}>
      <header className="chart-head">
        <h2>{title}</h2>
        <span className="chart-summary">{summary}</span>
      </header>
      {error ? (
        <ErrorState error={error} onRetry={onRetry} />
      ) : !items ? (
        <div className="chart-wait" style={{ height: rows * rowPx }} aria-busy />
      ) : items.length === 0 ? (
        <p className="top-nothing">{t('chart.nothing')}</p>
      ) : (
        <ol className="top-list numbers">
          {items.map(item => (
            <li key={item.key}>
              <span className="top-name" title={item.key}>
                {item.name}
              </span>
              <span className="top-bar" aria-hidden>
                <i style={{ width: `${(item.value / max) * 100}%` }} />
              </span>
              <span className="top-value">{format(item.value)}</span>
              {item.note !== undefined && <span className="top-note">{item.note}</span>}
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}
