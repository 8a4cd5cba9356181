/** A list as a file: of one that the server writes, how much of it has come, and a way to stop. */
import { CloseOutlined, DownloadOutlined } from '@ant-design/icons';
import { Button } from 'antd';
import { useEffect, useRef, useState } from 'react';
import { notify } from './notice.ts';
import { t } from './text.ts';
import { bytes } from './units.ts';

export interface Saving {
  signal: AbortSignal;
  /** Told how many bytes have come. */
  onBytes: (count: number) => void;
}

export function SaveButton({ save, note }: { save: (saving: Saving) => Promise<void>; note?: string | undefined }) {
  const [came, setCame] = useState<number>();
  const at = useRef<AbortController>(undefined);
  useEffect(() => () => at.current?.abort(gone), []);
  const isSaving = came !== undefined;

  async function start() {
    const { signal } = (at.current = new AbortController());
    setCame(0);
    try {
      await save({ signal, onBytes: count => !signal.aborted && setCame(count) });
    } catch (error) {
      if (!signal.aborted) throw error;
      if (signal.reason !== gone) notify.info(t('export.stopped'));
    } finally {
      setCame(undefined);
    }
  }
  const title = note === undefined ? t('action.csv') : `${t('action.csv')}\n${note}`;
  // one button all along: whoever pressed it stands on it still, and can stop what it began
  return (
    <Button
      type="text"
      icon={isSaving ? <CloseOutlined aria-hidden /> : <DownloadOutlined aria-hidden />}
      aria-label={!isSaving ? t('action.csv') : came > 0 ? undefined : t('export.stop')}
      title={isSaving ? t('export.stop') : title}
      onClick={() => (isSaving ? at.current?.abort() : void start())}
    >
      {isSaving && came > 0 && t('export.came', { size: bytes(came) })}
    </Button>
  );
}
/** Why it was given up: the page was left, and nobody is there to be told. */
const gone = new DOMException('', 'AbortError');
