/** One value of the operator as a card: read by one call, saved by another. Who may only look reads it. */
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useMemo, useState } from 'react';
import { CardForm } from '../kit/card-form.tsx';
import type { AnswerOf, CallKey } from '../kit/client.ts';
import { ErrorState } from '../kit/empty.tsx';
import type { PresentOptions } from '../kit/errors.ts';
import { useCan } from '../kit/permissions.ts';
import { query } from '../kit/query.ts';
import type { FormField, Values } from '../kit/resource.ts';
import { useSelf } from '../kit/session.ts';
import { Stale } from '../kit/stale.tsx';
import { type Named, t } from '../kit/text.ts';
import { presenceFields, presenceValues, withPresence } from './presence.tsx';
import { SettingValues } from './setting-values.tsx';

type ReadKey = {
  [K in CallKey]: K extends `GET /client/setting/system/${string}`
    ? AnswerOf<K> extends { version: number }
      ? K
      : never
    : never;
}[CallKey];
interface Props<K extends ReadKey> {
  name: Named<'tab'>;
  read: K;
  write: CallKey;
  fields: (answer: AnswerOf<K>) => FormField[];
  note?: (answer: AnswerOf<K>) => ReactNode;
  errors?: Pick<PresentOptions, 'fields' | 'duplicate'>;
  /** It decides where secrets go: the root's own person alone, who says so with the password. */
  isPresent?: boolean;
  /** What those who may only look read; left out: the fields and their values. */
  shown?: (answer: AnswerOf<K>) => string;
}

export function SystemCard<K extends ReadKey>({ name, read, write, fields: fieldsOf, note, errors, shown, isPresent }: Props<K>) {
  const can = useCan();
  const { isRoot, proxyName } = useSelf();
  const [round, setRound] = useState(0);
  // it takes nothing
  const found = useQuery(query(read, ...([] as never)));
  // one of those that answer a version
  const answer = found.data as (AnswerOf<K> & Values & { version: number }) | undefined;
  const fields = useMemo(() => (answer ? fieldsOf(answer) : []), [answer, fieldsOf]);
  if (found.error && !answer) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />;
  if (!answer) return <div className="panel tab-wait" aria-busy />;
  const values = Object.fromEntries(fields.map(field => [field.name, answer[field.name]]));
  const isMine = !isPresent || (isRoot && !proxyName);
  return (
    <section className="panel setting" aria-label={t(`tab.${name}`)}>
      <Stale found={found} />
      {note && <p className="ink-3">{note(answer)}</p>}
      {can(write) && isMine ? (
        <CardForm
          // a password stays in no form that was saved
          key={round}
          call={write}
          params={{}}
          fields={isPresent ? [...fields, ...presenceFields] : fields}
          values={isPresent ? { ...values, ...presenceValues } : values}
          {...(isPresent && { body: withPresence, saved: async () => setRound(round + 1) })}
          version={answer.version}
          success={t('message.modifySuccess')}
          errors={{ otherwise: t('message.modifyFailed'), ...errors }}
        />
      ) : shown ? (
        <p className="ink-3">{shown(answer)}</p>
      ) : (
        <SettingValues why={t(isMine ? 'form.readOnly' : 'presence.rootOnly')} fields={fields} values={values} />
      )}
    </section>
  );
}
