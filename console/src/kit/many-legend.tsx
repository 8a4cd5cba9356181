/** The legend of a chart with many lines: searched in, and each line shown or hidden. */
import './many-legend.css';
import { Button, Input } from 'antd';
import { useState } from 'react';
import type { Series } from './chart-plot.tsx';
import { toggled } from './chart-data.ts';
import { t } from './text.ts';

interface Props {
  /** the largest first */
  series: readonly Series[];
  hidden: ReadonlySet<string>;
  onHidden: (hidden: ReadonlySet<string>) => void;
  value: (one: Series) => string;
}

export function ManyLegend({ series, hidden, onHidden, value }: Props) {
  const [word, setWord] = useState('');
  const wanted = word.trim().toLowerCase();
  const found = series.filter(one => one.label.toLowerCase().includes(wanted));
  const labels = found.map(one => one.label);
  // what the search does not show stays as it is
  const others = [...hidden].filter(label => !labels.includes(label));
  return (
    <div className="many-legend">
      <div className="many-legend-tools">
        <Input
          allowClear
          size="small"
          placeholder={t('chart.find')}
          aria-label={t('chart.find')}
          value={word}
          onChange={event => setWord(event.target.value)}
        />
        <Button size="small" onClick={() => onHidden(new Set(others))}>
          {t('chart.showAll')}
        </Button>
        <Button size="small" onClick={() => onHidden(new Set([...others, ...labels]))}>
          {t('chart.hideAll')}
        </Button>
        <span className="ink-3" role="status">
          {t('chart.shown', { shown: series.filter(one => !hidden.has(one.label)).length, count: series.length })}
        </span>
      </div>
      {found.length ? (
        <ul aria-label={t('chart.lines')}>
          {found.map(one => {
            const isHidden = hidden.has(one.label);
            return (
              <li key={one.label}>
                <button
                  type="button"
                  aria-pressed={!isHidden}
                  onClick={() => onHidden(toggled(hidden, one.label))}
                  title={t(isHidden ? 'chart.show' : 'chart.hide', { name: one.label })}
                >
                  <i style={{ background: one.color }} aria-hidden />
                  <span>{one.label}</span> <strong>{value(one)}</strong>
                </button>
              </li>
            );
          })}
        </ul>
      ) : (
        <p className="ink-3">{t('chart.notFound')}</p>
      )}
    </div>
  );
}
