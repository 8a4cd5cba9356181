import { Input } from 'antd';
import { useEffect, useRef, useState } from 'react';
import { Wizard } from '../../src/kit/pieces.ts';
import type { Example } from '../pieces.ts';
import { long, say, unbroken } from '../words.ts';

const label = { zh_TW: '建立站點', zh_CN: '创建站点', en_US: 'Make a site' };
const names = [
  { zh_TW: '網域', zh_CN: '域名', en_US: 'Domain' },
  { zh_TW: '源站', zh_CN: '源站', en_US: 'Origin' },
  { zh_TW: '憑證', zh_CN: '证书', en_US: 'Certificate' },
];
const missing = { zh_TW: '請先填寫。', zh_CN: '请先填写。', en_US: 'Write something first.' };
const never = () => new Promise<undefined>(() => {});

interface Props {
  count?: number;
  title?: string;
  why?: string;
  check?: 'never';
  /** As after a press on its button. */
  press?: boolean;
}
function Steps({ count = 3, title, why, check, press }: Props) {
  const [typed, type] = useState<Record<number, string>>({});
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!press) return undefined;
    const seen = new MutationObserver(() => {
      const button = box.current!.querySelector<HTMLElement>('[type=submit]');
      if (!button) return;
      seen.disconnect();
      button.click();
    });
    seen.observe(box.current!, { childList: true, subtree: true });
    return () => seen.disconnect();
  }, [press]);
  return (
    <div ref={box}>
      <Wizard
        label={say(label)}
        finish={say(label)}
        why={why}
        onFinish={async () => true}
        steps={Array.from({ length: count }, (_, index) => {
          const name = title ?? say(names[index % names.length]!);
          return {
            name: String(index),
            title: name,
            content: (
              <Input
                aria-label={name}
                value={typed[index] ?? ''}
                onChange={event => type({ ...typed, [index]: event.target.value })}
              />
            ),
            check: check ? never : () => (typed[index]?.trim() ? undefined : say(missing)),
          };
        })}
      />
    </div>
  );
}

export default [
  { state: 'normal', show: () => <Steps /> },
  { state: 'loading', show: () => <Steps count={1} press check="never" /> },
  { state: 'invalid', show: () => <Steps press /> },
  { state: 'disabled', show: () => <Steps count={1} why={say(long)} /> },
  { state: 'long', show: () => <Steps count={2} title={unbroken} /> },
  { state: 'many', show: () => <Steps count={9} /> },
] satisfies Example[];
