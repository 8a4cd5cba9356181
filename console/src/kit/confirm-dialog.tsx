/** The dialog of a question (confirm.ts). The dangerous button is never focused by itself. */
import { Button, Input, type InputRef, Modal } from 'antd';
import { useRef, useState } from 'react';
import { CopyButton } from './copy.tsx';
import { t } from './text.ts';

export interface Question {
  title: string;
  warning?: string;
  /** Names of what is meant. */
  targets: readonly string[];
  level: 'disruptive' | 'destructive';
  isDanger?: boolean;
  confirm: string;
  /** what the button says that leaves it; default: cancel */
  leave?: string;
  /** What has to be typed elsewhere before or after it, each with a button that copies it. */
  toCopy?: readonly string[] | undefined;
}

const shownMax = 8;

export function Confirm({ question, onClose }: { question: Question; onClose: (isSure?: boolean) => void }) {
  const { targets } = question;
  const [typed, setTyped] = useState('');
  const field = useRef<InputRef>(null);
  const no = useRef<HTMLButtonElement>(null);
  const word = targets.length === 1 ? targets[0]! : String(targets.length);
  const isTyped = question.level !== 'destructive' || typed.trim() === word;
  return (
    <Modal
      open
      width={440}
      title={question.title}
      mask={{ blur: false }}
      onCancel={() => onClose()}
      // the dialog takes the focus once it is open
      afterOpenChange={isOpen => isOpen && (field.current ?? no.current)?.focus()}
      footer={[
        <Button key="no" ref={no} onClick={() => onClose()}>
          {question.leave ?? t('action.cancel')}
        </Button>,
        <Button key="yes" type="primary" danger={question.isDanger} disabled={!isTyped} onClick={() => onClose(true)}>
          {question.confirm}
        </Button>,
      ]}
    >
      {question.warning && <p>{question.warning}</p>}
      <ul className="targets-list mono">
        {targets.slice(0, shownMax).map(target => (
          <li key={target}>{target}</li>
        ))}
        {targets.length > shownMax && <li>{t('confirm.more', { count: targets.length - shownMax })}</li>}
      </ul>
      {question.toCopy && question.toCopy.length > 0 && (
        <ul className="rows">
          {question.toCopy.map(text => (
            <li key={text}>
              <span className="grow mono" style={{ overflowWrap: 'anywhere' }}>
                {text}
              </span>
              <CopyButton text={text} label={t('action.copy')} />
            </li>
          ))}
        </ul>
      )}
      {question.level === 'destructive' && (
        <label className="confirm-word">
          <span>{t(targets.length === 1 ? 'confirm.typeName' : 'confirm.typeCount', { word })}</span>
          <Input
            ref={field}
            value={typed}
            onChange={event => setTyped(event.target.value)}
            onPressEnter={() => isTyped && onClose(true)}
          />
        </label>
      )}
    </Modal>
  );
}
