import { useState } from 'react';
import { InlineSwitch } from '../../src/kit/pieces.ts';
import type { Example } from '../pieces.ts';
import { long, say } from '../words.ts';

const name = { zh_TW: 'HTTP 壓縮', zh_CN: 'HTTP 压缩', en_US: 'HTTP compression' };
const tick = () => new Promise(resolve => setTimeout(resolve, 300));
function Switched({ isFailing = false, why }: { isFailing?: boolean; why?: string }) {
  const [isOn, setOn] = useState(true);
  return (
    <InlineSwitch
      name={say(name)}
      isOn={isOn}
      why={why}
      onSwitch={async next => {
        await tick();
        if (!isFailing) setOn(next);
        return !isFailing;
      }}
    />
  );
}

export default [
  { state: 'normal', show: () => <Switched /> },
  {
    state: 'failed',
    note: { zh_TW: '無法儲存時會恢復原狀', zh_CN: '无法保存时会恢复原状', en_US: 'cannot be saved: it turns back' },
    show: () => <Switched isFailing />,
  },
  { state: 'disabled', show: () => <Switched why={say(long)} /> },
] satisfies Example[];
