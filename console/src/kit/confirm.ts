/** Questions before something is done: the more it breaks, the more it asks. The dialog is loaded when the first is asked. */
import { createElement } from 'react';
import type { Question } from './confirm-dialog.tsx';
import { notify } from './notice.ts';
import { overlay, overlayStore } from './overlay.ts';
import { t } from './text.ts';

export type { Question };

/** What the browser can ask by itself. */
const asked = ({ title, warning, targets, toCopy = [] }: Question) =>
  globalThis.confirm([title, warning, ...targets, ...toCopy].filter(Boolean).join('\n'));

/** Whether the person is sure. */
export async function isSure(question: Question): Promise<boolean> {
  if (!overlayStore.hasHost()) return asked(question);
  try {
    const { Confirm } = await import('./confirm-dialog.tsx');
    return (await overlay<boolean>(close => createElement(Confirm, { question, onClose: close }))) === true;
  } catch (error) {
    // Out of reach: leaving a form must be possible all the same.
    console.error(error);
    if (question.level === 'disruptive') return asked(question);
    notify.error(t('page.unreachable'));
    return false;
  }
}

let discarding: Promise<boolean> | undefined;
/** "Leave and lose what you typed?" Asked once: Escape may be pressed again before the dialog is there. */
export const mayDiscard = (): Promise<boolean> =>
  (discarding ??= isSure({
    title: t('confirm.discard'),
    warning: t('confirm.discardText'),
    targets: [],
    level: 'disruptive',
    confirm: t('action.discard'),
  }).finally(() => (discarding = undefined)));
