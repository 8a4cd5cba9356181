/** The second step of signing in: the code from the mail or the authenticator (§4). */
import { useNavigate } from '@tanstack/react-router';
import { loginTwoFactorTypes, session as limits } from '#contract/limits.ts';
import { area } from '../kit/area.ts';
import { call } from '../kit/client.ts';
import { loginDataStore } from '../kit/session.ts';
import { t } from '../kit/text.ts';
import { LoginTitle } from '../shell/login-shell.tsx';
import { useEnter } from './login.tsx';
import { Field, Press, useSubmit } from './parts.tsx';
import { useState } from 'react';
import { notify } from '../kit/notice.ts';
import { said } from './said.ts';

/** A code that was pasted brings the spaces along that mails and apps show it with. */
const typed = (vcode: string) => vcode.replaceAll(/\s/g, '');

export default function VerifyAccount() {
  const navigate = useNavigate();
  const enter = useEnter();
  const data = loginDataStore.get()!;
  const isMail = data?.login2FAType !== loginTwoFactorTypes.google;
  const [isSending, setSending] = useState(false);
  async function again() {
    setSending(true);
    const { onePassKey, email } = data;
    await said(async () => {
      await call('POST /{area}/code', { body: { onePassKey, email } }, { from: 'login' });
      notify.info(t('message.checkMail'));
    });
    setSending(false);
  }
  const { errors, isBusy, form } = useSubmit<'vcode'>(
    ({ vcode }) => ({
      // of an authenticator that was lost a longer one was written down
      vcode: new RegExp(isMail ? `^\\d{${limits.codeDigits}}$` : `^(\\d{${limits.codeDigits}}|\\w{5}-?\\w{5})$`).test(
        typed(vcode),
      )
        ? undefined
        : t(isMail ? 'verify.digits' : 'verify.google'),
    }),
    ({ vcode }) =>
      said(async () => {
        const { onePassKey, email } = loginDataStore.get()!;
        await enter(await call('POST /{area}/login', { body: { onePassKey, email, vcode: typed(vcode) } }, { from: 'login' }));
      }),
    'vcode',
  );
  function back() {
    loginDataStore.set(null);
    void navigate({ to: `/${area}`, search: true });
  }
  if (!data) return null;
  return (
    <form className="login-form" {...form}>
      <LoginTitle title={t('verify.title')}>{isMail ? t('verify.mail', { email: data.email }) : t('verify.google')}</LoginTitle>
      <Field
        name="vcode"
        label={t('verify.code')}
        className="code-input"
        inputMode={isMail ? 'numeric' : 'text'}
        autoComplete="one-time-code"
        maxLength={20}
        autoFocus
        error={errors['vcode']}
      />
      <Press isBusy={isBusy}>{t('verify.submit')}</Press>
      {isMail && (
        <Press isBusy={isSending} onPress={() => void again()}>
          {t('verify.again')}
        </Press>
      )}
      <button type="button" className="button button-plain" onClick={back}>
        {t('verify.back')}
      </button>
    </form>
  );
}
