/** What a chart and its table are given. */
import type { ReactNode } from 'react';
import type { Series, Sight } from './chart-plot.tsx';

export interface ChartProps {
  title: string;
  /** Peak, total and the like, at the right of the heading. */
  summary?: string;
  /** epoch seconds; left out while they are on their way */
  times?: Float64Array;
  /** The last step is not over: it is drawn dashed, and said to be of "so far". */
  isRunning?: boolean;
  /** More than 21 are folded into the largest 20 and their rest; from 9 on the legend is one to search in. */
  series: readonly Series[];
  format: (value: number) => string;
  /** Top of the axis, where it is known: 1 of a share. */
  max?: number;
  /** Charts with the same key share the cursor and the zoom. */
  sync?: string;
  height?: number;
  error?: unknown;
  onRetry?: () => void;
  /** The requests behind what is in sight, if there is a page that shows so many; no sight: behind all of it. */
  requests?: (sight: Sight | undefined, shown: readonly Series[]) => { to: string; search: object } | undefined;
  /** Stands before the buttons of the heading. */
  extra?: ReactNode;
  /** Told of what is looked at closely. */
  onSight?: (sight: Sight | undefined) => void;
}
