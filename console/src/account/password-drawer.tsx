/** Something about how one signs in that the password is asked for. */
import { Button, Drawer, Form, Input, type InputRef } from 'antd';
import { useRef, useState } from 'react';
import { fieldsOf } from '../kit/errors.ts';
import { present } from '../kit/present.tsx';
import { t } from '../kit/text.ts';
import { ApiError } from '../kit/transport.ts';

const widthPx = 480;
interface Given {
  title: string;
  text: string;
  submit: string;
  isDanger?: boolean;
  act: (password: string) => Promise<void>;
  onClose: () => void;
}

export function PasswordDrawer({ title, text, submit, isDanger = false, act, onClose }: Given) {
  const [password, setPassword] = useState('');
  const [error, setError] = useState('');
  const [isBusy, setBusy] = useState(false);
  const field = useRef<InputRef>(null);
  async function finish() {
    if (isBusy) return;
    setError(password ? '' : t('login.required'));
    if (!password) return;
    setBusy(true);
    try {
      await act(password);
    } catch (failed) {
      const isWrong = failed instanceof ApiError && fieldsOf(failed.errorData).some(one => one.rule === 'wrongPassword');
      if (isWrong) setError(t('password.wrong'));
      else present(failed);
    } finally {
      setBusy(false);
    }
  }
  return (
    <Drawer
      open
      title={title}
      size={widthPx}
      mask={{ blur: false }}
      // the drawer takes the focus once it is open
      afterOpenChange={isOpen => isOpen && field.current?.focus()}
      onClose={onClose}
    >
      <Form layout="vertical" onFinish={() => void finish()}>
        <p className="ink-3 passkey-text">{text}</p>
        <Form.Item
          label={t('password.old')}
          htmlFor="own-password"
          validateStatus={error ? 'error' : undefined}
          help={error || undefined}
        >
          <Input.Password
            id="own-password"
            ref={field}
            autoComplete="current-password"
            value={password}
            onChange={event => setPassword(event.target.value)}
          />
        </Form.Item>
        <Button type="primary" htmlType="submit" danger={isDanger} loading={isBusy}>
          {submit}
        </Button>
      </Form>
    </Drawer>
  );
}
