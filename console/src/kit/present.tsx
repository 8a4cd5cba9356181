/** Shows an error the way the error map says. */
import { ruleText } from '#contract/rules/rule.ts';
import { type ErrorGroup, type ErrorTexts, presentError, type Presented, type PresentOptions } from './errors.ts';
import { later } from './later.tsx';
import { notify } from './notice.ts';
import { overlay } from './overlay.ts';
import { currentSelf } from './session.ts';
import { language, t, textOf } from './text.ts';

const ErrorDialog = later(
  async () => (await import('./error-dialog.tsx')).ErrorDialog,
  () => t('error.generic'),
);

export const errorTexts: ErrorTexts = {
  of: (code, params) => textOf(`error.${code}`, params),
  rule: problem => ruleText(problem, language),
  get generic() {
    return t('error.generic');
  },
};

export const presented = (error: unknown, options: PresentOptions = {}): Presented =>
  presentError(error, errorTexts, { maxLogExportTimes: currentSelf()?.maxLogExportTimes, ...options });

/** Why a question has no answer, where that stands beside it. */
export function whyOf(error: unknown): string {
  const what = presented(error);
  return what.kind === 'message' || what.kind === 'fields' ? what.text : t('error.generic');
}

export function show(what: Presented) {
  if (what.kind === 'message') notify[what.level](what.text);
  if (what.kind === 'fields') notify.error(what.text);
  if (what.kind === 'multiple') void overlay(close => <ErrorDialog groups={what.groups} onClose={() => close()} />);
}

/** Shows the lines of 101009. Whether those of its targets that are still there, so many, are to be tried again. */
export const isTriedAgain = async (groups: ErrorGroup[], count: number) =>
  (await overlay<boolean>(close => <ErrorDialog groups={groups} again={count} onClose={close} />)) === true;

export function present(error: unknown, options: PresentOptions = {}): Presented {
  const what = presented(error, options);
  show(what);
  return what;
}
