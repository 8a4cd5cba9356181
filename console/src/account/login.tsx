/** The login form (§4 Login). */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { loginTwoFactorTypes } from '#contract/limits-start.ts';
import { area } from '../kit/area.ts';
import { call } from '../kit/client.ts';
import type { Credentials } from '../kit/credentials.ts';
import { firstPage, wanted } from '../kit/guard.ts';
import { notify } from '../kit/notice.ts';
import { ofArea } from '../kit/of-area.ts';
import { mayHavePasskeys } from '../kit/passkeys.ts';
import { currentScreens, screensOf } from '../kit/screens.ts';
import { loginDataStore, signIn } from '../kit/session.ts';
import { t, takeLanguage } from '../kit/text.ts';
import { withLater } from '../kit/with-later.ts';
import { LoginTitle } from '../shell/login-shell.tsx';
import { said } from './said.ts';
import { Field, Press, useSubmit } from './parts.tsx';

/** Stores the credentials and opens the page the person wanted, or the first one of the area. */
export function useEnter() {
  const navigate = useNavigate();
  const { next } = useSearch({ strict: false }) as { next?: string }; // where it is
  /** @param wish in place of what the address says */
  return async (given: Credentials, wish = next) => {
    const self = await signIn(given);
    loginDataStore.set(null);
    const page = firstPage(self, area, path => screensOf(currentScreens()).some(screen => screen.path === path));
    const href = wanted(wish, area) ?? page;
    if (takeLanguage(self.language)) return location.replace(href);
    notify.success(t('message.loginSuccess'));
    await navigate({ href, replace: true });
  };
}

/** By the button, or as the browser offers it where the e-mail is filled in: one question at a time. */
function usePasskey(enter: (given: Credentials) => Promise<void>) {
  const [round, setRound] = useState(0);
  const [isBusy, setBusy] = useState(false);
  const asking = useRef(new AbortController());
  const enterBy = (signal: AbortSignal, isOffered: boolean) =>
    withLater(
      () => import('./passkey.ts'),
      ({ byPasskey }) =>
        said(async () => {
          const found = await byPasskey(signal, isOffered).catch((error: unknown) => {
            // the one that was chosen was refused: another may be
            if (isOffered && !signal.aborted) setRound(n => n + 1);
            throw error;
          });
          if (found) await enter(found);
          else if (!isOffered && !signal.aborted) notify.info(t('passkey.none'));
        }),
    );
  useEffect(() => {
    const mine = (asking.current = new AbortController());
    if (!mayHavePasskeys) return;
    PublicKeyCredential.isConditionalMediationAvailable?.()
      .then(isThere => (isThere ? enterBy(mine.signal, true) : undefined))
      .catch(console.error);
    return () => {
      mine.abort();
      asking.current.abort();
    };
    // oxlint-disable-next-line react/exhaustive-deps -- once, and again when the button’s question is over
  }, [round]);
  async function ask() {
    asking.current.abort();
    const mine = (asking.current = new AbortController());
    setBusy(true);
    await enterBy(mine.signal, false);
    setBusy(false);
    setRound(n => n + 1);
  }
  return { isBusy, ask };
}

/** The identity provider of the operator whose host this is; the vendor's people have none. */
function useProvider() {
  const { next } = useSearch({ strict: false }) as { next?: string }; // where it is
  const [label, setLabel] = useState('');
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    if (!hasProvider) return;
    let isGone = false;
    // what nobody asked for says nothing when it cannot be had
    call('GET /{area}/oidc/button', {}, { from: 'login' }).then(found => isGone || setLabel(found.label), console.error);
    return () => void (isGone = true);
  }, []);
  async function go() {
    setBusy(true);
    await withLater(
      () => import('./provider.ts'),
      ({ toProvider, clearly }) =>
        toProvider(wanted(next, area)).catch((error: unknown) => notify.error((clearly(error) as Error).message)),
    );
    setBusy(false);
  }
  return { label, isBusy, go };
}
const hasProvider = ofArea({ user: true, client: true, admin: false });

export default function Login() {
  const navigate = useNavigate();
  const enter = useEnter();
  const passkey = usePasskey(enter);
  const provider = useProvider();
  const { errors, isBusy, form } = useSubmit<'email' | 'password'>(
    ({ email, password }) => ({
      email: !email.trim() ? t('login.required') : /^\S+@\S+$/.test(email.trim()) ? undefined : t('login.wrongFormat'),
      password: password ? undefined : t('login.required'),
    }),
    values =>
      said(async () => {
        const email = values.email.trim();
        const answer = await call('POST /{area}/verify', { body: { email, password: values.password } }, { from: 'login' });
        if (answer.accessToken && answer.refreshToken) return enter({ tokenType: 'Bearer', ...answer } as Credentials);
        const { onePassKey = '', login2FAType = loginTwoFactorTypes.mail, vcode } = answer;
        if (login2FAType === loginTwoFactorTypes.none && vcode)
          return enter(await call('POST /{area}/login', { body: { onePassKey, email, vcode } }, { from: 'login' }));
        loginDataStore.set({ email, password: values.password, onePassKey, login2FAType });
        if (login2FAType === loginTwoFactorTypes.mail) notify.info(t('message.checkMail'));
        await navigate({ to: `/${area}/verifyAccount`, search: true });
      }),
    'password',
  );
  return (
    <form className="login-form" {...form}>
      <LoginTitle title={t('login.title')} />
      <Field
        name="email"
        type="email"
        label={t('login.email')}
        autoComplete="username webauthn"
        autoFocus
        inputMode="email"
        error={errors['email']}
      />
      <Field
        name="password"
        type="password"
        label={t('login.password')}
        autoComplete="current-password"
        error={errors['password']}
      />
      <Press isBusy={isBusy}>{t('login.submit')}</Press>
      {mayHavePasskeys && (
        <Press isBusy={passkey.isBusy} onPress={() => void passkey.ask()}>
          {t('login.passkey')}
        </Press>
      )}
      {provider.label && (
        <Press isBusy={provider.isBusy} onPress={() => void provider.go()}>
          {t('login.provider', { label: provider.label })}
        </Press>
      )}
    </form>
  );
}
