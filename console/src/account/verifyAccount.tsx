/** The second step of signing in: the code from the mail or the authenticator (§4). */
import { useNavigate } from '@tanstack/react-router';
import { loginTwoFactorTypes, session as limits } from '#contract/limits.ts';
import { area } from '../kit/area.ts';
import { call } from '../kit/client.ts';
import { loginDataStore } from '../kit/session.ts';
import { t } from '../kit/text.ts';
import { LoginTitle } from '../shell/login-shell.tsx';
import { useEnter } from './login.tsx';
import { Field, useSubmit } from './parts.tsx';
import { said } from './said.ts';

export default function VerifyAccount() {
  const navigate = useNavigate();
  const enter = useEnter();
  const data = loginDataStore.get()!;
  const { errors, isBusy, form } = useSubmit<'vcode'>(
    ({ vcode }) => ({ vcode: new RegExp(`^\\d{${limits.codeDigits}}$`).test(vcode) ? undefined : t('verify.digits') }),
    ({ vcode }) =>
      said(async () => {
        const { onePassKey, email } = loginDataStore.get()!;
        await enter(await call('POST /{area}/login', { body: { onePassKey, email, vcode } }, { from: 'login' }));
      }),
  );
  function back() {
    loginDataStore.set(null);
    void navigate({ to: `/${area}`, search: true });
  }
  if (!data) return null;
  return (
    <form className="login-form" {...form}>
      <LoginTitle title={t('verify.title')}>
        {data.login2FAType === loginTwoFactorTypes.google ? t('verify.google') : t('verify.mail', { email: data.email })}
      </LoginTitle>
      <Field
        name="vcode"
        label={t('verify.code')}
        className="code-input"
        inputMode="numeric"
        autoComplete="one-time-code"
        maxLength={limits.codeDigits}
        autoFocus
        error={errors['vcode']}
      />
      <button type="submit" className="button button-primary button-block" disabled={isBusy} aria-busy={isBusy}>
        {t('verify.submit')}
      </button>
      <button type="button" className="button button-plain" onClick={back}>
        {t('verify.back')}
      </button>
    </form>
  );
}
