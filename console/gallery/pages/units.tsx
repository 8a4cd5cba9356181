import { useState } from 'react';
import { UnitsInput } from '../../src/kit/pieces.ts';
import { NumberInput } from '../../src/kit/number-input.tsx';
import type { UnitsProps } from '../../src/kit/units-input.tsx';
import type { Example } from '../pieces.ts';
import { long, say } from '../words.ts';

const names = {
  bytes: { zh_TW: '流量上限', zh_CN: '流量上限', en_US: 'Traffic limit' },
  rate: { zh_TW: '下載速率', zh_CN: '下载速率', en_US: 'Download rate' },
  duration: { zh_TW: '快取時間', zh_CN: '缓存时间', en_US: 'Cache time' },
};
function Amount({ value: first, ...props }: UnitsProps) {
  const [value, setValue] = useState(first ?? undefined);
  return (
    <div className="gallery-field">
      <UnitsInput {...props} aria-label={say(names[props.kind])} value={value} onChange={setValue} />
      <output className="ink-3 numbers">= {value ?? '–'}</output>
    </div>
  );
}

function Plain({ value: first, isInvalid }: { value: number | string; isInvalid?: boolean }) {
  const [value, setValue] = useState<number | string | undefined>(first);
  return (
    <div className="gallery-field">
      <NumberInput
        aria-label={say(names.rate)}
        aria-invalid={isInvalid}
        value={value}
        onChange={next => setValue(next as number | string | undefined)}
      />
      <output className="ink-3 numbers">= {value ?? '–'}</output>
    </div>
  );
}

export default [
  { state: 'normal', show: () => <Amount kind="bytes" value={1_500_000_000} /> },
  { state: 'normal', show: () => <Amount kind="rate" counts="KB/s" value={2500} /> },
  { state: 'normal', show: () => <Amount kind="duration" counts="s" value={5400} /> },
  { state: 'empty', show: () => <Amount kind="duration" counts="s" placeholder="90 min" /> },
  { state: 'disabled', show: () => <Amount kind="bytes" value={5000} why={say(long)} /> },
  { state: 'readOnly', show: () => <Amount kind="rate" value={300_000} isReadOnly /> },
  { state: 'invalid', show: () => <Amount kind="duration" counts="s" value={30} aria-invalid /> },
  { state: 'long', show: () => <Amount kind="bytes" value={123_456_789_012_345} /> },
  { state: 'normal', show: () => <Plain value={8080} /> },
  { state: 'invalid', show: () => <Plain value="8O80" isInvalid /> },
] satisfies Example[];
