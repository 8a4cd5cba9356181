/** The code beside one's own password: typed, or given by a passkey; and what is left to who has neither. */
import './presence.css';
import { Button, Input } from 'antd';
import { useState } from 'react';
import { loginTwoFactorTypes as types } from '#contract/limits-start.ts';
import { area } from '../kit/area.ts';
import { call } from '../kit/client.ts';
import { CopyButton } from '../kit/copy.tsx';
import { notify } from '../kit/notice.ts';
import { bytesOf, isNone, signedBy } from '../kit/passkey-bytes.ts';
import { mayHavePasskeys } from '../kit/passkeys.ts';
import { present } from '../kit/present.tsx';
import { useSelf } from '../kit/session.ts';
import { t } from '../kit/text.ts';
import { ApiError } from '../kit/transport.ts';

interface Given {
  id?: string;
  value: unknown;
  onChange: (value: unknown) => void;
}

/** A code for this session; undefined: nobody chose one. */
async function codeByPasskey(): Promise<string | undefined> {
  const options = await call('POST /{area}/account/presence/challenge', {}, { from: 'step' });
  try {
    const found = (await navigator.credentials.get({
      publicKey: {
        ...options,
        challenge: bytesOf(options.challenge),
        allowCredentials: options.allowCredentials.map(
          one => ({ ...one, id: bytesOf(one.id) }) as PublicKeyCredentialDescriptor, // knows fewer words for transports
        ),
      },
    })) as PublicKeyCredential | null; // what was asked for
    if (!found) return undefined;
    return (await call('POST /{area}/account/presence/code', { body: { credential: signedBy(found) } }, { from: 'step' })).code;
  } catch (error) {
    if (isNone(error)) return undefined;
    throw error;
  }
}

export function PresenceCode({ id, value, onChange }: Given) {
  const { email, twoFactor } = useSelf();
  const [isBusy, setBusy] = useState(false);
  async function ask() {
    setBusy(true);
    try {
      const code = await codeByPasskey();
      if (code === undefined) return notify.info(t('passkey.none'));
      onChange(code);
      notify.success(t('presence.given'));
    } catch (error) {
      // what was refused, or too late: it ends no session
      if (error instanceof ApiError && error.status === 401) notify.error(error.message);
      else present(error);
    } finally {
      setBusy(false);
    }
  }
  const command =
    twoFactor === types.none
      ? `breakwater account verification ${email} --off`
      : `breakwater account factors ${email} --area=${area} --drop`;
  return (
    <div className="presence-code">
      <div className="presence-line">
        <Input
          id={id}
          className="mono"
          autoComplete="one-time-code"
          maxLength={32}
          value={String(value ?? '')}
          onChange={event => onChange(event.target.value)}
        />
        {mayHavePasskeys && (
          <Button loading={isBusy} onClick={() => void ask()}>
            {t('presence.passkey')}
          </Button>
        )}
      </div>
      <details>
        <summary>{t('presence.noCode')}</summary>
        <p>{t(twoFactor === types.google ? 'presence.noCodeApp' : 'presence.noCodeMail')}</p>
        <p>
          <code>{command}</code> <CopyButton text={command} />
        </p>
      </details>
    </div>
  );
}
