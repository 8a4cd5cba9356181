/** Changing one's own password (§7 PATCH {area}/password). */
import { useNavigate } from '@tanstack/react-router';
import { useRef } from 'react';
import { area } from '../kit/area.ts';
import { call } from '../kit/client.ts';
import { useHold } from '../kit/leaving.ts';
import { notify } from '../kit/notice.ts';
import { t } from '../kit/text.ts';
import { LoginTitle } from '../shell/login-shell.tsx';
import { Field, Press, useSubmit } from './parts.tsx';
import { NewPassword, problemOf } from './password-rules.tsx';
import { said } from './said.ts';

export default function ChangePassword() {
  const navigate = useNavigate();
  const isDone = useRef(false);
  const back = () => void navigate({ to: `/${area}/dashboard` });
  const { errors, isBusy, typed, form, isFilled } = useSubmit<'oldPassword' | 'password' | 'again'>(
    ({ oldPassword, password, again }) => ({
      oldPassword: oldPassword ? undefined : t('login.required'),
      password: problemOf(password),
      again: !again ? t('login.required') : again === password ? undefined : t('password.mismatch'),
    }),
    ({ oldPassword, password }) =>
      said(async () => {
        await call('PATCH /{area}/password', { body: { oldPassword, password } });
        notify.success(t('message.changePasswordSuccess'));
        isDone.current = true;
        back();
      }),
    'oldPassword',
  );
  useHold(() => !isBusy && !isDone.current && isFilled());
  return (
    <form className="login-form" {...form}>
      <LoginTitle title={t('password.title')} />
      <Field
        name="oldPassword"
        type="password"
        label={t('password.old')}
        autoComplete="current-password"
        autoFocus
        error={errors['oldPassword']}
      />
      <NewPassword errors={errors} typed={typed} />
      <Press isBusy={isBusy}>{t('password.submit')}</Press>
      <button type="button" className="button button-plain" onClick={back}>
        {t('password.back')}
      </button>
    </form>
  );
}
