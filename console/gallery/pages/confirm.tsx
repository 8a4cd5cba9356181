import { Confirm } from '../../src/kit/confirm-dialog.tsx';
import { ErrorDialog } from '../../src/kit/error-dialog.tsx';
import { t } from '../../src/kit/text.ts';
import type { Example } from '../pieces.ts';
import { long, say, unbroken } from '../words.ts';

const question = (targets: string[]) => ({
  title: t('confirm.title', { verb: t('action.remove'), count: targets.length }),
  targets,
  isDanger: true,
  confirm: t('action.remove'),
});
const names = (count: number) => Array.from({ length: count }, (_, index) => `www-${index}.example.com`);

export default [
  {
    state: 'normal',
    open: close => <Confirm question={{ ...question(names(1)), level: 'disruptive' }} onClose={close} />,
  },
  {
    state: 'many',
    note: { zh_TW: '需要輸入數量', zh_CN: '需要输入数量', en_US: 'the number is typed' },
    open: close => <Confirm question={{ ...question(names(300)), level: 'destructive' }} onClose={close} />,
  },
  {
    state: 'long',
    open: close => <Confirm question={{ ...question([unbroken]), warning: say(long), level: 'destructive' }} onClose={close} />,
  },
  {
    state: 'normal',
    note: { zh_TW: '有內容要先複製', zh_CN: '有内容要先复制', en_US: 'something to copy first' },
    open: close => (
      <Confirm
        question={{ ...question(names(1)), level: 'destructive', warning: say(long), toCopy: [unbroken] }}
        onClose={close}
      />
    ),
  },
  {
    state: 'failed',
    open: close => (
      <ErrorDialog
        groups={[
          { code: 101001, text: say(long), targets: names(30) },
          { code: 101018, text: t('empty.lockedText'), targets: [unbroken] },
        ]}
        again={30}
        onClose={() => close()}
      />
    ),
  },
] satisfies Example[];
