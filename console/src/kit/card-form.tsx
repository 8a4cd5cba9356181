/** A form as a card of a page: it stays when it is saved, by a bar that comes as soon as something was changed. */
import { Button } from 'antd';
import { type ReactNode, type RefObject, useEffect, useLayoutEffect, useRef } from 'react';
import { type CoreProps, useForm } from './form-core.tsx';
import type { Values } from './resource.ts';
import { useDirty } from './sections-state.ts';
import { commandKey } from './shortcuts.ts';
import { t } from './text.ts';

/** What there is now: `values` and `version` change when somebody else saves. */
type Props = Omit<CoreProps, 'values' | 'version' | 'stays' | 'isEdit' | 'onClose'> & {
  values: Values;
  version: number;
};

export function CardForm({ values, version, ...rest }: Props) {
  const { content, isBusy, isChanged, conflict, save, adopt } = useForm({
    ...rest,
    values,
    version,
    isEdit: true,
    stays: true,
  });
  useDirty(isChanged);
  // What somebody else saved comes in by itself while nothing was typed here; else the save tells of it.
  const card = useRef<HTMLDivElement>(null);
  const now = JSON.stringify([version, values]);
  const shown = useRef(now);
  useEffect(() => {
    if (isChanged || shown.current === now) return;
    shown.current = now;
    adopt(values, version);
    // oxlint-disable-next-line react/exhaustive-deps -- when something else is there, or what was typed is gone
  }, [now, isChanged]);
  return (
    <>
      <div ref={card} tabIndex={-1} className="setting-form">
        {content}
      </div>
      {isChanged && !conflict && (
        <SaveBar card={card}>
          <span className="save-bar-said">
            <span className="status-dot warn" aria-hidden /> {t('setting.unsaved')}
          </span>
          <Button disabled={isBusy} onClick={() => adopt(values, version)}>
            {t('action.discard')}
          </Button>
          <Button type="primary" loading={isBusy} onClick={() => void save()}>
            {t('action.save')} <kbd>{commandKey}↵</kbd>
          </Button>
        </SaveBar>
      )}
    </>
  );
}

/** It goes once all is saved or given up; whoever stood on it stands on the card then, not nowhere. */
function SaveBar({ card, children }: { card: RefObject<HTMLElement | null>; children: ReactNode }) {
  const bar = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const [own, below] = [bar.current, card.current];
    return () => {
      if (own?.contains(document.activeElement)) below?.focus({ preventScroll: true });
    };
  }, [card]);
  return (
    <div ref={bar} className="save-bar" role="region" aria-label={t('setting.unsaved')}>
      {children}
    </div>
  );
}
