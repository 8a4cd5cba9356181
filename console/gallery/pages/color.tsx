import { useState } from 'react';
import { ColorInput } from '../../src/kit/pieces.ts';
import type { Example } from '../pieces.ts';
import { long, say } from '../words.ts';

const name = { zh_TW: '品牌色', zh_CN: '品牌色', en_US: 'Brand colour' };
function Colour({ first, ...props }: { first?: string; why?: string; isReadOnly?: boolean; 'aria-invalid'?: boolean }) {
  const [value, setValue] = useState(first);
  return <ColorInput {...props} aria-label={say(name)} value={value} onChange={setValue} />;
}

export default [
  { state: 'normal', show: () => <Colour first="#0b6168" /> },
  {
    state: 'normal',
    note: { zh_TW: '淺色背景上難以辨識', zh_CN: '浅色背景上难以辨认', en_US: 'hard to see on light' },
    show: () => <Colour first="#ffd54a" />,
  },
  { state: 'empty', show: () => <Colour /> },
  { state: 'invalid', show: () => <Colour first="petrol" aria-invalid /> },
  { state: 'disabled', show: () => <Colour first="#2f6db0" why={say(long)} /> },
  { state: 'readOnly', show: () => <Colour first="#2f6db0" isReadOnly /> },
] satisfies Example[];
