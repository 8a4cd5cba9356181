/** Lines over time: tooltip, legend with current values, drag to zoom, one cursor over all charts of a page, and the same as a table. */
import './chart.css';
import { DownloadOutlined, LineChartOutlined, TableOutlined } from '@ant-design/icons';
import { Link } from '@tanstack/react-router';
import { Button } from 'antd';
import { type ReactNode, useMemo, useRef, useState } from 'react';
import { folded, lastFull, othersColor, peakOf, plainLegendMost, shownMost, toggled } from './chart-data.ts';
import type { Series, Sight } from './chart-plot.tsx';
import type { ChartProps } from './chart-props.ts';
import { ChartTable, csvOfChart, said } from './chart-table.tsx';
import { download } from './csv.ts';
import { ErrorState } from './empty.tsx';
import { inPlace } from './later.tsx';
import { asSearch } from './search.ts';
import { t } from './text.ts';
import { dateMinute } from './time.ts';

export type { ChartProps, Series, Sight };

const heightDefault = 210;
const none: ReadonlySet<string> = new Set();
const Plot = inPlace(async () => (await import('./chart-plot.tsx')).default);
// On its way while the figures are.
void Plot.warm();
// with its words, which no chart of a few lines needs
const ManyLegend = inPlace(async () => (await import('./many-legend.tsx')).ManyLegend);

export function TimeChart(given: ChartProps) {
  const { title, summary, times, format, max, sync, height = heightDefault, error, onRetry, isRunning = false } = given;
  const isMany = given.series.length > plainLegendMost;
  const series = useMemo(
    () => (isMany ? folded(given.series, count => ({ label: t('chart.others', { count }), color: othersColor })) : given.series),
    [given.series, isMany],
  );
  const props = { ...given, series };
  const [isTable, setTable] = useState(false);
  const [sight, setSight] = useState<Sight>();
  const [hidden, setHidden] = useState(none);
  const reset = useRef<(() => void) | null>(null);
  const isThere = !error && times !== undefined && times.length > 0;
  // of many the largest are shown, those at the time the first figures came: what is shown does not change by itself
  if (isMany && isThere && hidden === none) setHidden(new Set(series.slice(shownMost).map(one => one.label)));
  const shown = series.filter(one => !hidden.has(one.label));
  const requests = isThere ? props.requests?.(isTable ? undefined : sight, shown) : undefined;
  const waiting = <div className="chart-wait" style={{ height }} aria-busy />;
  const look = (next: Sight | undefined) => {
    setSight(next);
    given.onSight?.(next);
  };

  let body: ReactNode;
  if (error) body = <ErrorState error={error} onRetry={onRetry} />;
  else if (!times) body = waiting;
  else if (!isThere) body = <p className="ink-3">{t('chart.nothing')}</p>;
  else if (isTable) body = <ChartTable {...props} series={shown} />;
  else
    body = (
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
        onZoom={look}
        onReady={next => {
          reset.current = next;
        }}
        meanwhile={waiting}
      />
    );

  return (
    <section className="panel chart" aria-label={title}>
      <header className="chart-head">
        <h2>{title}</h2>
        {sight && !isTable && (
          <Button size="small" onClick={() => reset.current?.()}>
            {t('chart.zoomOut')}
          </Button>
        )}
        <span className="chart-summary numbers">{isThere ? summary : ''}</span>
        {requests && (
          <Link className="chart-requests" to={requests.to} search={asSearch(requests.search)}>
            {t('chart.requests')}
          </Link>
        )}
        {given.extra}
        {isTable && (
          <Button
            type="text"
            size="small"
            icon={<DownloadOutlined />}
            aria-label={t('action.csv')}
            title={t('action.csv')}
            onClick={() => download(title, csvOfChart(props))}
          />
        )}
        <Button
          type="text"
          size="small"
          icon={isTable ? <LineChartOutlined /> : <TableOutlined />}
          aria-label={t(isTable ? 'chart.asChart' : 'chart.asTable')}
          title={t(isTable ? 'chart.asChart' : 'chart.asTable')}
          disabled={!isThere}
          onClick={() => {
            setTable(!isTable);
            look(undefined);
          }}
        />
      </header>
      <div className="chart-body" style={{ height }}>
        {body}
      </div>
      <footer className="chart-legend numbers">
        {isMany ? (
          <ManyLegend series={series} hidden={hidden} onHidden={setHidden} value={currentOf} />
        ) : (
          series.map(one => {
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
                {one.label} <strong>{currentOf(one)}</strong>
                {one.before && (
                  <span className="chart-before">
                    <i style={{ color: one.color }} aria-hidden />
                    {t('chart.before')} <strong>{isThere ? said(format, lastFull(one.before, isRunning)) : '–'}</strong>
                  </span>
                )}
              </button>
            );
          })
        )}
      </footer>
    </section>
  );

  function currentOf(one: Series) {
    return isThere ? said(format, lastFull(one.values, isRunning)) : '–';
  }
}

/** The chart in a sentence; of many lines the largest, for nobody listens to twenty. */
function spoken({ title, summary, times, series, format, isRunning = false }: ChartProps) {
  const range = times?.length ? `${dateMinute(times[0]! * 1000)} – ${dateMinute(times.at(-1)! * 1000)}` : '';
  const lines = series
    .slice(0, plainLegendMost)
    .map(
      one =>
        `${one.label} ${said(format, lastFull(one.values, isRunning))} (${t('chart.peak', { value: said(format, peakOf(one.values)) })})`,
    );
  const rest = series.length - lines.length;
  return [title, range, summary, ...lines, rest > 0 && t('chart.more', { count: rest })].filter(Boolean).join(', ');
}
