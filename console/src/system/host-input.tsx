/** A hostname that only its owner may have: as long as its zone does not say so, the record to be made there, what it says now, and asking again. */
import './host-input.css';
import { useQuery } from '@tanstack/react-query';
import { Button, Input } from 'antd';
import { useContext, useEffect } from 'react';
import { brandHost, consoleAddress } from '#contract/rules/branding.ts';
import { Facts } from '../kit/bits.tsx';
import { useSettled } from '../kit/choices.ts';
import { Copied } from '../kit/copy.tsx';
import { FormContext } from '../kit/fields.tsx';
import { whyOf } from '../kit/present.tsx';
import { query, unkept } from '../kit/query.ts';
import type { CustomInput } from '../kit/resource.ts';
import { Toned } from '../kit/status.tsx';
import { t } from '../kit/text.ts';

const asks = {
  hostname: {
    rule: brandHost,
    ask: (hostname: string) => query('GET /client/setting/logo/proof', { query: { hostname } }),
  },
  outgoingURL: {
    rule: consoleAddress,
    ask: (outgoingURL: string) => query('GET /client/setting/system/outgoingURL/proof', { query: { outgoingURL } }),
  },
} as const;

/** Of both fields: the record stands there already, and may be found since. */
export const hostTold = (rule: string) => (rule === 'nameUnproven' ? t('hostProof.refused') : undefined);
export const hostErrors = (field: keyof typeof asks) => ({
  fields: { duplicated: field },
  duplicate: () => t(field === 'hostname' ? 'hostProof.takenBrand' : 'hostProof.takenURL'),
});

interface Props extends CustomInput {
  of: keyof typeof asks;
  placeholder: string;
}

export function HostInput({ of, value, onChange, ...input }: Props) {
  const typed = String(value ?? '');
  return (
    <>
      <Input
        {...input}
        className="mono"
        spellCheck={false}
        autoComplete="off"
        value={typed}
        onChange={event => onChange(event.target.value)}
      />
      <HostProof of={of} host={typed.trim()} />
    </>
  );
}

function HostProof({ of, host }: { of: keyof typeof asks; host: string }) {
  const settled = useSettled(host);
  const { rule, ask } = asks[of];
  const isAsked = settled !== '' && rule.check(settled) === true;
  const { data, error, errorUpdateCount, isFetching, refetch } = useQuery({
    // both answer the same
    ...(ask(settled) as ReturnType<(typeof asks)['hostname']['ask']>),
    ...unkept,
    // of another name nothing is told, not even while this one is asked for
    placeholderData: () => undefined,
    enabled: isAsked,
  });
  const unsay = useContext(FormContext)?.unsay;
  const isProven = isAsked && data?.state === 'proven';
  // a save that was refused for want of the record is told of no more once it is there
  useEffect(() => {
    if (isProven) unsay?.(of);
    // oxlint-disable-next-line react/exhaustive-deps -- once, when it is found: the form's part is another at each drawing
  }, [isProven]);
  if (!isAsked || settled !== host) return null;
  // one button all along: whoever asks again stands on it still, whatever is said then
  const said = (tone: 'good' | 'warn', text: string) => (
    <div className="host-proof-state">
      <span role="status">
        <Toned tone={tone}>{text}</Toned>
      </span>
      <Button size="small" loading={isFetching} onClick={() => void refetch()}>
        {t('hostProof.again')}
      </Button>
    </div>
  );
  const failed = error && t('hostProof.failed', { why: whyOf(error) });
  // what failed is forgotten while it is asked again, and the button stays
  if (!data)
    return errorUpdateCount > 0 ? (
      <section className="host-proof" aria-label={t('hostProof.title')}>
        {said('warn', failed || t('hostProof.asking'))}
      </section>
    ) : null;
  if (data.state === 'free') return null;
  const { state, record, value } = data;
  return (
    <section className="host-proof" aria-label={t('hostProof.title')}>
      <p>{t('hostProof.what')}</p>
      <Facts
        facts={[
          [t('hostProof.type'), 'TXT'],
          [t('hostProof.name'), <Copied key="name" text={record} />],
          [t('hostProof.value'), <Copied key="value" text={value} />],
        ]}
      />
      {said(state === 'proven' && !failed ? 'good' : 'warn', failed || t(`hostProof.${state}`))}
    </section>
  );
}
