/** What a month's use is shown by, to whoever bills it and to whoever is billed. */
import type { RowOf } from '../kit/client.ts';
import type { Column } from '../kit/resource.ts';
import { Days, Used } from './used.tsx';

const rowPx = 26;

export const usedColumns: Column<RowOf<'GET /user/traffic/monthlyUsages'>>[] = [
  { name: 'bytes', sort: true, width: 220, render: row => <Used usage={row} /> },
  { name: 'days', label: 'byDay', width: 165, render: row => <Days usage={row} height={rowPx} /> },
  { name: 'state', kind: 'status', texts: 'trafficState', sort: true, width: 132 },
];
