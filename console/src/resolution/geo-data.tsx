/** Where addresses are taken to be: whose data, how old; an address to try; an owner's own file. */
import { useQuery } from '@tanstack/react-query';
import { Button, Input } from 'antd';
import { useRef, useState } from 'react';
import { geoLimits } from '#contract/limits.ts';
import { isIP } from '#contract/rules.ts';
import { ruleText } from '#contract/rules/rule.ts';
import { ErrorState } from '../kit/empty.tsx';
import { isSure } from '../kit/confirm.ts';
import { fieldsOf } from '../kit/errors.ts';
import { notify } from '../kit/notice.ts';
import { useCan } from '../kit/permissions.ts';
import { PlaceShown } from '../kit/pieces.ts';
import { present, whyOf } from '../kit/present.tsx';
import { query, queryClient, useAction } from '../kit/query.ts';
import { language, t } from '../kit/text.ts';
import { dateTime } from '../kit/time.ts';
import { ApiError } from '../kit/transport.ts';
import { GeoSource } from './geo-source.tsx';
import { number } from '../kit/units.ts';

const read = 'GET /client/setting/dns/geoData';
const place = 'GET /client/setting/dns/geoData/place';
const send = 'POST /client/setting/dns/geoData';
const drop = 'DELETE /client/setting/dns/geoData';
const buildingPollMs = 3000;

const licenceURLs: Readonly<Record<string, string>> = {
  'CC0-1.0': 'https://creativecommons.org/publicdomain/zero/1.0/',
  'CC-BY-4.0': 'https://creativecommons.org/licenses/by/4.0/',
};
/** With its text, and that the data are not as they were published: CC BY 4.0, 3(a)(1), asks for both. */
function Licence({ licence }: { licence: string }) {
  return (
    <>
      {licence in licenceURLs ? (
        <a href={licenceURLs[licence]} target="_blank" rel="noreferrer">
          {licence}
        </a>
      ) : (
        licence
      )}
      {` · ${t('geo.adapted')}`}
    </>
  );
}

function Tried() {
  const [typed, type] = useState('');
  const address = typed.trim();
  const found = useQuery({ ...query(place, { query: { address } }), enabled: isIP(address) });
  return (
    <>
      <Input
        className="mono"
        style={{ maxWidth: 320 }}
        aria-label={t('geo.try')}
        placeholder={t('geo.try')}
        value={typed}
        onChange={event => type(event.target.value)}
        allowClear
      />
      <p role="status" style={{ minHeight: 22, margin: '8px 0' }}>
        {isIP(address) && found.error && !found.data && <span className="bad">{whyOf(found.error)}</span>}
        {address !== '' && !isIP(address) && <span className="ink-3">{t('geo.notIP')}</span>}
        {isIP(address) && found.data && <PlaceShown place={found.data.place} credits={found.data.credits} />}
      </p>
    </>
  );
}

export function GeoData() {
  const can = useCan();
  const picker = useRef<HTMLInputElement>(null);
  const { data, error, refetch } = useQuery({
    ...query(read),
    enabled: can(read),
    refetchInterval: found => (found.state.data?.state === 'building' ? buildingPollMs : false),
  });
  const sent = useAction(send, { success: t('geo.sent'), quiet: true });
  const dropped = useAction(drop, { success: t('geo.dropped') });
  if (error && !data)
    return (
      <section className="panel panel-padded" aria-label={t('geo.title')}>
        <ErrorState error={error} onRetry={() => void refetch()} />
      </section>
    );
  if (!data) return null;
  const again = () => queryClient.invalidateQueries();
  async function put(file: File | undefined) {
    if (!file) return;
    if (file.size > geoLimits.bytesMax) {
      notify.error(t('geo.tooLarge', { mb: number(geoLimits.bytesMax / 1e6) }));
      return;
    }
    const named = new File([file], file.name, { type: 'application/octet-stream' });
    try {
      // what the server receives of it is another type (contract/src/kit/schema.ts)
      await sent.run({ body: { file: named as never } });
    } catch (error) {
      // what is wrong with the file stands at its field
      const [said] = error instanceof ApiError ? fieldsOf(error.errorData) : [];
      if (said) notify.error(ruleText(said, language));
      else present(error);
    }
    void again();
  }
  async function away() {
    const targets = data!.sources.filter(one => one.isOwn).map(one => one.name);
    if (!(await isSure({ level: 'disruptive', title: t('geo.dropTitle'), targets, confirm: t('geo.drop') }))) return;
    await dropped.run({ body: {} });
    void again();
  }
  const mayChange = data.mayChange && can(send);
  return (
    <>
      <section className="panel panel-padded" aria-labelledby="geo-data" style={{ marginTop: 24 }}>
        <h2 id="geo-data">{t('geo.title')}</h2>
        <p className="ink-2">{t('geo.text')}</p>
        {data.problem && (
          <p className="bad" role="alert">
            {t('geo.problem', { problem: data.problem })}
          </p>
        )}
        {data.state !== 'ready' && <p role="status">{t(data.state === 'building' ? 'geo.building' : 'geo.none')}</p>}
        {data.builtAt !== null && (
          <p className="ink-2">{t('geo.builtAt', { time: dateTime(data.builtAt), count: number(data.networks) })}</p>
        )}
        <ul className="rows" style={{ marginBlock: 12 }}>
          {data.sources.map(one => (
            <li key={one.layer}>
              <span className="grow">
                {t(`geo.layer.${one.layer}`)} <span className="mono">{one.name}</span>
                <span className="ink-3" style={{ display: 'block' }}>
                  {one.isOwn ? t('geo.own') : <Licence licence={one.licence} />}
                  {one.dataAt !== null && ` · ${t('geo.asOf', { time: dateTime(one.dataAt) })}`}
                </span>
                {one.credits.length > 0 && <PlaceShown credits={one.credits} />}
              </span>
            </li>
          ))}
        </ul>
        {data.state !== 'none' && can(place) && <Tried />}
        {mayChange && (
          <>
            <input
              ref={picker}
              type="file"
              hidden
              accept=".mmdb"
              aria-label={t('geo.choose')}
              onChange={event => {
                void put(event.target.files?.[0]);
                event.target.value = '';
              }}
            />
            <Button loading={sent.isPending} onClick={() => picker.current?.click()}>
              {t('geo.choose')}
            </Button>{' '}
            {data.sources.some(one => one.isOwn) && (
              <Button type="text" loading={dropped.isPending} onClick={() => void away()}>
                {t('geo.drop')}
              </Button>
            )}
            <p className="ink-3" role="status" style={{ margin: '8px 0 0' }}>
              {sent.isPending ? t('geo.sending') : t('geo.help', { mb: number(geoLimits.bytesMax / 1e6) })}
            </p>
          </>
        )}
      </section>
      {mayChange && <GeoSource />}
    </>
  );
}
