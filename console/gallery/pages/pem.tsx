import { useState } from 'react';
import { PemInput } from '../../src/kit/pieces.ts';
import type { Example } from '../pieces.ts';
import { samples } from '../samples.ts';
import { long, say } from '../words.ts';

const name = { zh_TW: '憑證與私鑰', zh_CN: '证书与私钥', en_US: 'Certificate and key' };
function Pem({ texts, ...props }: { texts: string[]; why?: string; isReadOnly?: boolean; 'aria-invalid'?: boolean }) {
  const [value, setValue] = useState(texts.join('\n'));
  return <PemInput {...props} aria-label={say(name)} value={value} onChange={setValue} />;
}
const { leaf, issuer, root, key, otherKey } = samples;

export default [
  { state: 'normal', show: () => <Pem texts={[leaf, issuer, root, key]} /> },
  {
    state: 'normal',
    note: { zh_TW: '順序不對', zh_CN: '顺序不对', en_US: 'in the wrong order' },
    show: () => <Pem texts={[root, issuer, leaf, key]} />,
  },
  { state: 'empty', show: () => <Pem texts={[]} /> },
  {
    state: 'invalid',
    note: { zh_TW: '私鑰不相符', zh_CN: '私钥不相符', en_US: 'the key of another' },
    show: () => <Pem texts={[leaf, otherKey]} aria-invalid />,
  },
  { state: 'invalid', show: () => <Pem texts={[leaf.slice(0, 300), '-----END CERTIFICATE-----']} aria-invalid /> },
  { state: 'disabled', show: () => <Pem texts={[]} why={say(long)} /> },
  { state: 'readOnly', show: () => <Pem texts={[root]} isReadOnly /> },
] satisfies Example[];
