/** The first password of an account, or a new one, by the link of a mail (§4 Create password). */
import { useNavigate } from '@tanstack/react-router';
import { area } from '../kit/area.ts';
import { call } from '../kit/client.ts';
import { notify } from '../kit/notice.ts';
import { linkDataStore } from '../kit/session.ts';
import { t } from '../kit/text.ts';
import { ApiError } from '../kit/transport.ts';
import { LoginTitle } from '../shell/login-shell.tsx';
import { Press, useSubmit } from './parts.tsx';
import { NewPassword, problemOf } from './password-rules.tsx';
import { said } from './said.ts';

export default function CreatePassword() {
  const navigate = useNavigate();
  const data = linkDataStore.get();
  const leave = () => {
    linkDataStore.set(null);
    void navigate({ to: `/${area}`, replace: true });
  };
  const { errors, isBusy, typed, form } = useSubmit<'password' | 'again'>(
    ({ password, again }) => ({
      password: problemOf(password),
      again: !again ? t('login.required') : again === password ? undefined : t('password.mismatch'),
    }),
    ({ password }) =>
      said(async () => {
        try {
          await call('POST /register/password', { body: { token: data!.token, password } }, { from: 'login' });
        } catch (error) {
          // the link is no longer good: another try would change nothing
          if (!(error instanceof ApiError) || (error.status !== 401 && error.status !== 403)) throw error;
          notify.error(`${t('message.createPasswordFailed')} ${error.message}`);
          return leave();
        }
        notify.success(t('message.createPasswordSuccess'));
        leave();
      }),
    'password',
  );
  if (!data) return null;
  return (
    <form className="login-form" {...form}>
      <LoginTitle title={t('createPassword.title')}>{t('createPassword.of', { email: data.email })}</LoginTitle>
      {/* for the browser's own store of passwords */}
      <input type="hidden" name="username" autoComplete="username" value={data.email} readOnly />
      <NewPassword errors={errors} typed={typed} autoFocus />
      <Press isBusy={isBusy}>{t('createPassword.submit')}</Press>
      <button type="button" className="button button-plain" onClick={leave}>
        {t('verify.back')}
      </button>
    </form>
  );
}
