import { TimeChart } from '../../src/kit/chart.tsx';
import { TopList } from '../../src/kit/top-list.tsx';
import { ApiError } from '../../src/kit/transport.ts';
import { t } from '../../src/kit/text.ts';
import { bytes, count } from '../../src/kit/units.ts';
import type { Example } from '../pieces.ts';
import { long, say, unbroken } from '../words.ts';

const start = Date.UTC(2026, 10, 20) / 1000;
const times = Float64Array.from({ length: 288 }, (_, index) => start + index * 300);
const wave = (phase: number) =>
  Float64Array.from({ length: 288 }, (_, index) => (index < 20 ? Number.NaN : 5e8 + 3e8 * Math.sin(index / 20 + phase)));
const series = [
  { label: 'Hit', values: wave(0), color: '#2a8a8a' },
  { label: 'Miss', values: wave(2), color: '#c77f1a' },
];
const error = new ApiError({ code: 101001, message: '', status: 500 });
const title = t('chart.time');
const items = (length: number, name = (index: number) => `/path/${index}`) =>
  Array.from({ length }, (_, index) => ({ key: String(index), name: name(index), value: 1000 - index * 70, note: '12%' }));

export default [
  { state: 'normal', show: () => <TimeChart title={title} times={times} series={series} format={bytes} isRunning /> },
  {
    state: 'normal',
    note: { zh_TW: '與前一期比較', zh_CN: '与上一期比较', en_US: 'Beside the period before' },
    show: () => (
      <TimeChart
        title={title}
        times={times}
        series={series.map((one, index) => (index ? one : { ...one, before: wave(0.6) }))}
        format={bytes}
        isRunning
        requests={() => ({ to: '/', search: {} })}
      />
    ),
  },
  { state: 'empty', show: () => <TimeChart title={title} times={new Float64Array()} series={[]} format={bytes} /> },
  { state: 'loading', show: () => <TimeChart title={title} series={series} format={bytes} /> },
  { state: 'failed', show: () => <TimeChart title={title} series={[]} format={bytes} error={error} onRetry={() => {}} /> },
  {
    state: 'long',
    show: () => (
      <TimeChart
        title={say(long)}
        summary={say(long)}
        times={times}
        series={[{ ...series[0]!, label: unbroken }]}
        format={bytes}
      />
    ),
  },
  { state: 'normal', show: () => <TopList title={title} items={items(6)} format={count} /> },
  { state: 'empty', show: () => <TopList title={title} items={[]} format={count} /> },
  { state: 'loading', show: () => <TopList title={title} format={count} rows={4} /> },
  { state: 'failed', show: () => <TopList title={title} format={count} error={error} onRetry={() => {}} /> },
  { state: 'long', show: () => <TopList title={title} items={items(2, () => unbroken)} format={count} /> },
  { state: 'many', show: () => <TopList title={title} items={items(13)} format={count} /> },
] satisfies Example[];
