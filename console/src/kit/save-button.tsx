/** A list as a file: of one that the server writes, how much of it has come, and a way to stop. */
import { CloseOutlined, DownloadOutlined } from '@ant-design/icons';
import { Button } from 'antd';
import { useEffect, useRef, useState } from 'react';
import { t } from './text.ts';
import { bytes } from './units.ts';

export interface Saving {
  signal: AbortSignal;
  /** Told how many bytes have come. */
  onBytes: (count: number) => void;
}

export function SaveButton({ save, note }: { save: (saving: Saving) => Promise<void>; note?: string | undefined }) {
  const [isSaving, setSaving] = useState(false);
  const [came, setCame] = useState<number>();
  const left = useRef<AbortController>(undefined);
  useEffect(() => () => left.current?.abort(), []);
  async function start() {
    const { signal } = (left.current = new AbortController());
    setSaving(true);
    try {
      await save({ signal, onBytes: count => !signal.aborted && setCame(count) });
    } finally {
      setSaving(false);
      setCame(undefined);
    }
  }
  if (came !== undefined)
    return (
      <Button icon={<CloseOutlined />} onClick={() => left.current?.abort()} title={t('export.stop')}>
        {t('export.came', { size: bytes(came) })}
      </Button>
    );
  const title = note === undefined ? t('action.csv') : `${t('action.csv')}\n${note}`;
  return (
    <Button
      type="text"
      icon={<DownloadOutlined />}
      loading={isSaving}
      aria-label={t('action.csv')}
      title={title}
      onClick={() => void start()}
    />
  );
}
