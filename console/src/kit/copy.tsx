import { CheckOutlined, CopyOutlined } from '@ant-design/icons';
import { Button } from 'antd';
import { useState } from 'react';
import { notify } from './notice.ts';
import { t } from './text.ts';

const shownMs = 1500;

interface Props {
  text: string;
  label?: string;
  size?: 'small' | 'middle';
  /** There is nothing to copy yet. */
  isDisabled?: boolean;
}

/** Copies a text and says so for a moment. */
export function CopyButton({ text, label, size = 'small', isDisabled = false }: Props) {
  const [isDone, setDone] = useState(false);
  async function copy() {
    try {
      await copyText(text);
      setDone(true);
      setTimeout(() => setDone(false), shownMs);
    } catch {
      notify.error(t('error.copy'));
    }
  }
  return (
    <Button
      type={label ? 'default' : 'text'}
      size={label ? 'middle' : size}
      icon={isDone ? <CheckOutlined className="good" /> : <CopyOutlined />}
      aria-label={label ? undefined : t('action.copy')}
      disabled={isDisabled}
      onClick={event => {
        event.stopPropagation();
        void copy();
      }}
    >
      {label && (isDone ? t('action.copied') : label)}
    </Button>
  );
}

/** A value to be typed elsewhere, exactly. */
export const Copied = ({ text }: { text: string }) => (
  <span className="address">
    <span className="mono">{text}</span>
    <CopyButton text={text} />
  </span>
);

/** The clipboard exists on https and localhost alone; elsewhere the old way still works. */
async function copyText(text: string) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'offscreen';
  document.body.append(area);
  area.select();
  const isDone = document.execCommand('copy');
  area.remove();
  if (!isDone) throw new Error('copy refused');
}
