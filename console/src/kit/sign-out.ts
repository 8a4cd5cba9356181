/** How a session is ended by whoever has it. */
import { area } from './area.ts';
import { call, credentials } from './client.ts';
import { notify } from './notice.ts';
import { reset } from './session.ts';
import { stored } from './stored.ts';
import { t } from './text.ts';

/** Where the person who acts for somebody came from: a page of the console. */
export const cameFrom = stored(`${area}.from`, 'sessionStorage');

/** Ends this session; where it was taken over beside the person's own, that one counts again. */
export async function endSession() {
  const held = credentials.read();
  try {
    if (held)
      await call(
        'DELETE /{area}',
        { body: { accessToken: held.accessToken, refreshToken: held.refreshToken } },
        { from: 'login' },
      );
  } catch (error) {
    // The tokens are forgotten here in any case; that the server could not revoke them is for the log.
    console.error(error);
  }
  reset();
}

export async function signOut() {
  await endSession();
  notify.success(t('message.logoutSuccess'));
}
