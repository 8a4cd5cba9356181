import { t } from '../../src/kit/text.ts';
import { Trial } from '../../src/kit/trial.tsx';
import type { Example } from '../pieces.ts';
import { long, say } from '../words.ts';

const [good, bad] = ['POST /client/setting/email/test', 'POST /{area}/setting/tg/test'] as const;
const words = { label: t('mail.test'), success: t('message.connectionSuccess') };

export default [
  { state: 'normal', show: () => <Trial call={good} {...words} isReady /> },
  {
    state: 'empty',
    note: { zh_TW: '尚未設定任何內容', zh_CN: '尚未设置任何内容', en_US: 'Nothing is set yet' },
    show: () => <Trial call={good} {...words} isReady={false} />,
  },
  { state: 'failed', show: () => <Trial call={bad} {...words} isReady /> },
  {
    state: 'long',
    show: () => (
      <Trial call={good} {...words} isReady>
        <span className="ink-3">{say(long)}</span>
      </Trial>
    ),
  },
] satisfies readonly Example[];
