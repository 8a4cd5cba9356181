/** Adding a passkey, or removing one: each asks for the password. */
import { Alert, Button, Drawer, Form, Input, type InputRef } from 'antd';
import { useRef, useState } from 'react';
import { passkeys as limits } from '#contract/limits.ts';
import { call } from '../kit/client.ts';
import { fieldsOf } from '../kit/errors.ts';
import { notify } from '../kit/notice.ts';
import { present } from '../kit/present.tsx';
import { t } from '../kit/text.ts';
import { ApiError } from '../kit/transport.ts';
import { codeOf, factorProblem } from './own-factor.ts';
import { addPasskey } from './passkey.ts';

const widthPx = 480;
interface Given {
  /** what a new one may be called */
  name?: string;
  /** the one that goes; without it one is added */
  gone?: { id: number; name: string };
  onDone: () => void;
  onClose: () => void;
}

export function PasskeyForm({ name: proposed = '', gone, onDone, onClose }: Given) {
  const [name, setName] = useState(proposed);
  const [password, setPassword] = useState('');
  const [errors, setErrors] = useState<{ name?: string; password?: string; code?: string }>({});
  // what the code is of, once it is asked for
  const [asked, setAsked] = useState('');
  const [code, setCode] = useState('');
  const [isBusy, setBusy] = useState(false);
  const field = useRef<InputRef>(null);

  async function act(): Promise<boolean> {
    if (gone) {
      await call('DELETE /{area}/account/passkey', { body: { passkeyID: gone.id, password } }, { from: 'step' });
      notify.success(t('passkeys.removed'));
      return true;
    }
    const made = await addPasskey(name.trim(), password, codeOf(code));
    if (made === true) notify.success(t('passkeys.added'));
    else notify.info(t(made === 'held' ? 'passkeys.held' : 'passkey.none'));
    return made === true;
  }
  async function finish() {
    if (isBusy) return;
    const missing = {
      ...(gone || name.trim() ? {} : { name: t('login.required') }),
      ...(password ? {} : { password: t('login.required') }),
      ...(asked && !codeOf(code) ? { code: t('login.required') } : {}),
    };
    setErrors(missing);
    if (Object.keys(missing).length) return;
    setBusy(true);
    try {
      if (!(await act())) return;
      onDone();
      onClose();
    } catch (failed) {
      const isWrong = failed instanceof ApiError && fieldsOf(failed.errorData).some(one => one.rule === 'wrongPassword');
      const factor = factorProblem(failed);
      if (factor?.isAsked) setAsked(factor.text);
      else if (factor) setErrors({ code: factor.text });
      else if (isWrong) setErrors({ password: t('password.wrong') });
      // what was too late, or no answer to what was asked: the server's message, which `present` leaves to whoever ends the session
      else if (failed instanceof ApiError && failed.status === 401) notify.error(failed.message);
      else present(failed);
    } finally {
      setBusy(false);
    }
  }
  const told = (of: 'name' | 'password' | 'code') => ({
    validateStatus: errors[of] ? ('error' as const) : undefined,
    help: errors[of] || undefined,
  });
  return (
    <Drawer
      open
      title={t(gone ? 'passkeys.removeTitle' : 'passkeys.addTitle')}
      size={widthPx}
      mask={{ blur: false }}
      // the drawer takes the focus once it is open
      afterOpenChange={isOpen => isOpen && field.current?.focus()}
      onClose={onClose}
    >
      <Form layout="vertical" onFinish={() => void finish()}>
        {gone ? (
          <div className="passkey-text">
            <Alert type="warning" showIcon title={t('passkeys.removeText', { name: gone.name })} />
          </div>
        ) : (
          <>
            <p className="ink-3 passkey-text">{t('passkeys.addText', { host: location.hostname })}</p>
            <Form.Item label={t('passkeys.name')} htmlFor="passkey-name" {...told('name')}>
              <Input
                id="passkey-name"
                autoComplete="off"
                maxLength={limits.nameMax}
                value={name}
                onChange={event => setName(event.target.value)}
              />
            </Form.Item>
          </>
        )}
        <Form.Item label={t('password.old')} htmlFor="passkey-password" {...told('password')}>
          <Input.Password
            id="passkey-password"
            ref={field}
            autoComplete="current-password"
            value={password}
            onChange={event => setPassword(event.target.value)}
          />
        </Form.Item>
        {asked && (
          <Form.Item label={t('verify.code')} htmlFor="passkey-code" extra={asked} {...told('code')}>
            <Input
              id="passkey-code"
              autoFocus
              autoComplete="one-time-code"
              maxLength={20}
              value={code}
              onChange={event => setCode(event.target.value)}
            />
          </Form.Item>
        )}
        <Button type="primary" htmlType="submit" danger={!!gone} loading={isBusy}>
          {t(gone ? 'passkeys.remove' : 'passkeys.add')}
        </Button>
      </Form>
    </Drawer>
  );
}
