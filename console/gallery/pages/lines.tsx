import { useEffect, useState } from 'react';
import { chartPalette } from '#contract/limits.ts';
import { TimeChart } from '../../src/kit/chart.tsx';
import { lineColors, seriesMost } from '../../src/kit/chart-data.ts';
import { LiveChart } from '../../src/kit/pieces.ts';
import { ApiError } from '../../src/kit/transport.ts';
import { t } from '../../src/kit/text.ts';
import { count } from '../../src/kit/units.ts';
import type { Example } from '../pieces.ts';
import { long, say, unbroken } from '../words.ts';

const steps = 120;
const stepSeconds = 60;
const start = Date.UTC(2026, 10, 20) / 1000;
/** A value of a step that is the same whenever it is drawn. */
const valueAt = (step: number, line: number) =>
  Math.max(0, 1000 / (line + 1) + (300 / (line + 1)) * Math.sin(step / (6 + line) + line) + ((step * 37 + line * 11) % 40));
const figures = (end: number, lines: number, name: (line: number) => string) => ({
  times: Float64Array.from({ length: steps }, (_, index) => start + (end - steps + index) * stepSeconds),
  series: Array.from({ length: lines }, (_, line) => ({
    label: name(line),
    color: (lines > seriesMost ? lineColors[line % lineColors.length] : chartPalette[line])!,
    values: Float64Array.from({ length: steps }, (_step, index) => valueAt(end - steps + index, line)),
  })),
});
const site = (line: number) => `site-${line + 1}.example.com`;
const error = new ApiError({ code: 101001, message: '', status: 500 });
const title = t('chart.time');
const tickMs = 2000;

/** A step every two seconds. */
function Ticking({ lines = 2, name = site }: { lines?: number; name?: (line: number) => string }) {
  const [now, setNow] = useState(() => figures(steps, lines, name));
  useEffect(() => {
    let end = steps;
    const timer = setInterval(() => setNow(figures(++end, lines, name)), tickMs);
    return () => clearInterval(timer);
  }, [lines, name]);
  return <LiveChart title={title} {...now} format={count} isRunning />;
}
const unbrokenName = () => unbroken;

export default [
  { state: 'normal', show: () => <Ticking /> },
  { state: 'empty', show: () => <LiveChart title={title} times={new Float64Array()} series={[]} format={count} /> },
  { state: 'loading', show: () => <LiveChart title={title} series={figures(steps, 2, site).series} format={count} /> },
  { state: 'failed', show: () => <LiveChart title={title} series={[]} format={count} error={error} onRetry={() => {}} /> },
  { state: 'long', show: () => <Ticking lines={1} name={unbrokenName} /> },
  {
    state: 'many',
    note: { zh_TW: '21 條線', zh_CN: '21 条线', en_US: '21 lines' },
    show: () => <TimeChart title={title} {...figures(steps, 21, site)} format={count} />,
  },
  {
    state: 'many',
    note: { zh_TW: '40 條線，其餘合併', zh_CN: '40 条线，其余合并', en_US: '40 lines, the rest folded' },
    show: () => <TimeChart title={say(long)} {...figures(steps, 40, line => (line ? site(line) : unbroken))} format={count} />,
  },
] satisfies Example[];
