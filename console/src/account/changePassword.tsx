/** Changing one's own password (§7 PATCH {area}/password). */
import { useNavigate } from '@tanstack/react-router';
import { useRef } from 'react';
import { session as limits } from '#contract/limits.ts';
import { area } from '../kit/area.ts';
import { call } from '../kit/client.ts';
import { useHold } from '../kit/leaving.ts';
import { notify } from '../kit/notice.ts';
import { t } from '../kit/text.ts';
import { LoginTitle } from '../shell/login-shell.tsx';
import { Field, Press, useSubmit } from './parts.tsx';
import { said } from './said.ts';

export default function ChangePassword() {
  const navigate = useNavigate();
  const isDone = useRef(false);
  const back = () => void navigate({ to: `/${area}/dashboard` });
  const { errors, isBusy, form, isFilled } = useSubmit<'oldPassword' | 'password' | 'again'>(
    ({ oldPassword, password, again }) => ({
      oldPassword: oldPassword ? undefined : t('login.required'),
      password: password.length >= limits.passwordLengthMin ? undefined : t('password.min', { min: limits.passwordLengthMin }),
      again: again === password ? undefined : t('password.mismatch'),
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
      <Field name="password" type="password" label={t('password.new')} autoComplete="new-password" error={errors['password']} />
      <Field name="again" type="password" label={t('password.repeat')} autoComplete="new-password" error={errors['again']} />
      <Press isBusy={isBusy}>{t('password.submit')}</Press>
      <button type="button" className="button button-plain" onClick={back}>
        {t('password.back')}
      </button>
    </form>
  );
}
