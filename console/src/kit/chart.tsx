/** Lines over time: tooltip, legend with current values, drag to zoom, one cursor over all charts of a page, and the same as a table. */
import './chart.css';
import { LineChartOutlined, TableOutlined } from '@ant-design/icons';
import { Button } from 'antd';
import { lazy, type ReactNode, Suspense, useRef, useState } from 'react';
import { lastFull, peakOf, tableRows } from './chart-data.ts';
import type { Series } from './chart-plot.tsx';
import { ErrorState } from './empty.tsx';
import { t } from './text.ts';
import { dateMinute } from './time.ts';

export type { Series };
export interface ChartProps {
  title: string;
  /** Peak, total and the like, at the right of the heading. */
  summary?: string;
  /** epoch seconds; left out while they are on their way */
  times?: Float64Array;
  /** The last step is not over: it is drawn dashed, and said to be of "so far". */
  isRunning?: boolean;
  series: readonly Series[];
  format: (value: number) => string;
  /** Top of the axis, where it is known: 1 of a share. */
  max?: number;
  /** Charts with the same key share the cursor and the zoom. */
  sync?: string;
  height?: number;
  error?: unknown;
  onRetry?: () => void;
}

const heightDefault = 210;
const loadPlot = () => import('./chart-plot.tsx');
const Plot = lazy(loadPlot);
// On its way while the figures are.
loadPlot().catch(() => {});

export function TimeChart(props: ChartProps) {
  const { title, summary, series, times, format, max, sync, height = heightDefault, error, onRetry, isRunning = false } = props;
  const [isTable, setTable] = useState(false);
  const [isZoomed, setZoomed] = useState(false);
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const reset = useRef<(() => void) | null>(null);
  const isThere = !error && times !== undefined && times.length > 0;
  const waiting = <div className="chart-wait" style={{ height }} aria-busy />;

  let body: ReactNode;
  if (error) body = <ErrorState error={error} onRetry={onRetry} />;
  else if (!times) body = waiting;
  else if (!isThere) body = <p className="ink-3">{t('chart.nothing')}</p>;
  else if (isTable) body = <ChartTable {...props} />;
  else
    body = (
      <Suspense fallback={waiting}>
        <Plot
          summary={spoken(props)}
          times={times}
          isRunning={isRunning}
          series={series}
          hidden={hidden}
          format={format}
          max={max}
          sync={sync}
          height={height}
          onZoom={setZoomed}
          onReady={next => {
            reset.current = next;
          }}
        />
      </Suspense>
    );

  return (
    <section className="panel chart" aria-label={title}>
      <header className="chart-head">
        <h2>{title}</h2>
        {isZoomed && !isTable && (
          <Button size="small" onClick={() => reset.current?.()}>
            {t('chart.zoomOut')}
          </Button>
        )}
        <span className="chart-summary numbers">{isThere ? summary : ''}</span>
        <Button
          type="text"
          size="small"
          icon={isTable ? <LineChartOutlined /> : <TableOutlined />}
          aria-label={t(isTable ? 'chart.asChart' : 'chart.asTable')}
          title={t(isTable ? 'chart.asChart' : 'chart.asTable')}
          disabled={!isThere}
          onClick={() => {
            setTable(!isTable);
            setZoomed(false);
          }}
        />
      </header>
      <div className="chart-body" style={{ height }}>
        {body}
      </div>
      <footer className="chart-legend numbers">
        {series.map(one => {
          const isHidden = hidden.has(one.label);
          return (
            <button
              key={one.label}
              type="button"
              aria-pressed={!isHidden}
              onClick={() => setHidden(toggled(hidden, one.label))}
              title={t(isHidden ? 'chart.show' : 'chart.hide', { name: one.label })}
            >
              <i style={{ background: one.color }} aria-hidden />
              {one.label} <strong>{isThere ? said(format, lastFull(one.values, isRunning)) : '–'}</strong>
            </button>
          );
        })}
      </footer>
    </section>
  );
}

const said = (format: (value: number) => string, value: number) => (Number.isNaN(value) ? '–' : format(value));

function toggled(set: ReadonlySet<string>, name: string) {
  const next = new Set(set);
  if (!next.delete(name)) next.add(name);
  return next;
}

/** The chart in a sentence. */
function spoken({ title, summary, times, series, format, isRunning = false }: ChartProps) {
  const range = times?.length ? `${dateMinute(times[0]! * 1000)} – ${dateMinute(times.at(-1)! * 1000)}` : '';
  const lines = series.map(
    one =>
      `${one.label} ${said(format, lastFull(one.values, isRunning))} (${t('chart.peak', { value: said(format, peakOf(one.values)) })})`,
  );
  return [title, range, summary, ...lines].filter(Boolean).join(', ');
}

function ChartTable({ title, times, series, format, isRunning }: ChartProps) {
  return (
    <div className="chart-table" tabIndex={0} role="group" aria-label={title}>
      <table>
        <thead>
          <tr>
            <th scope="col">{t('chart.time')}</th>
            {series.map(one => (
              <th key={one.label} scope="col">
                {one.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="numbers">
          {tableRows(times?.length ?? 0).map(index => (
            <tr key={index}>
              <td>
                {dateMinute(times![index]! * 1000)}
                {isRunning && index === times!.length - 1 && ` (${t('chart.running')})`}
              </td>
              {series.map(one => (
                <td key={one.label}>{said(format, one.values[index]!)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
