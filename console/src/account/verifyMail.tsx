/** A link of a mail (§2): its token is checked; a good one leads to CreatePassword, of any other the reader is told. */
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { area } from '../kit/area.ts';
import { call } from '../kit/client.ts';
import { notify } from '../kit/notice.ts';
import { linkDataStore } from '../kit/session.ts';
import { t } from '../kit/text.ts';
import { Loading } from '../shell/states.tsx';

export default function VerifyMail() {
  const navigate = useNavigate();
  const isStarted = useRef(false);
  useEffect(() => {
    if (isStarted.current) return;
    isStarted.current = true;
    const token = new URLSearchParams(location.search).get('token') ?? '';
    // whoever looks at this browser's history finds no way in
    history.replaceState(history.state, '', location.pathname);
    async function check() {
      const found = token ? await call('POST /token/check', { body: { token } }, { from: 'login' }) : undefined;
      if (found?.valid && found.auth === area) {
        linkDataStore.set({ token, email: found.email });
        return navigate({ to: `/${area}/createPassword`, replace: true });
      }
      notify.info(
        `${t('message.mailLinkInvalid')}${found?.problem && found.problem !== 'unknown' ? ` ${t(`linkProblem.${found.problem}`)}` : ''}`,
      );
      return navigate({ to: `/${area}`, replace: true });
    }
    check().catch((error: Error) => {
      notify.info(error.message);
      return navigate({ to: `/${area}`, replace: true });
    });
  }, [navigate]);
  return <Loading />;
}
