/** The drawing of a TimeChart: uPlot, loaded only where a chart is. */
import 'uplot/dist/uPlot.min.css';
import { useEffect, useMemo, useRef } from 'react';
import uPlot from 'uplot';
import { axisWords, inTwo, niceMax, plainLegendMost, withGaps } from './chart-data.ts';
import { useTheme } from './theme.ts';
import { t } from './text.ts';
import { dateMinute } from './time.ts';

export interface Series {
  label: string;
  /** NaN is a gap. */
  values: Float64Array;
  color: string;
  /** Of the same steps a period earlier, beside which it is shown: dotted, and in the tooltip. */
  before?: Float64Array;
}
export type Sight = readonly [from: number, to: number];
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
  /** What is in sight, epoch seconds; undefined: all of it. */
  onZoom: (sight: Sight | undefined) => void;
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
  const shape = series.map(one => `${one.label} ${one.color} ${one.before !== undefined}`).join('|');

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
    if (drawn) drawn.setData(data, !sightOf(drawn));
  }, [data]);

  useEffect(() => {
    const { series: lines } = look.current;
    ownersOf(lines).forEach((one, index) => {
      const show = !hidden.has(one.label);
      if (plot.current && plot.current.series[index + 1]?.show !== show) plot.current.setSeries(index + 1, { show });
    });
  }, [hidden]);

  return <div ref={box} className="chart-plot" role="img" aria-label={summary} style={{ height }} />;
}

/** Whose each drawn line is: as far as it is over, its way to the step that still runs, what it was a period before. */
const ownersOf = (series: readonly Series[]) => [...series, ...series, ...series.filter(one => one.before)];
/** The lines in the order of their owners. */
function dataOf({ times, isRunning, series }: Pick<PlotProps, 'times' | 'isRunning' | 'series'>) {
  const lines = series.map(({ values }) =>
    isRunning ? inTwo(values) : { over: values, running: new Float64Array(values.length).fill(Number.NaN) },
  );
  const before = series.flatMap(one => one.before ?? []);
  return [
    times,
    ...[...lines.map(line => line.over), ...lines.map(line => line.running), ...before].map(withGaps),
  ] as uPlot.AlignedData; // times, then one list a line
}

/** First and last time; the plot's own idea of everything. */
function rangeOf(plot: uPlot) {
  const times = plot.data[0];
  return { min: times[0] ?? 0, max: times[times.length - 1] ?? 0 };
}
function sightOf(plot: uPlot): Sight | undefined {
  const { min, max } = plot.scales['x']!;
  const all = rangeOf(plot);
  const isAll = min === undefined || max === undefined || (min! <= all.min && max! >= all.max);
  return isAll ? undefined : [min!, max!];
}

type Look = { current: PlotProps };
const fillAlpha = '1f';
const runningDash = [4, 4];
const beforeDash = [2, 3];
const beforeAlpha = 0.9;
/** Rows of a tooltip: with more it would not fit beside the cursor. */
const tipRows = 10;
const digitPx = 6.4;

function optionsOf(host: HTMLElement, look: Look): uPlot.Options {
  const { height, sync, series, hidden, max, format } = look.current;
  const owners = ownersOf(series);
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
      points: { size: 7, width: 1.5, fill: (_plot, index) => owners[index - 1]?.color ?? '' },
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
      ...owners.map((one, index) => ({
        label: one.label,
        show: !hidden.has(one.label),
        stroke: one.color,
        width: 1.5,
        // One filled series says which is the main one.
        fill: index === 0 && series.length <= plainLegendMost ? `${one.color}${fillAlpha}` : undefined,
        dash: index < series.length ? undefined : index < 2 * series.length ? runningDash : beforeDash,
        alpha: index < 2 * series.length ? 1 : beforeAlpha,
        points: { show: false, size: 4, width: 0, fill: one.color, filter: lonely },
      })),
    ],
    hooks: { setScale: [(plot, key) => key === 'x' && look.current.onZoom(sightOf(plot))] },
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
        const { series, hidden, format } = look.current;
        const shown = series.filter(one => !hidden.has(one.label));
        const value = (one: Series) => one.values[index] ?? Number.NaN;
        // of many the highest, for those are what the eye is at
        const told =
          shown.length > tipRows ? shown.toSorted((x, y) => (value(y) || 0) - (value(x) || 0)).slice(0, tipRows) : shown;
        tip.replaceChildren(
          element('div', 'chart-tip-time', timeAt(look.current, index)),
          ...told.flatMap(one => [
            tipRow(one.label, one.color, value(one), format),
            ...(one.before ? [tipRow(t('chart.before'), undefined, one.before[index] ?? Number.NaN, format)] : []),
          ]),
          ...(shown.length > told.length
            ? [element('div', 'chart-tip-time', t('chart.more', { count: shown.length - told.length }))]
            : []),
        );
        tip.style.display = 'block';
        const isRight = left > plot.over.clientWidth / 2;
        tip.style.left = isRight ? '' : `${left + tipGapPx}px`;
        tip.style.right = isRight ? `${plot.over.clientWidth - left + tipGapPx}px` : '';
      },
    },
  };
}

function tipRow(label: string, color: string | undefined, value: number, format: (value: number) => string) {
  const row = element('div', 'chart-tip-row');
  const mark = element('i');
  if (color) mark.style.background = color;
  row.append(mark, element('span', '', label), element('strong', '', Number.isNaN(value) ? '–' : format(value)));
  return row;
}

function element(name: string, className = '', text = '') {
  const made = document.createElement(name);
  made.className = className;
  made.textContent = text;
  return made;
}
