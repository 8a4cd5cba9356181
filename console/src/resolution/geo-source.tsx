/** The owner's own source of data of places: where it is, what became of it, and a button that asks it now. */
import { useQuery } from '@tanstack/react-query';
import { Button } from 'antd';
import { useEffect, useRef } from 'react';
import { geoRhythms } from '#contract/limits.ts';
import { ErrorState } from '../kit/empty.tsx';
import { inPlace } from '../kit/later.tsx';
import { useCan } from '../kit/permissions.ts';
import { query, queryClient, useAction } from '../kit/query.ts';
import { type FieldName, type FormField, options, type Values } from '../kit/resource.ts';
import { showTasks } from '../kit/task-log.ts';
import { t } from '../kit/text.ts';
import { dateTime } from '../kit/time.ts';

const CardForm = inPlace(async () => (await import('../kit/card-form.tsx')).CardForm);

const read = 'GET /client/setting/dns/geoData/source';
const write = 'PUT /client/setting/dns/geoData/source';
const refresh = 'POST /client/setting/dns/geoData/source/refresh';
const pollMs = 2000;
const fieldsOf = (header: 'geoSourceHeader' | 'geoSourceHeaderSet'): FormField[] => [
  {
    name: 'url',
    label: 'geoSourceURL',
    kind: 'mono',
    help: 'geoSourceURL',
    placeholder: 'https://example.com/city.mmdb',
    isOptional: true,
  },
  // what the wire calls it has no text of its own
  { name: 'every' as FieldName, label: 'geoSourceEvery', kind: 'segments', ...options(geoRhythms, 'geoRhythm') },
  { name: 'headerName', label: 'geoSourceHeaderName', kind: 'mono', isOptional: true },
  {
    name: 'header' as FieldName, // as above
    label: 'geoSourceHeader',
    kind: 'password',
    help: header,
    initial: '',
    isOptional: true,
  },
];
const [unset, set] = [fieldsOf('geoSourceHeader'), fieldsOf('geoSourceHeaderSet')];
/** A secret is never read back: left empty it stays. */
const kept = ({ header, ...rest }: Values): Values => ({ ...rest, ...(header ? { header } : {}) });

export function GeoSource() {
  const can = useCan();
  const { data, error, refetch } = useQuery({
    ...query(read),
    refetchInterval: found => (found.state.data?.isRefreshing ? pollMs : false),
  });
  const begun = useAction(refresh, { quiet: false });
  const wasBusy = useRef(false);
  const isBusy = data?.isRefreshing ?? false;
  useEffect(() => {
    // what it brought stands in the card above
    if (wasBusy.current && !isBusy) void queryClient.invalidateQueries();
    wasBusy.current = isBusy;
  }, [isBusy]);
  if (!data) return error ? <ErrorState error={error} onRetry={() => void refetch()} /> : <div className="tab-wait" aria-busy />;
  const { url, headerName, headerIsSet, every, version } = data;
  const said = [
    ...(data.lookedAt ? [t('geoSource.looked', { time: dateTime(data.lookedAt) })] : []),
    ...(data.takenAt ? [t('geoSource.takenAt', { time: dateTime(data.takenAt) })] : []),
    ...(data.dataAt ? [t('geoSource.dataAt', { time: dateTime(data.dataAt) })] : []),
    ...(data.nextAt ? [t('geoSource.next', { time: dateTime(data.nextAt) })] : []),
  ];
  async function now() {
    const answer = await begun.run({ body: {} });
    if (!answer) return;
    void queryClient.invalidateQueries();
    await showTasks(answer.taskID);
  }
  return (
    <section className="panel panel-padded" aria-labelledby="geo-source" style={{ marginTop: 24 }}>
      <h2 id="geo-source">{t('geoSource.title')}</h2>
      <p className="ink-2">{t('geoSource.text')}</p>
      {data.problem !== null && data.failedSince !== null && (
        <p className="bad" role="alert" style={{ marginTop: 8 }}>
          {t('geoSource.failed', { time: dateTime(data.failedSince), problem: data.problem })}
        </p>
      )}
      {said.length > 0 && (
        <p className="ink-3" style={{ marginTop: 8 }}>
          {said.join(' · ')}
        </p>
      )}
      {data.sha256 !== null && (
        <p className="ink-3 mono" style={{ overflowWrap: 'anywhere' }}>
          SHA-256 {data.sha256}
        </p>
      )}
      {url !== '' && can(refresh) && (
        <Button style={{ marginTop: 12 }} loading={isBusy || begun.isPending} onClick={() => void now()}>
          {t(isBusy ? 'geoSource.busy' : 'geoSource.now')}
        </Button>
      )}
      {can(write) && (
        <div style={{ marginTop: 20 }}>
          <CardForm
            call={write}
            params={{}}
            fields={headerIsSet ? set : unset}
            values={{ url, headerName, header: '', every }}
            version={version}
            body={kept}
            success={t('message.modifySuccess')}
            errors={{ otherwise: t('message.modifyFailed') }}
            meanwhile={<div className="tab-wait" aria-busy />}
          />
        </div>
      )}
    </section>
  );
}
