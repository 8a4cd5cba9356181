/** Which action an account's state allows (contract states), and in the reader's words why not. */
import { accountActions, can, reasonText } from '#contract/states.ts';
import type { RowOf } from '../kit/client.ts';
import { currentSelf } from '../kit/session.ts';
import { language, t } from '../kit/text.ts';

export type Account = RowOf<'GET /{area}/accounts'>;

/** A sub-account manages those further down, neither itself nor its siblings: the server refuses it too. */
export function whyOwn(account: Account): string | undefined {
  const self = currentSelf();
  if (account.id === self?.id) return t('account.own');
  const isSibling = self && !self.isRoot && !account.isRoot && account.auth === self.auth && account.grade <= self.grade;
  return isSibling ? t('account.notBelow') : undefined;
}

export const why = (action: keyof typeof accountActions) => (account: Account) => {
  const own = whyOwn(account);
  if (own) return own;
  const answer = can(accountActions, action, account.status);
  return answer === true ? undefined : reasonText(answer, language);
};
