/** A call of the API with one's own token, as a program would send it. */
import { Button, Input } from 'antd';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { isSure } from '../kit/confirm.ts';
import { CopyButton } from '../kit/copy.tsx';
import { linkTo } from '../kit/screens.ts';
import { AnswerStatus } from '../kit/status.tsx';
import { languageTag, t } from '../kit/text.ts';
import { type Call, headersOf, typeOf, urlOf } from './api-schema.ts';

/** undefined: it is no JSON. */
export const parsed = (text: string): unknown => {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
};

export const Code = ({ text, label }: { text: string; label: string }) => (
  <pre className="api-code" tabIndex={0} role="group" aria-label={label}>
    <code>{text}</code>
  </pre>
);

interface Outcome {
  status: number;
  ms: number;
  text: string;
}
/** Kept while the page stays, and nowhere else. */
let typedToken = '';

export function Try({
  call,
  values,
  setValues,
  text,
  setText,
  hasBody,
}: {
  call: Call;
  values: Record<string, string>;
  setValues: (values: Record<string, string>) => void;
  text: string;
  setText: (text: string) => void;
  hasBody: boolean;
}) {
  const [token, setToken] = useState(typedToken);
  const [outcome, setOutcome] = useState<Outcome | string>();
  const [isBusy, setBusy] = useState(false);
  useEffect(() => void (typedToken = token), [token]);
  const { parameters } = call.operation;
  const missing = parameters.filter(one => one.required && !values[one.name]?.trim());
  const isBroken = hasBody && parsed(text) === undefined;
  async function send() {
    const url = urlOf('/api/v1', call, values);
    if (call.method !== 'GET') {
      const isAgreed = await isSure({
        level: 'disruptive',
        title: t('apiDoc.sure'),
        warning: t('apiDoc.sureText'),
        targets: [`${call.method} ${url}`],
        confirm: t('apiDoc.send'),
      });
      if (!isAgreed) return;
    }
    setBusy(true);
    const begun = performance.now();
    try {
      const response = await fetch(url, {
        method: call.method,
        credentials: 'omit',
        headers: {
          authorization: `Bearer ${token.trim()}`,
          'accept-language': languageTag,
          ...headersOf(call, values),
          ...(hasBody ? { 'content-type': 'application/json' } : {}),
        },
        ...(hasBody ? { body: text } : {}),
      });
      const said = await response.text();
      const json = parsed(said);
      setOutcome({
        status: response.status,
        ms: Math.round(performance.now() - begun),
        text: json === undefined ? said : JSON.stringify(json, null, 2),
      });
    } catch {
      setOutcome(t('apiDoc.unreachable'));
    } finally {
      setBusy(false);
    }
  }
  return (
    <section>
      <h3>{t('apiDoc.try')}</h3>
      <form
        className="api-try"
        onSubmit={event => {
          event.preventDefault();
          void send();
        }}
      >
        <label>
          <span>{t('apiDoc.token')}</span>
          <Input.Password value={token} onChange={event => setToken(event.target.value)} autoComplete="off" placeholder="bwt_…" />
          <span className="ink-3">
            {t('apiDoc.tokenText')} <Link to={linkTo('apiTokenSetting')!}>{t('menu.apiTokenSetting')}</Link>
          </span>
        </label>
        {parameters.map(({ name, required, schema }) => (
          <label key={name}>
            <span>
              <code>{name}</code> {required && <span className="api-required">{t('apiDoc.required')}</span>}
            </span>
            <Input
              value={values[name] ?? ''}
              placeholder={typeOf(schema)}
              onChange={event => setValues({ ...values, [name]: event.target.value })}
            />
          </label>
        ))}
        {hasBody && (
          <label>
            <span>{t('apiDoc.body')}</span>
            <Input.TextArea
              className="mono"
              autoSize={{ minRows: 3, maxRows: 18 }}
              spellCheck={false}
              status={isBroken ? 'error' : undefined}
              value={text}
              onChange={event => setText(event.target.value)}
            />
            {isBroken && <span className="api-broken">{t('apiDoc.notJSON')}</span>}
          </label>
        )}
        <div className="api-try-foot">
          <Button type="primary" htmlType="submit" loading={isBusy} disabled={!token.trim() || missing.length > 0 || isBroken}>
            {t('apiDoc.send')}
          </Button>
          {missing.length > 0 && (
            <span className="ink-3">{t('apiDoc.missing', { names: missing.map(one => one.name).join(', ') })}</span>
          )}
        </div>
      </form>
      <div aria-live="polite">
        {typeof outcome === 'string' && <p className="api-broken">{outcome}</p>}
        {typeof outcome === 'object' && (
          <>
            <p className="api-outcome">
              <AnswerStatus status={outcome.status} />
              <span className="ink-3">{t('apiDoc.took', { ms: outcome.ms })}</span>
              <CopyButton text={outcome.text} />
            </p>
            <Code text={outcome.text} label={t('apiDoc.answer')} />
          </>
        )}
      </div>
    </section>
  );
}
