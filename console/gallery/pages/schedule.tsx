import { useState } from 'react';
import { weekdays } from '#contract/limits.ts';
import { Schedule } from '../../src/kit/pieces.ts';
import type { HourRange } from '../../src/kit/schedule-parts.ts';
import type { ScheduleProps } from '../../src/kit/schedule.tsx';
import type { Example } from '../pieces.ts';
import { long, say } from '../words.ts';

const label = { zh_TW: '規則生效的時段', zh_CN: '规则生效的时段', en_US: 'Hours in which the rule holds' };
const work: HourRange[] = [
  ...weekdays.slice(0, 5).map(day => ({ day, from: 9, to: 18 })),
  { day: 'saturday', from: 0, to: 2 },
  { day: 'saturday', from: 22, to: 24 },
];
const chequered = weekdays.flatMap((day, at) =>
  Array.from({ length: 12 }, (_, index) => ({ day, from: index * 2 + (at % 2), to: index * 2 + (at % 2) + 1 })),
);
function Hours({ first, ...props }: { first: HourRange[] } & Partial<ScheduleProps>) {
  const [value, setValue] = useState(first);
  return <Schedule {...props} aria-label={say(label)} value={value} onChange={setValue} />;
}

export default [
  { state: 'normal', show: () => <Hours first={work} /> },
  { state: 'empty', show: () => <Hours first={[]} /> },
  { state: 'disabled', show: () => <Hours first={work} why={say(long)} /> },
  { state: 'readOnly', show: () => <Hours first={work} isReadOnly /> },
  { state: 'invalid', show: () => <Hours first={[]} aria-invalid /> },
  { state: 'many', show: () => <Hours first={chequered} /> },
] satisfies Example[];
