import { useState } from 'react';
import { SortList } from '../../src/kit/pieces.ts';
import type { SortProps } from '../../src/kit/sort-list.tsx';
import type { Example } from '../pieces.ts';
import { long, say, unbroken } from '../words.ts';

const label = { zh_TW: '規則的順序', zh_CN: '规则的顺序', en_US: 'Order of the rules' };
const many = 3000;
function Sorted({
  count,
  name = index => `/path/${index + 1}`,
  ...props
}: { count: number; name?: (index: number) => string } & Partial<SortProps>) {
  const [rows, setRows] = useState(() => Array.from({ length: count }, (_, key) => ({ key, name: name(key) })));
  return (
    <SortList
      {...props}
      label={say(label)}
      rows={rows}
      onSort={keys => setRows(keys.map(key => rows.find(row => row.key === key)!))}
    />
  );
}

export default [
  { state: 'normal', show: () => <Sorted count={6} /> },
  { state: 'empty', show: () => <Sorted count={0} /> },
  { state: 'disabled', show: () => <Sorted count={3} why={say(long)} /> },
  { state: 'readOnly', show: () => <Sorted count={3} isReadOnly /> },
  { state: 'long', show: () => <Sorted count={2} name={index => (index ? unbroken : say(long))} /> },
  { state: 'many', show: () => <Sorted count={many} /> },
] satisfies Example[];
