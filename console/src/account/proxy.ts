/** Signing in as somebody else: their credentials open in a tab of their own. */
import { call } from '../kit/client.ts';
import { isSure } from '../kit/confirm.ts';
import { present } from '../kit/present.tsx';
import { currentSelf } from '../kit/session.ts';
import { language, t } from '../kit/text.ts';
import type { Account } from './state.ts';

/** The roots of each area (§6): a sub-account would act with more than its role gives. */
export const isRoot = () => currentSelf()?.isRoot === true;

export async function signInAs(account: Account): Promise<boolean> {
  const isAgreed = await isSure({
    level: 'disruptive',
    title: t('proxy.title'),
    warning: [t('warning.proxy'), t('proxy.newTab')].join(language === 'en_US' ? ' ' : ''),
    targets: [account.email],
    confirm: t('action.proxy'),
  });
  if (!isAgreed) return false;
  try {
    const { accessToken, refreshToken, tokenType } = await call('POST /{area}/proxy', { body: { id: account.id } });
    const search = new URLSearchParams({ accessToken, refreshToken, tokenType, from: location.pathname + location.search });
    window.open(`/${account.auth}/switchUser?${search}`, '_blank', 'noopener,noreferrer');
    return true;
  } catch (error) {
    present(error);
    return false;
  }
}
