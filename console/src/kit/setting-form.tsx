/** A setting as a card of a page: its form, whose value counts, and a bar that saves as soon as something was changed. */
import { Button } from 'antd';
import { type ReactNode, type RefObject, useEffect, useLayoutEffect, useRef } from 'react';
import type { Above } from './differs.tsx';
import { useForm } from './form-core.tsx';
import { isSame } from './form-state.ts';
import { historyOfSetting } from './history-of.ts';
import { isCall } from './permissions.ts';
import type { Params, Values } from './resource.ts';
import { useDirty } from './sections-state.ts';
import type { SettingScreen } from './setting-screen.ts';
import { commandKey } from './shortcuts.ts';
import { t } from './text.ts';

interface Props {
  setting: SettingScreen;
  params: Params;
  values: Values;
  version: number;
  above: Above;
}

export function SettingForm({ setting, params, values, version, above }: Props) {
  const { content, side, isBusy, isChanged, conflict, save, adopt, takeAbove, valuesNow } = useForm({
    call: `PUT ${setting.path}`,
    params,
    fields: setting.fields,
    values,
    isEdit: true,
    stays: true,
    version,
    above,
    history: historyOfSetting(`GET ${setting.path}`, params),
    success: setting.saved?.() ?? t('message.modifySuccess'),
    errors: { otherwise: t('message.modifyFailed') },
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
  const differing = setting.fields
    .map(({ name }) => name)
    .filter(name => !isSame({ ...values, ...valuesNow() }[name], above.value[name]));
  return (
    <>
      <div ref={card} tabIndex={-1} className="setting-form">
        {content}
      </div>
      {side === 'form' && !conflict && !isCall(`DELETE ${setting.path}`) && differing.length > 1 && (
        <button type="button" className="link setting-all" onClick={() => takeAbove(differing)}>
          {t('setting.takeAll', { from: t(`settingSource.${above.from}`) })}
        </button>
      )}
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
