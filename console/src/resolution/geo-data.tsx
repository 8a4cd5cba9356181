/** Where addresses are taken to be: whose data, how old; an address to try; an owner's own file. */
import { useQuery } from '@tanstack/react-query';
import { Button, Input } from 'antd';
import { useRef, useState } from 'react';
import { geoLimits } from '#contract/limits.ts';
import { isIP } from '#contract/rules.ts';
import type { AnswerOf } from '../kit/client.ts';
import { isSure } from '../kit/confirm.ts';
import { notify } from '../kit/notice.ts';
import { useCan } from '../kit/permissions.ts';
import { query, queryClient, useAction } from '../kit/query.ts';
import { languageTag, t, tOf } from '../kit/text.ts';
import { dateTime } from '../kit/time.ts';
import { number } from '../kit/units.ts';
import { countryNames } from '../kit/world-parts.ts';

const read = 'GET /client/setting/dns/geoData';
const place = 'GET /client/setting/dns/geoData/place';
const send = 'POST /client/setting/dns/geoData';
const drop = 'DELETE /client/setting/dns/geoData';
const buildingPollMs = 3000;

type Place = AnswerOf<typeof place>['place'];
const countryOf = countryNames(languageTag);
/** From the largest to the smallest: 亞洲 · 台灣 · Taipei · AS3462 Chunghwa Telecom. */
export function placeText({ continent, country, region, regionName, asn, organisation }: Place): string {
  const parts = [
    continent && tOf('continent', continent),
    country && countryOf(country),
    regionName ?? region,
    asn && `AS${asn}${organisation ? ` ${organisation}` : ''}`,
  ].filter(Boolean);
  return parts.length ? parts.join(' · ') : t('geo.unknown');
}

/** Whoever made the data is named wherever they are shown. */
export function Credits({ credits }: { credits: readonly { name: string; url: string }[] }) {
  if (!credits.length) return null;
  return (
    <small className="ink-3">
      {t('geo.credits')}{' '}
      {credits.map(({ name, url }, index) => (
        <span key={name}>
          {index > 0 && ', '}
          <a href={url} target="_blank" rel="noreferrer">
            {name}
          </a>
        </span>
      ))}
    </small>
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
        {isIP(address) && found.data ? placeText(found.data.place) : ''}
      </p>
    </>
  );
}

export function GeoData() {
  const can = useCan();
  const picker = useRef<HTMLInputElement>(null);
  const { data } = useQuery({
    ...query(read),
    enabled: can(read),
    refetchInterval: found => (found.state.data?.state === 'building' ? buildingPollMs : false),
  });
  const sent = useAction(send, { success: t('geo.sent') });
  const dropped = useAction(drop, { success: t('geo.dropped') });
  if (!data) return null;
  const again = () => queryClient.invalidateQueries();
  async function put(file: File | undefined) {
    if (!file) return;
    if (file.size > geoLimits.bytesMax) {
      notify.error(t('geo.tooLarge', { mb: number(geoLimits.bytesMax / 1e6) }));
      return;
    }
    const named = new File([file], file.name, { type: 'application/octet-stream' });
    // what the server receives of it is another type (contract/src/kit/schema.ts)
    await sent.run({ body: { file: named as never } });
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
    <section className="panel panel-padded" aria-labelledby="geo-data" style={{ marginTop: 24 }}>
      <h2 id="geo-data">{t('geo.title')}</h2>
      <p className="ink-2">{t('geo.text')}</p>
      {data.problem && (
        <p className="bad" role="alert">
          {t('geo.problem', { problem: data.problem })}
        </p>
      )}
      {data.state !== 'ready' && <p role="status">{t(data.state === 'building' ? 'geo.building' : 'geo.none')}</p>}
      <ul className="rows">
        {data.sources.map(one => (
          <li key={one.layer}>
            <span className="grow">
              {t(`geo.layer.${one.layer}`)} <span className="mono">{one.name}</span>
              <span className="cell-note">
                {[
                  one.isOwn ? t('geo.own') : one.licence,
                  one.dataAt === null ? '' : t('geo.asOf', { time: dateTime(one.dataAt) }),
                ]
                  .filter(Boolean)
                  .join(' · ')}
              </span>
              <Credits credits={one.credits} />
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
          <p className="ink-3" style={{ margin: '8px 0 0' }}>
            {t('geo.help', { mb: number(geoLimits.bytesMax / 1e6) })}
          </p>
        </>
      )}
    </section>
  );
}
