/** Takes over the three credentials of another account (§2): checked with self before anything is stored. */
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { area, areas } from '../kit/area.ts';
import { call, credentials } from '../kit/client.ts';
import type { Credentials } from '../kit/credentials.ts';
import { notify } from '../kit/notice.ts';
import { belongs, wanted } from '../kit/guard.ts';
import { forget, hasSession, mismatch, reset } from '../kit/session.ts';
import { cameFrom } from '../kit/sign-out.ts';
import { t } from '../kit/text.ts';
import { Loading } from '../shell/states.tsx';

/**
 * Takes them over, but only after the API has said whose they are. A session that this browser has in the area stays as it is: theirs is
 * this tab's alone then.
 */
async function adopt(given: Credentials): Promise<void> {
  const self = await call('GET /{area}/account/self', {}, { as: given });
  if (!belongs(self, area)) {
    reset();
    throw mismatch();
  }
  credentials.write(given, hasSession());
  forget();
}

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
