/** A secret that is shown this once: whoever closes it without having kept it needs a new one. */
import './pieces.css';
import { Alert, Button, Checkbox } from 'antd';
import { useEffect, useRef, useState } from 'react';
import { CopyButton } from './copy.tsx';
import { saveFile } from './csv.ts';
import { useHold } from './leaving.ts';
import { t } from './text.ts';

interface Props {
  /** What it is: "API token". */
  label: string;
  /** undefined while it is being made */
  secret: string | undefined;
  /** Name of the file it can be kept in. */
  fileName: string;
  /** The person has it. The secret leaves the page. */
  onKept: () => void;
}

export function SecretOnce({ label, secret, fileName, onKept }: Props) {
  const [isKept, setKept] = useState(false);
  const [isDone, setDone] = useState(false);
  const done = useRef<HTMLDivElement>(null);
  // Back and a reload ask first, as of what somebody typed
  useHold(() => secret !== undefined && !isDone);
  // the button that was pressed is gone: whoever has the keyboard goes on from where it was
  useEffect(() => {
    if (isDone) done.current?.focus();
  }, [isDone]);
  if (isDone)
    return (
      <div ref={done} tabIndex={-1} className="secret-done">
        <Alert type="success" showIcon title={t('secret.done')} />
      </div>
    );
  return (
    <section className="secret" aria-label={label}>
      <Alert type="warning" showIcon title={t('secret.once')} description={t('secret.onceText')} />
      <div className="secret-value">
        {/* read out letter by letter nobody could keep it, but it must be reached by keyboard and be marked as a whole */}
        <code tabIndex={0} aria-label={label} aria-busy={secret === undefined}>
          {secret ?? t('secret.making')}
        </code>
      </div>
      <div className="secret-actions">
        <CopyButton text={secret ?? ''} label={t('secret.copy')} isDisabled={secret === undefined} />
        <Button disabled={secret === undefined} onClick={() => saveFile(fileName, new Blob([`${secret}\n`]))}>
          {t('secret.save')}
        </Button>
      </div>
      <div className="secret-foot">
        <Checkbox checked={isKept} disabled={secret === undefined} onChange={event => setKept(event.target.checked)}>
          {t('secret.kept')}
        </Checkbox>
        <Button
          type="primary"
          disabled={!isKept}
          title={isKept ? undefined : t('secret.notYet')}
          onClick={() => {
            setDone(true);
            onKept();
          }}
        >
          {t('action.close')}
        </Button>
      </div>
    </section>
  );
}
