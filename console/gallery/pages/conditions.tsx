import { useState } from 'react';
import type { ConditionField, ConditionProps } from '../../src/kit/condition-builder.tsx';
import type { Condition, Group } from '../../src/kit/condition-parts.ts';
import { operators } from '../../src/kit/condition-parts.ts';
import { ConditionBuilder } from '../../src/kit/pieces.ts';
import type { Example } from '../pieces.ts';
import { long, say, unbroken } from '../words.ts';

const fields = (): ConditionField[] => [
  { value: 'path', label: say({ zh_TW: '路徑', zh_CN: '路径', en_US: 'Path' }) },
  {
    value: 'country',
    label: say({ zh_TW: '國家', zh_CN: '国家', en_US: 'Country' }),
    operators: ['equals', 'notEquals', 'in', 'notIn'],
  },
  { value: 'header', label: say({ zh_TW: '標頭', zh_CN: '标头', en_US: 'Header' }), isNamed: true },
];
const row = (key: number, more: Partial<Condition> = {}): Condition => ({
  key,
  field: 'path',
  operator: 'startsWith',
  value: '/api/',
  ...more,
});
const sample: Group = {
  key: 0,
  isAll: true,
  of: [
    row(1),
    {
      key: 2,
      isAll: false,
      of: [
        row(3, { field: 'country', operator: 'in', value: 'TW, JP, DE' }),
        row(4, { field: 'header', name: 'X-Test', operator: 'exists' }),
      ],
    },
  ],
};
const group = (of: Group['of']): Group => ({ key: 0, isAll: true, of });
function Conditions({ first, ...props }: { first: Group } & Partial<ConditionProps>) {
  const [value, setValue] = useState(first);
  return (
    <ConditionBuilder
      {...props}
      label={say({ zh_TW: '規則的條件', zh_CN: '规则的条件', en_US: 'Conditions of the rule' })}
      fields={fields()}
      value={value}
      onChange={setValue}
    />
  );
}

export default [
  { state: 'normal', show: () => <Conditions first={sample} /> },
  { state: 'empty', show: () => <Conditions first={group([])} /> },
  { state: 'disabled', show: () => <Conditions first={sample} why={say(long)} /> },
  { state: 'readOnly', show: () => <Conditions first={sample} isReadOnly /> },
  {
    state: 'invalid',
    show: () => <Conditions first={group([row(1, { value: '' }), row(2, { operator: 'matches', value: '(' })])} isAsked />,
  },
  { state: 'long', show: () => <Conditions first={group([row(1, { value: unbroken }), row(2, { value: say(long) })])} /> },
  {
    state: 'many',
    note: { zh_TW: '全部比較方式', zh_CN: '全部比较方式', en_US: 'every operator' },
    show: () => <Conditions first={group(operators.map((operator, index) => row(index + 1, { operator })))} />,
  },
] satisfies Example[];
