import { useState } from 'react';
import { RangeInput, default as TimeInput } from '../../src/kit/time-input.tsx';
import { t } from '../../src/kit/text.ts';
import type { Example } from '../pieces.ts';

function Time({ at, isInvalid = false }: { at: string | null; isInvalid?: boolean }) {
  const [value, setValue] = useState(at);
  return <TimeInput value={value} onChange={setValue} aria-label={t('field.expiredAt')} aria-invalid={isInvalid} />;
}
function Range() {
  const [[start, end], setEnds] = useState<[string?, string?]>(['2026-11-01T00:00:00Z', '2026-11-20T08:00:00Z']);
  return (
    <RangeInput
      label={t('field.createdAt')}
      isClearable
      startTime={start}
      endTime={end}
      onChange={(from, to) => setEnds([from, to])}
    />
  );
}

export default [
  { state: 'normal', show: () => <Time at="2026-11-20T08:00:00Z" /> },
  { state: 'normal', show: () => <Range /> },
  { state: 'empty', show: () => <Time at={null} /> },
  { state: 'invalid', show: () => <Time at="2026-11-20T08:00:00Z" isInvalid /> },
] satisfies Example[];
