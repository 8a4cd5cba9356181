/** A switch in a row: it turns at once, is saved meanwhile, and can be taken back for a while. What could not be saved turns back. */
import { Button, Switch } from 'antd';
import { useEffect, useRef, useState } from 'react';
import { notify } from './notice.ts';
import { t } from './text.ts';
import { WithWhy } from './why.tsx';

interface Props {
  /** What is switched, for whoever does not see the row. */
  name: string;
  isOn: boolean;
  /** Saves it; false or a rejection: it could not be, and the caller has said why. */
  onSwitch: (isOn: boolean) => Promise<boolean>;
  /** Why it cannot be switched now. */
  why?: string;
}

const undoMs = 10_000;

export function InlineSwitch({ name, isOn, onSwitch, why }: Props) {
  /** What the person wants, while the row does not say it yet. */
  const [wanted, want] = useState<boolean>();
  const [isUndoable, setUndoable] = useState(false);
  const [said, say] = useState('');
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const control = useRef<HTMLButtonElement>(null);
  const asked = useRef(0);
  useEffect(() => () => clearTimeout(timer.current), []);
  const isShown = wanted ?? isOn;
  // the row has it now
  if (wanted !== undefined && wanted === isOn && !isUndoable) want(undefined);

  async function turn(next: boolean, isUndo = false) {
    const mine = ++asked.current;
    clearTimeout(timer.current);
    want(next);
    say(t(next ? 'undo.on' : 'undo.off', { name }));
    setUndoable(!isUndo);
    if (isUndo) control.current?.focus();
    const isDone = await onSwitch(next).catch(() => false);
    // turned again meanwhile: only the last turn counts
    if (mine !== asked.current) return;
    if (!isDone) {
      setUndoable(false);
      want(!next);
      say(t('undo.failed', { name }));
      notify.error(t('undo.failed', { name }));
      return;
    }
    timer.current = setTimeout(() => setUndoable(false), undoMs);
  }
  return (
    <WithWhy why={why}>
      {reason => (
        <span className="switch-line">
          <Switch
            ref={control}
            aria-label={name}
            aria-describedby={reason}
            disabled={why !== undefined}
            checked={isShown}
            onChange={next => void turn(next)}
          />
          {isUndoable && (
            <Button size="small" type="link" onClick={() => void turn(!isShown, true)}>
              {t('undo.undo')}
            </Button>
          )}
          <span className="unseen" role="status">
            {said}
          </span>
        </span>
      )}
    </WithWhy>
  );
}
