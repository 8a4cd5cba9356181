/** Where the operator's identity provider sends people back to: they sign in, or their account is linked. */
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { loginTwoFactorTypes } from '#contract/limits-start.ts';
import { area } from '../kit/area.ts';
import { call } from '../kit/client.ts';
import type { Credentials } from '../kit/credentials.ts';
import { wanted } from '../kit/guard.ts';
import { notify } from '../kit/notice.ts';
import { loginDataStore } from '../kit/session.ts';
import { t } from '../kit/text.ts';
import { Loading } from '../shell/states.tsx';
import { useEnter } from './login.tsx';
import { clearly, takeFlow } from './provider.ts';

export default function OIDC() {
  const navigate = useNavigate();
  const enter = useEnter();
  const isStarted = useRef(false);
  useEffect(() => {
    if (isStarted.current) return;
    isStarted.current = true;
    const given = new URLSearchParams(location.search);
    // whoever looks at this browser's history finds no way in
    history.replaceState(history.state, '', location.pathname);
    const flow = takeFlow();
    const page = flow?.isLink ? `/${area}/userManagement/userInformation` : `/${area}`;
    const next = wanted(flow?.next, area);
    const search = !flow?.isLink && next ? { next } : {};
    async function come() {
      const [code, state, iss] = ['code', 'state', 'iss'].map(name => given.get(name));
      // put off there, or nobody went from here
      if (!flow || !code || !state) throw new Error(t('oidc.none'));
      const body = { flowKey: flow.flowKey, code, state, ...(iss ? { iss } : {}) };
      if (flow.isLink) {
        await call('POST /{area}/account/identity', { body }, { from: 'step' });
        notify.success(t('oidc.linked'));
        return navigate({ to: page, replace: true });
      }
      const answer = await call('POST /{area}/oidc/finish', { body }, { from: 'login' });
      const { accessToken, onePassKey = '', login2FAType = loginTwoFactorTypes.mail, email = '' } = answer;
      if (accessToken) return enter({ tokenType: 'Bearer', ...answer } as Credentials, next); // with a token come all
      loginDataStore.set({ email, password: '', onePassKey, login2FAType });
      if (login2FAType === loginTwoFactorTypes.mail) notify.info(t('message.checkMail'));
      return navigate({ to: `/${area}/verifyAccount`, search, replace: true });
    }
    come().catch((failed: unknown) => {
      const error = clearly(failed);
      notify.error(error instanceof Error ? error.message : t('error.generic'));
      return navigate({ to: page, search, replace: true });
    });
  }, [navigate, enter]);
  return <Loading />;
}
