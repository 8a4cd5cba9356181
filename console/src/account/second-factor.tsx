/** Setting or giving up one's second factor, in the three steps of the API: the password, what it is to be, a code that proves it (§4). */
import { Alert, Button, Drawer, Form, Input, type InputRef } from 'antd';
import { useRef, useState } from 'react';
import { loginTwoFactorTypes as types } from '#contract/limits.ts';
import { type AnswerOf, call } from '../kit/client.ts';
import { CopyButton } from '../kit/copy.tsx';
import { fieldsOf } from '../kit/errors.ts';
import { notify } from '../kit/notice.ts';
import { present } from '../kit/present.tsx';
import { SecretOnce } from '../kit/pieces.ts';
import { loadSelf } from '../kit/session.ts';
import { t } from '../kit/text.ts';
import { ApiError } from '../kit/transport.ts';
import { codeOf, factorProblem } from './own-factor.ts';

const widthPx = 480;
const qrPx = 208;
/** room for a finger */
const choice = { display: 'flex', gap: 8, alignItems: 'center', minHeight: 44, cursor: 'pointer' };
type Type = (typeof types)[keyof typeof types];
type Chosen = AnswerOf<'POST /{area}/login2fa/phase1'>;

export function SecondFactor({ now, onClose }: { now: number; onClose: () => void }) {
  const [wanted, setWanted] = useState<Type>(now === types.google ? types.none : types.google);
  const [password, setPassword] = useState('');
  const [chosen, setChosen] = useState<Chosen>();
  const [code, setCode] = useState('');
  const [presentCode, setPresent] = useState('');
  const [error, setError] = useState('');
  const [presentError, setPresentError] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [recovery, setRecovery] = useState<string>();
  const first = useRef<InputRef>(null);
  const presentField = useRef<InputRef>(null);

  async function step(act: () => Promise<void>) {
    if (isBusy) return;
    setBusy(true);
    setError('');
    setPresentError('');
    try {
      await act();
    } catch (failed) {
      const isWrong = failed instanceof ApiError && fieldsOf(failed.errorData).some(one => one.rule === 'wrongPassword');
      const factor = factorProblem(failed);
      (factor ? presentField : first).current?.focus();
      if (factor) setPresentError(factor.text);
      else if (isWrong) setError(t('password.wrong'));
      // §8: of 2FA failures the server's message
      else if (failed instanceof ApiError && failed.status === 401) setError(failed.message);
      else present(failed);
    } finally {
      setBusy(false);
    }
  }
  const begin = () =>
    step(async () => {
      if (!password) return setError(t('login.required'));
      const { onePassKey } = await call('POST /{area}/login2fa/phase0', { body: { password } }, { from: 'step' });
      setPassword('');
      setChosen(await call('POST /{area}/login2fa/phase1', { body: { onePassKey, type: wanted } }, { from: 'step' }));
    });
  // a new authenticator takes the place of what there is
  const isTwo = !!chosen && chosen.presentType !== types.none;
  const finish = () =>
    step(async () => {
      const { recoveryCodes } = await call(
        'POST /{area}/login2fa/phase2',
        {
          body: {
            onePassKey: chosen!.onePassKey,
            code: codeOf(code),
            ...(isTwo ? { presentCode: codeOf(presentCode) } : {}),
          },
        },
        { from: 'step' },
      );
      await loadSelf();
      notify.success(t(wanted === types.none ? 'factor.isOff' : 'factor.isOn'));
      if (recoveryCodes.length) setRecovery(recoveryCodes.join('\n'));
      else onClose();
    });

  const choices: [Type, string][] = [
    [types.google, t(now === types.google ? 'factor.replace' : 'factor.google')],
    ...(now === types.mail ? [] : [[types.mail, t('factor.mail')] satisfies [Type, string]]),
    ...(now === types.none ? [] : [[types.none, t('factor.none')] satisfies [Type, string]]),
  ];
  const secret = chosen?.qrCodeData ? new URL(chosen.qrCodeData).searchParams.get('secret') : null;
  return (
    <Drawer
      open
      title={t('factor.title')}
      size={widthPx}
      mask={{ blur: false, closable: false }}
      // recovery codes are shown this once: who has not said that they are kept does not lose them by a key
      closable={recovery === undefined}
      keyboard={recovery === undefined}
      // the drawer takes the focus once it is open
      afterOpenChange={isOpen => isOpen && first.current?.focus()}
      onClose={onClose}
    >
      {recovery !== undefined ? (
        <>
          <p>{t('factor.recoveryText')}</p>
          <SecretOnce label={t('factor.recovery')} secret={recovery} fileName="recovery-codes.txt" onKept={onClose} />
        </>
      ) : !chosen ? (
        <Form layout="vertical" onFinish={() => void begin()}>
          <Form.Item label={t('factor.choose')}>
            {/* the browser's own: those of the component library are left out of the build (console/antd.ts) */}
            <div role="radiogroup" aria-label={t('factor.choose')}>
              {choices.map(([type, text]) => (
                <label key={type} style={choice}>
                  <input type="radio" name="factor" checked={wanted === type} onChange={() => setWanted(type)} />
                  {text}
                </label>
              ))}
            </div>
          </Form.Item>
          <Form.Item
            label={t('password.old')}
            htmlFor="factor-password"
            validateStatus={error ? 'error' : undefined}
            help={error || undefined}
          >
            <Input.Password
              id="factor-password"
              ref={first}
              autoComplete="current-password"
              value={password}
              onChange={event => setPassword(event.target.value)}
            />
          </Form.Item>
          <Button type="primary" htmlType="submit" loading={isBusy}>
            {t('factor.next')}
          </Button>
        </Form>
      ) : (
        <Form layout="vertical" onFinish={() => void finish()}>
          {chosen.qrCode ? (
            <>
              <p>{t('factor.scan')}</p>
              <p>
                <img src={chosen.qrCode} width={qrPx} height={qrPx} alt={t('factor.qr')} className="factor-qr" />
              </p>
              <p className="ink-3">
                {t('factor.secret')} <code>{secret}</code> <CopyButton text={secret ?? ''} />
              </p>
            </>
          ) : (
            <p>{t(chosen.login2FAType === types.google ? 'factor.byGoogle' : 'factor.byMail')}</p>
          )}
          <Form.Item
            label={t('verify.code')}
            htmlFor="factor-code"
            validateStatus={error ? 'error' : undefined}
            help={error || undefined}
          >
            <Input
              id="factor-code"
              ref={first}
              autoFocus
              autoComplete="one-time-code"
              inputMode={chosen.qrCode ? 'numeric' : 'text'}
              maxLength={20}
              value={code}
              onChange={event => setCode(event.target.value)}
            />
          </Form.Item>
          {isTwo && (
            <Form.Item
              label={t(chosen.presentType === types.google ? 'factor.presentApp' : 'factor.presentMail')}
              htmlFor="factor-present"
              extra={t(chosen.presentType === types.google ? 'factor.byGoogle' : 'factor.byMail')}
              validateStatus={presentError ? 'error' : undefined}
              help={presentError || undefined}
            >
              <Input
                id="factor-present"
                ref={presentField}
                autoComplete="one-time-code"
                maxLength={20}
                value={presentCode}
                onChange={event => setPresent(event.target.value)}
              />
            </Form.Item>
          )}
          {wanted === types.none && <Alert type="warning" showIcon title={t('factor.noneText')} />}
          <p>
            <Button type="primary" htmlType="submit" loading={isBusy} disabled={!code.trim() || (isTwo && !presentCode.trim())}>
              {t('factor.finish')}
            </Button>
          </p>
        </Form>
      )}
    </Drawer>
  );
}
