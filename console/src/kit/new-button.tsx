/** The button that makes a new row, and the key that does the same. */
import { PlusOutlined } from '@ant-design/icons';
import { Button } from 'antd';
import { useEffect } from 'react';
import { shortcut } from './shortcuts.ts';
import { t } from './text.ts';

export function NewButton({ text = t('action.create'), onPress }: { text?: string; onPress: () => void }) {
  useEffect(() => shortcut('c', onPress));
  return (
    <Button type="primary" icon={<PlusOutlined aria-hidden />} onClick={onPress} title="C" data-create>
      {text}
    </Button>
  );
}
