/** Takes over the three credentials of another account (§2): checked with self before anything is stored. */
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { area, areas } from '../kit/area.ts';
import type { Credentials } from '../kit/credentials.ts';
import { notify } from '../kit/notice.ts';
import { wanted } from '../kit/guard.ts';
import { adopt, cameFrom } from '../kit/session.ts';
import { t } from '../kit/text.ts';
import { Loading } from '../shell/states.tsx';

export default function SwitchUser() {
  const navigate = useNavigate();
  const isStarted = useRef(false);
  useEffect(() => {
    if (isStarted.current) return;
    isStarted.current = true;
    const given = Object.fromEntries(new URLSearchParams(location.search));
    // The credentials leave the address, and with it the history, before anything else happens.
    history.replaceState(history.state, '', location.pathname);
    const { accessToken, refreshToken, tokenType } = given;
    if (!accessToken || !refreshToken || !tokenType) return void navigate({ to: `/${area}`, replace: true });
    adopt({ accessToken, refreshToken, tokenType } satisfies Credentials).then(
      () => {
        const { from = '' } = given;
        cameFrom.set(areas.some(one => wanted(from, one)) ? from : null);
        return navigate({ to: `/${area}/dashboard`, replace: true });
      },
      (error: Error) => {
        notify.info(error.message);
        return navigate({ to: `/${area}`, replace: true });
      },
    );
  }, [navigate]);
  return (
    <>
      <Loading />
      <p>{t('switch.working')}</p>
    </>
  );
}
