/** What each customer used of each product, month by month: what is billed. */
import { trafficStates } from '#contract/states.ts';
import { options, resource } from '../kit/resource.ts';
import { ResourcePage } from '../kit/resource-page.tsx';
import { MonthDrawer } from './month.tsx';
import { monthInput, monthsBefore } from './months.ts';
import { customer } from './plan-columns.tsx';
import { usedColumns } from './used-columns.tsx';
import { monthOf } from './used.tsx';

const money = (amount: number) => amount.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 6 });

const report = resource<'GET /client/traffic/monthlyUsages'>({
  name: 'monthlyUsages',
  list: 'GET /client/traffic/monthlyUsages',
  note: 'monthlyUsages',
  rowName: row => `${row.userEmail} · ${row.productName} · ${monthOf(row)}`,
  input: monthInput,
  columns: [
    { name: 'userEmail', width: 170, link: 'view' },
    { name: 'year', width: 56 },
    { name: 'month', width: 48 },
    { name: 'productName', width: 120 },
    ...usedColumns,
    {
      name: 'amount',
      width: 90,
      render: row =>
        row.amount === null ? <span className="ink-3">–</span> : <span className="numbers">{money(row.amount)}</span>,
    },
    { name: 'sellType', label: 'soldAs', kind: 'option', texts: 'soldAs', width: 110, isOptional: true },
    { name: 'trafficPrice', label: 'pricePerGB', kind: 'number', width: 110, isOptional: true },
    { name: 'action', label: 'trafficThen', kind: 'option', texts: 'trafficThen', width: 120, isOptional: true },
    { name: 'planBytes', kind: 'bytes', width: 110, isOptional: true },
    { name: 'isOpen', kind: 'option', texts: 'monthOpen', width: 96 },
    { name: 'countedAt', kind: 'time', isOptional: true },
  ],
  filters: [
    { name: 'period', kind: 'select', values: monthsBefore(new Date()), width: 130 },
    { ...customer, kind: 'select', width: 200 },
    { name: 'productID', kind: 'select', from: 'GET /client/metaProducts' },
    { name: 'states', kind: 'select', ...options(trafficStates, 'trafficState') },
  ],
  drawer: (row, { onClose }) => <MonthDrawer month={row} onClose={onClose} />,
  actions: [{ name: 'view', run: ([row], { edit }) => edit(row!.id) }],
});

export default function Report() {
  return <ResourcePage resource={report} />;
}
