/** The drawing of a TimeChart: uPlot, loaded only where a chart is. */
import 'uplot/dist/uPlot.min.css';
import { useEffect, useMemo, useRef } from 'react';
import uPlot from 'uplot';
import { axisWords, inTwo, niceMax, withGaps } from './chart-data.ts';
import { useTheme } from './theme.ts';
import { t } from './text.ts';
import { dateMinute } from './time.ts';

export interface Series {
  label: string;
  /** NaN is a gap. */
  values: Float64Array;
  color: string;
}
export interface PlotProps {
  /** What a reader who does not see it is told. */
  summary: string;
  /** epoch seconds */
  times: Float64Array;
  /** The last step is not over. */
  isRunning: boolean;
  series: readonly Series[];
  /** Labels of series switched off. */
  hidden: ReadonlySet<string>;
  format: (value: number) => string;
  /** Top of the axis; left out: a round number above the highest value. */
  max?: number;
  sync?: string;
  height: number;
  onZoom: (isZoomed: boolean) => void;
  /** Handed what takes the zoom back, of all charts of the same key; null when the plot is gone. */
  onReady: (reset: (() => void) | null) => void;
}

export default function Plot(props: PlotProps) {
  const { summary, times, isRunning, series, hidden, sync, height, max } = props;
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(null);
  const theme = useTheme();
  const look = useRef(props);
  const data = useMemo(() => dataOf({ times, isRunning, series }), [times, isRunning, series]);
  const shape = series.map(one => `${one.label} ${one.color}`).join('|');

  // What the plot reads later, at a movement of the cursor, is that of the last drawing.
  useEffect(() => void (look.current = props));

  useEffect(() => {
    const host = box.current!;
    const { onReady } = look.current;
    const made = new uPlot(optionsOf(host, look), dataOf(look.current), host);
    plot.current = made;
    onReady(() => {
      for (const one of sync ? uPlot.sync(sync).plots : [made]) one.setScale('x', rangeOf(one));
    });
    const observer = new ResizeObserver(() => made.setSize({ width: host.clientWidth, height }));
    observer.observe(host);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = null;
      onReady(null);
    };
    // A new look is a new plot; new data is not.
  }, [shape, theme, height, sync, max]);

  useEffect(() => {
    const drawn = plot.current;
    // Whoever looks closely keeps what they look at.
    if (drawn) drawn.setData(data, !isZoomed(drawn));
  }, [data]);

  useEffect(() => {
    const { series: lines } = look.current;
    lines.forEach((one, index) => {
      const show = !hidden.has(one.label);
      for (const at of [index + 1, index + 1 + lines.length])
        if (plot.current && plot.current.series[at]?.show !== show) plot.current.setSeries(at, { show });
    });
  }, [hidden]);

  return <div ref={box} className="chart-plot" role="img" aria-label={summary} style={{ height }} />;
}

/** Each line as far as it is over; then, in the same order, each line's way to the step that still runs. */
function dataOf({ times, isRunning, series }: Pick<PlotProps, 'times' | 'isRunning' | 'series'>) {
  const lines = series.map(({ values }) =>
    isRunning ? inTwo(values) : { over: values, running: new Float64Array(values.length).fill(Number.NaN) },
  );
  return [times, ...lines.map(line => withGaps(line.over)), ...lines.map(line => withGaps(line.running))] as uPlot.AlignedData;
}

/** First and last time; the plot's own idea of everything. */
function rangeOf(plot: uPlot) {
  const times = plot.data[0];
  return { min: times[0] ?? 0, max: times[times.length - 1] ?? 0 };
}
function isZoomed(plot: uPlot) {
  const { min, max } = plot.scales['x']!;
  const all = rangeOf(plot);
  return min !== undefined && max !== undefined && (min! > all.min || max! < all.max);
}

type Look = { current: PlotProps };
const fillAlpha = '1f';
const runningDash = [4, 4];
const digitPx = 6.4;

