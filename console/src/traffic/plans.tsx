/** Extra traffic plans, as the operator sells them. */
import { later as laterThan } from '../kit/time.ts';
import { resource } from '../kit/resource.ts';
import { ResourcePage } from '../kit/resource-page.tsx';
import { UnitsInput } from '../kit/pieces.ts';
import { customer, planBytes, planColumns } from './plan-columns.tsx';

const plans = resource<'GET /client/extraTrafficPlans'>({
  name: 'extraTrafficPlans',
  list: 'GET /client/extraTrafficPlans',
  note: 'extraTrafficPlans',
  defaultSort: '-createdAt',
  rowName: row => `${row.userEmail} · ${row.productName} · ${planBytes(row)}`,
  columns: [
    { name: 'userEmail', width: 200, link: 'edit' },
    ...planColumns,
    { name: 'memo', width: 160 },
    { name: 'createdAt', kind: 'time', sort: true, isOptional: true },
  ],
  filters: [
    { name: 'productName', kind: 'text' },
    { ...customer, kind: 'select', width: 200 },
    { name: 'productID', kind: 'select', from: 'GET /client/metaProducts' },
  ],
  create: 'POST /client/extraTrafficPlan',
  update: 'PUT /client/extraTrafficPlan',
  remove: 'DELETE /client/extraTrafficPlans',
  removal: 'destructive',
  fields: [
    { ...customer, kind: 'remote', only: 'create' },
    { name: 'productID', kind: 'remote', from: 'GET /client/metaProducts', help: 'planProduct', only: 'create' },
    {
      name: 'bytes',
      kind: 'custom',
      help: 'planBytes',
      isOptional: false,
      render: ({ value, onChange, ...rest }) => (
        <UnitsInput {...rest} kind="bytes" value={typeof value === 'number' ? value : null} onChange={onChange} />
      ),
    },
    { name: 'startTime', kind: 'time', help: 'planStart', initial: () => new Date().toISOString() },
    {
      name: 'endTime',
      kind: 'time',
      presets: ['month', 'year'],
      help: 'planEnd',
      initial: () => laterThan(null, 'month', new Date()),
    },
    { name: 'memo', kind: 'area', initial: '' },
  ],
});

export default function Plans() {
  return <ResourcePage resource={plans} />;
}
