/** What is shown of an extra plan, to whoever sold it and to whoever has it. */
import type { RowOf } from '../kit/client.ts';
import type { Column } from '../kit/resource.ts';
import { Toned } from '../kit/status.tsx';
import { t } from '../kit/text.ts';
import { bytes } from '../kit/units.ts';
import { Used } from './used.tsx';

export type Plan = RowOf<'GET /user/extraTrafficPlans'>;
const tones = { planned: 'idle', holds: 'good', usedUp: 'warn', over: 'idle' } as const;

export const planBytes = (plan: Plan) => bytes(plan.bytes);
const usedOf = ({ usedBytes, bytes: all }: Plan) => ({
  year: 0,
  month: 0,
  days: [],
  bytes: usedBytes,
  baseBytes: all,
  planBytes: all,
});

export const planColumns: Column<Plan>[] = [
  { name: 'productName', width: 150 },
  { name: 'bytes', sort: true, width: 220, render: plan => <Used usage={usedOf(plan)} /> },
  {
    name: 'state',
    width: 110,
    render: plan => <Toned tone={tones[plan.state]}>{t(`trafficPlanState.${plan.state}`)}</Toned>,
  },
  { name: 'startTime', kind: 'time', sort: true },
  { name: 'endTime', kind: 'time', sort: true },
];

/** Whose it is, to choose from: a filter, and a field of a new plan. */
export const customer = {
  name: 'userID',
  from: 'GET /{area}/accounts',
  query: { auth: 'user' },
  searchBy: 'name',
  text: (row: Readonly<Record<string, unknown>>) => String(row['email']),
} as const;
