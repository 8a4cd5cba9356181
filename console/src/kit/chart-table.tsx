/** A chart as a table: what a reader sees who does not see it, and what is downloaded. */
import { Link } from '@tanstack/react-router';
import type { ChartProps } from './chart-props.ts';
import { tableRows } from './chart-data.ts';
import { csvOf } from './csv.ts';
import { asSearch } from './search.ts';
import { t } from './text.ts';
import { dateMinute } from './time.ts';

export const said = (format: (value: number) => string, value: number | undefined) =>
  value === undefined || Number.isNaN(value) ? '–' : format(value);

/** Each line, and behind it what it was a period before. */
const columnsOf = (series: ChartProps['series']) =>
  series.flatMap(({ label, values, before }) => [
    { label, values },
    ...(before ? [{ label: t('chart.beforeOf', { name: label }), values: before }] : []),
  ]);

/** Every step, oldest first, in bare numbers. */
export function csvOfChart({ times, series }: ChartProps): string {
  const columns = columnsOf(series);
  return csvOf([
    [t('chart.time'), ...columns.map(one => one.label)],
    ...Array.from(times ?? [], (time, index) => [dateMinute(time * 1000), ...columns.map(one => one.values[index])]),
  ]);
}

export function ChartTable({ title, times, series, format, isRunning, requests }: ChartProps) {
  const columns = columnsOf(series);
  return (
    <div className="chart-table" tabIndex={0} role="group" aria-label={title}>
      <table>
        <thead>
          <tr>
            <th scope="col">{t('chart.time')}</th>
            {columns.map(one => (
              <th key={one.label} scope="col">
                {one.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="numbers">
          {tableRows(times?.length ?? 0).map(index => {
            const time = times![index]!;
            const behind = requests?.([time, time], series);
            const word = `${dateMinute(time * 1000)}${isRunning && index === times!.length - 1 ? ` (${t('chart.running')})` : ''}`;
            return (
              <tr key={index}>
                <td>
                  {behind ? (
                    <Link to={behind.to} search={asSearch(behind.search)} title={t('chart.requests')}>
                      {word}
                    </Link>
                  ) : (
                    word
                  )}
                </td>
                {columns.map(one => (
                  <td key={one.label}>{said(format, one.values[index])}</td>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