function optionsOf(host: HTMLElement, look: Look): uPlot.Options {
  const { height, sync, series, hidden, max, format } = look.current;
  const css = getComputedStyle(document.documentElement);
  const color = (name: string) => css.getPropertyValue(name).trim();
  const axis = {
    font: `11px ${color('--font')}`,
    stroke: color('--ink-3'),
    grid: { stroke: color('--line'), width: 1 },
    ticks: { show: false },
  };
  return {
    width: host.clientWidth,
    height,
    padding: [10, 14, 0, 0],
    legend: { show: false },
    cursor: {
      y: false,
      drag: { x: true, y: false, setScale: true },
      points: { size: 7, width: 1.5, fill: (_plot, index) => series[(index - 1) % series.length]?.color ?? '' },
      ...(sync ? { sync: { key: sync, scales: ['x', null] } } : {}),
    },
    scales: { y: { range: (_plot, _min, highest) => [0, max ?? niceMax(highest)] } },
    axes: [
      { ...axis, size: 28, space: 62, values: (_plot, splits) => axisWords(splits) },
      {
        ...axis,
        size: (_plot, words) => 18 + digitPx * Math.max(3, ...(words ?? []).map(word => word.length)),
        values: (_plot, splits) => splits.map(split => (split === 0 ? '0' : shortened(format(split)))),
      },
    ],
    series: [
      {},
      ...series.map((one, index) => ({
        label: one.label,
        show: !hidden.has(one.label),
        stroke: one.color,
        width: 1.5,
        // One filled series says which is the main one.
        fill: index === 0 ? `${one.color}${fillAlpha}` : undefined,
        points: { show: false, size: 4, width: 0, fill: one.color, filter: lonely },
      })),
      ...series.map(one => ({
        label: one.label,
        show: !hidden.has(one.label),
        stroke: one.color,
        width: 1.5,
        dash: runningDash,
        points: { show: false, size: 4, width: 0, fill: one.color, filter: lonely },
      })),
    ],
    hooks: { setScale: [(plot, key) => key === 'x' && look.current.onZoom(isZoomed(plot))] },
    plugins: [tooltip(look)],
  };
}

/** `80.0%` reads `80%` on an axis. */
const shortened = (text: string) => text.replace(/(\.\d*?)0+(?=\D|$)/, '$1').replace(/\.(?=\D|$)/, '');

/** A value between two gaps has no line to be seen by: it gets a point. */
function lonely(plot: uPlot, index: number): number[] | null {
  const values = plot.data[index]!;
  // Typed columns have no gaps.
  if (!Array.isArray(values)) return null;
  const isThere = (at: number) => values[at] !== null && values[at] !== undefined;
  return values.flatMap((_, at) => (isThere(at) && !isThere(at - 1) && !isThere(at + 1) ? [at] : []));
}

const tipGapPx = 14;

/** When a step began, and that it still runs. */
function timeAt({ times, isRunning }: PlotProps, index: number) {
  const time = dateMinute(times[index]! * 1000);
  return isRunning && index === times.length - 1 ? `${time} (${t('chart.running')})` : time;
}

/** Follows the cursor, on the side where there is room. */
function tooltip(look: Look): uPlot.Plugin {
  const tip = element('div', 'chart-tip numbers');
  return {
    hooks: {
      init: plot => plot.over.append(tip),
      setCursor: plot => {
        const index = plot.cursor.idx;
        const left = plot.cursor.left ?? -1;
        if (index === null || index === undefined || left < 0) return void (tip.style.display = 'none');
        tip.replaceChildren(
          element('div', 'chart-tip-time', timeAt(look.current, index)),
          ...look.current.series.flatMap(one => {
            if (look.current.hidden.has(one.label)) return [];
            const value = one.values[index];
            const row = element('div', 'chart-tip-row');
            const mark = element('i');
            mark.style.background = one.color;
            const word = value === undefined || Number.isNaN(value) ? '–' : look.current.format(value);
            row.append(mark, element('span', '', one.label), element('strong', '', word));
            return [row];
          }),
        );
        tip.style.display = 'block';
        const isRight = left > plot.over.clientWidth / 2;
        tip.style.left = isRight ? '' : `${left + tipGapPx}px`;
        tip.style.right = isRight ? `${plot.over.clientWidth - left + tipGapPx}px` : '';
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
