/** Which action an account's state allows (contract states), and in the reader's words why not. */
import { accountActions, can, reasonText } from '#contract/states.ts';
import type { RowOf } from '../kit/client.ts';
import { currentSelf } from '../kit/session.ts';
import { language, t } from '../kit/text.ts';

export type Account = RowOf<'GET /{area}/accounts'>;

/** One's own account is not among those one manages: the server refuses it too. */
export const whyOwn = (account: Account) => (account.id === currentSelf()?.id ? t('account.own') : undefined);

export const why = (action: keyof typeof accountActions) => (account: Account) => {
  const own = whyOwn(account);
  if (own) return own;
  const answer = can(accountActions, action, account.status);
  return answer === true ? undefined : reasonText(answer, language);
};
