/** Lines over time on uPlot: tooltip, legend with current values, drag to zoom, one cursor over all charts of a page, and the same as a table. */
import 'uplot/dist/uPlot.min.css';
import { Button } from 'antd';
import { useEffect, useMemo, useRef, useState } from 'react';
import uPlot from 'uplot';
import { TableOutlined, LineChartOutlined } from '@ant-design/icons';
import { t } from './text.ts';
import { useTheme } from './theme.ts';
import { axisTime, dateTime } from './time.ts';

export interface Series {
  label: string;
  /** NaN is a gap. */
  values: Float64Array;
  color: string;
  /** Only one series of a chart is filled. */
  isFilled?: boolean;
}
export interface ChartProps {
  title: string;
  /** Peak, total and the like, at the right of the heading. */
  summary?: string;
  /** epoch seconds */
  times: Float64Array;
  series: Series[];
  format: (value: number) => string;
  /** Charts with the same key share the cursor and the zoom. */
  sync?: string;
  height?: number;
}

const tableRowsMax = 500;

export function TimeChart(props: ChartProps) {
  const [isTable, setTable] = useState(false);
  const { title, summary, series, times, format } = props;
  const isEmpty = times.length === 0;
  return (
    <section className="panel chart" aria-label={title}>
      <header className="chart-head">
        <h2>{title}</h2>
        <span className="ink-3 numbers">{summary}</span>
        <Button
          type="text"
          size="small"
          icon={isTable ? <LineChartOutlined /> : <TableOutlined />}
          aria-label={t(isTable ? 'chart.asChart' : 'chart.asTable')}
          title={t(isTable ? 'chart.asChart' : 'chart.asTable')}
          onClick={() => setTable(!isTable)}
        />
      </header>
      {isEmpty ? (
        <p className="chart-nothing">{t('chart.nothing')}</p>
      ) : isTable ? (
        <ChartTable {...props} />
      ) : (
        <Plot {...props} />
      )}
      <footer className="chart-legend numbers">
        {series.map(one => (
          <span key={one.label}>
            <i style={{ background: one.color }} aria-hidden />
            {one.label} <strong>{isEmpty ? '–' : format(lastOf(one.values))}</strong>
          </span>
        ))}
      </footer>
    </section>
  );
}

const lastOf = (values: Float64Array) => values.findLast(value => !Number.isNaN(value)) ?? 0;

function Plot({ title, times, series, format, sync, height = 210 }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(null);
  const theme = useTheme();
  const look = useRef({ series, format });
  look.current = { series, format };
  const data = useMemo(() => [times, ...series.map(one => withGaps(one.values))] as uPlot.AlignedData, [times, series]);
  const shape = series.map(one => `${one.label} ${one.color} ${one.isFilled}`).join('|');

  useEffect(() => {
    const host = box.current!;
    const made = new uPlot(optionsOf(host, look, { height, sync }), data, host);
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: host.clientWidth, height }));
    observer.observe(host);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = null;
    };
    // A new look is a new plot; new data is not.
  }, [shape, theme, height, sync]);

  useEffect(() => {
    if (plot.current && plot.current.data !== data) plot.current.setData(data);
  }, [data]);

  return <div ref={box} className="chart-plot" role="img" aria-label={title} style={{ height }} />;
}

/** uPlot wants null where nothing is; without gaps the typed array goes as it is. */
function withGaps(values: Float64Array) {
  return values.some(Number.isNaN) ? Array.from(values, value => (Number.isNaN(value) ? null : value)) : values;
}

type Look = { current: { series: Series[]; format: (value: number) => string } };

function optionsOf(host: HTMLElement, look: Look, { height, sync }: { height: number; sync?: string }): uPlot.Options {
  const css = getComputedStyle(document.documentElement);
  const color = (name: string) => css.getPropertyValue(name).trim();
  const font = `11px ${color('--font')}`;
  const line = { stroke: color('--line'), width: 1 };
  return {
    width: host.clientWidth,
    height,
    padding: [10, 12, 0, 0],
    legend: { show: false },
    cursor: {
      drag: { x: true, y: false, setScale: true },
      points: { size: 6 },
      ...(sync ? { sync: { key: sync, scales: ['x', null] } } : {}),
    },
    scales: { y: { range: (_plot, _min, max) => [0, niceMax(max)] } },
    axes: [
      {
        size: 28,
        font,
        stroke: color('--ink-3'),
        grid: line,
        ticks: { show: false },
        values: (_plot, splits) => splits.map(split => axisTime(split, (splits[1] ?? 0) - (splits[0] ?? 0))),
      },
      {
        size: 76,
        font,
        stroke: color('--ink-3'),
        grid: line,
        ticks: { show: false },
        values: (_plot, splits) => splits.map(split => (split === 0 ? '0' : look.current.format(split))),
      },
    ],
    series: [
      {},
      ...look.current.series.map(one => ({
        label: one.label,
        stroke: one.color,
        width: 1.5,
        fill: one.isFilled ? `${one.color}1f` : undefined,
        points: { show: false },
      })),
    ],
    plugins: [tooltip(look)],
  };
}

/** The top of the axis: a round number above the highest value. */
function niceMax(max: number | null): number {
  if (!max || max <= 0) return 1;
  const unit = 10 ** Math.floor(Math.log10(max));
  const step = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].find(one => one * unit >= max * 1.02) ?? 10;
  return step * unit;
}

function tooltip(look: Look): uPlot.Plugin {
  const tip = document.createElement('div');
  tip.className = 'chart-tip numbers';
  return {
    hooks: {
      init: plot => void plot.over.append(tip),
      setCursor: plot => {
        const index = plot.cursor.idx;
        const left = plot.cursor.left ?? -1;
        if (index === null || index === undefined || left < 0) return void (tip.style.display = 'none');
        tip.replaceChildren(
          element('div', 'chart-tip-time', dateTime(plot.data[0][index]! * 1000)),
          ...look.current.series.map((one, at) => {
            const value = plot.data[at + 1]?.[index];
            const row = element('div', 'chart-tip-row');
            const mark = element('i');
            mark.style.background = one.color;
            row.append(
              mark,
              element('span', '', one.label),
              element('strong', '', value === null || value === undefined ? '–' : look.current.format(value)),
            );
            return row;
          }),
        );
        tip.style.display = 'block';
        const isRight = left > plot.over.clientWidth / 2;
        tip.style.left = isRight ? '' : `${left + 14}px`;
        tip.style.right = isRight ? `${plot.over.clientWidth - left + 14}px` : '';
      },
    },
  };
}

function element(name: string, className = '', text = '') {
  const made = document.createElement(name);
  made.className = className;
  made.textContent = text;
  return made;
}

function ChartTable({ times, series, format, height = 210 }: ChartProps) {
  const rows = Array.from(times.keys()).slice(-tableRowsMax).reverse();
  return (
    <div className="chart-table" style={{ height }} tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th>{t('chart.time')}</th>
            {series.map(one => (
              <th key={one.label}>{one.label}</th>
            ))}
          </tr>
        </thead>
        <tbody className="numbers">
          {rows.map(index => (
            <tr key={index}>
              <td>{dateTime(times[index]! * 1000)}</td>
              {series.map(one => (
                <td key={one.label}>{Number.isNaN(one.values[index]) ? '–' : format(one.values[index]!)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
