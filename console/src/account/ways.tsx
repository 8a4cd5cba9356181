/** Ways of one's own to sign in (passkeys, links of an identity provider): their rows, and what opens over them. */
import { Button } from 'antd';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { t } from '../kit/text.ts';
import { dateMinute } from '../kit/time.ts';

/** What is open, and the button to which the focus goes back: a drawer goes with its focus, and who came by keyboard goes on from there. */
export function useAsked<T>() {
  const [open, setOpen] = useState<T>();
  const add = useRef<HTMLButtonElement>(null);
  const pressed = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!open) pressed.current?.focus();
  }, [open]);
  return {
    open,
    /** of the button that is always there */
    add,
    ask(what: T, button: HTMLElement) {
      pressed.current = button;
      setOpen(what);
    },
    close: () => setOpen(undefined),
    /** The row goes, and its button with it. */
    isGone() {
      pressed.current = add.current;
    },
  };
}

interface Way {
  id: number;
  name: string;
  createdAt: string;
  lastUsedAt: string | null;
}
export function Ways<W extends Way>({
  ways,
  where,
  beside,
  onRemove,
}: {
  ways: readonly W[];
  where: (way: W) => string;
  beside?: (way: W) => ReactNode;
  onRemove: (way: W, button: HTMLElement) => void;
}) {
  return (
    <ul className="rows members">
      {ways.map(one => (
        <li key={one.id}>
          <span className="grow member">
            <span>
              {one.name} {beside?.(one)}
            </span>
            <small className="ink-3">{where(one)}</small>
            <small className="ink-3">
              {one.lastUsedAt
                ? t('passkeys.times', { since: dateMinute(one.createdAt), used: dateMinute(one.lastUsedAt) })
                : t('passkeys.unused', { since: dateMinute(one.createdAt) })}
            </small>
          </span>
          <Button
            size="small"
            aria-label={`${t('passkeys.remove')}: ${one.name}`}
            onClick={event => onRemove(one, event.currentTarget)}
          >
            {t('passkeys.remove')}
          </Button>
        </li>
      ))}
    </ul>
  );
}
