/** What a group answers: to a visitor of an address, where that has arrived, and who came and left and why. */
import { useQuery } from '@tanstack/react-query';
import { Checkbox, Drawer, Input, Pagination, Skeleton } from 'antd';
import { useId, useMemo, useState } from 'react';
import { paging, polling } from '#contract/limits.ts';
import { formatIP, isIP, parseAddressSet } from '#contract/rules.ts';
import { Facts, Status } from '../kit/bits.tsx';
import { Empty, ErrorState } from '../kit/empty.tsx';
import { inPlace } from '../kit/later.tsx';
import { PlaceShown } from '../kit/pieces.ts';
import { placed } from '../kit/placed.tsx';
import { query } from '../kit/query.ts';
import { t } from '../kit/text.ts';
import { dateTime } from '../kit/time.ts';
import { number } from '../kit/units.ts';
import type { LineOrigins } from './origin-input.tsx';

const widthPx = 680;
// with the words that places have
const OriginInput = placed(
  32,
  inPlace(async () => (await import('./origin-input.tsx')).OriginInput),
);
const PlaceName = placed(
  20,
  inPlace(async () => (await import('./origin-input.tsx')).PlaceName),
);

interface Group {
  id: number;
  name: string;
  lines: { kind: string; name: string; cidrs: string[]; asns: number[]; places: string[] }[];
}
export function GroupAnswers({ group, onClose }: { group: Group; onClose: () => void }) {
  const [visitor, setVisitor] = useState('');
  const [origin, setOrigin] = useState<string>();
  const [resolver, setResolver] = useState('');
  const [subnet, setSubnet] = useState(true);
  const lines = useLineOrigins(group);
  const [visitorID, resolverID] = [useId(), useId()];
  const asked = {
    ...(origin === undefined ? { visitor: addressIn(visitor) } : askedFrom(origin)),
    resolver: addressIn(resolver),
    subnet,
  };
  return (
    <Drawer open title={t('answers.title', { group: group.name })} size={widthPx} mask={{ blur: false }} onClose={onClose}>
      <p className="ink-2">{t('answers.text')}</p>
      <div className="asked-from">
        <div>
          <span className="ink-2">{t('answers.origin')}</span>
          <OriginInput
            label={t('answers.origin')}
            value={origin}
            lines={lines}
            onChange={next => {
              setOrigin(next);
              setVisitor('');
            }}
          />
        </div>
        <div>
          <label className="ink-2" htmlFor={visitorID}>
            {t('answers.visitor')}
          </label>
          <Address
            id={visitorID}
            value={visitor}
            onChange={next => {
              setVisitor(next);
              if (next !== '') setOrigin(undefined);
            }}
          />
        </div>
        <div>
          <label className="ink-2" htmlFor={resolverID}>
            {t('answers.resolver')}
          </label>
          <Address id={resolverID} value={resolver} onChange={setResolver} />
          {resolver !== '' && (
            <>
              <Checkbox style={{ marginTop: 8 }} checked={subnet} onChange={event => setSubnet(event.target.checked)}>
                {t('answers.subnet')}
              </Checkbox>
              <span className="cell-note">{t('answers.egress')}</span>
            </>
          )}
        </div>
      </div>
      <Now group={group} asked={asked} />
      <Changes groupID={group.id} />
    </Drawer>
  );
}

const addressIn = (text: string) => (isIP(text.trim()) ? text.trim() : undefined);
/** A network stands by its first address; all else is the server's to know an address of. */
function askedFrom(origin: string) {
  const [, asn] = /^AS(\d+)$/.exec(origin) ?? [];
  if (asn !== undefined) return { asn: Number(asn) };
  const set = origin.startsWith('continent:') ? undefined : parseAddressSet(origin);
  return set ? { visitor: formatIP({ family: set.family, value: set.from }) } : { place: origin };
}

function Address({ id, value, onChange }: { id: string; value: string; onChange: (value: string) => void }) {
  const isWrong = value.trim() !== '' && addressIn(value) === undefined;
  return (
    <>
      <Input
        id={id}
        className="mono"
        allowClear
        value={value}
        status={isWrong ? 'error' : ''}
        aria-invalid={isWrong}
        onChange={event => onChange(event.target.value)}
      />
      {isWrong && <span className="cell-note">{t('answers.notIP')}</span>}
    </>
  );
}

/** What lines of the group name; continents and countries are choices anyhow. */
function useLineOrigins(group: Group): LineOrigins[] {
  return useMemo(
    () => [
      {
        label: t('answers.ownLines'),
        values: group.lines.flatMap(({ name, cidrs, asns, places }) =>
          [...places, ...asns.map(asn => `AS${asn}`), ...cidrs].map(value => ({ value, line: name })),
        ),
      },
    ],
    [group.lines],
  );
}

/** With what of it the visitor is on it by. */
const LineOf = ({ line, of }: { line: string; of: string }) => (
  <>
    {line}
    <span className="cell-note">
      <PlaceName of={of} />
    </span>
  </>
);

interface Asked {
  visitor?: string | undefined;
  place?: string;
  asn?: number;
  resolver: string | undefined;
  subnet: boolean;
}
const said = ({ a, aaaa, cname }: { a: string[]; aaaa: string[]; cname: string | null }) =>
  cname === null ? [...a, ...aaaa] : [cname];

function Now({ group, asked: { visitor, place, asn, resolver, subnet } }: { group: Group; asked: Asked }) {
  const { data, error, refetch } = useQuery({
    ...query('GET /client/group/{g}/answer', {
      g: group.id,
      query: {
        ...(visitor === undefined ? {} : { visitor }),
        ...(place === undefined ? {} : { place }),
        ...(asn === undefined ? {} : { asn }),
        ...(resolver === undefined ? {} : { resolver, ...(subnet ? {} : { subnet }) }),
      },
    }),
    refetchInterval: polling.nodeListPollMs,
  });
  if (error && !data) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton active title={false} />;
  const addresses = said(data.answer);
  const isFrom = place !== undefined || asn !== undefined;
  if (isFrom && data.visitor === null)
    return (
      <p role="status" style={{ marginBottom: 24 }}>
        {t('answers.noneThere')}
      </p>
    );
  const hasLines = group.lines.some(one => one.kind === 'custom');
  return (
    <section aria-live="polite" style={{ margin: '16px 0 24px' }}>
      <Facts
        facts={[
          ...(isFrom && data.visitor !== null ? [[t('answers.standsFor'), data.visitor] as const] : []),
          [t('answers.judged'), data.judged === null ? t('answers.everybody') : <span className="mono">{data.judged}</span>],
          [t('field.line'), data.of === null ? t('lineKind.default') : <LineOf line={data.lineName} of={data.of} />],
          [t('answers.place'), data.place === null ? '—' : <PlaceShown place={data.place} credits={data.credits} />],
          [
            t('answers.answer'),
            addresses.length ? (
              <span className="address-list">
                {addresses.map(one => (
                  <span key={one} className="mono">
                    {one}
                  </span>
                ))}
              </span>
            ) : (
              t('answers.nothing')
            ),
          ],
          [t('field.nodes'), data.members.map(one => one.name).join(', ') || '—'],
          [t('answers.since'), data.changedAt === null ? '—' : dateTime(data.changedAt)],
        ]}
      />
      <h3 style={{ marginTop: 20 }}>{t('answers.where')}</h3>
      {data.zones.length ? (
        <ul className="rows">
          {data.zones.map(one => (
            <li key={one.cnameID}>
              <span className="grow">
                <span className="mono">{one.name}</span>
                {hasLines && one.lines !== 'all' && <span className="cell-note">{t(`answerLines.${one.lines}`)}</span>}
                {String(said(one.answer)) !== String(addresses) && (
                  <span className="cell-note">
                    {t('answers.here', { answer: said(one.answer).join(', ') || t('answers.nothing') })}
                  </span>
                )}
              </span>
              <Status value={one.isApplied ? 'success' : 'warning'} texts="answerThere" />
            </li>
          ))}
        </ul>
      ) : (
        <p className="ink-3">{t('answers.noZones')}</p>
      )}
    </section>
  );
}

function Changes({ groupID }: { groupID: number }) {
  const [page, setPage] = useState<number>(paging.pageFirst);
  const pageSize = paging.pageSizeDefault;
  const { data, error, refetch } = useQuery({
    ...query('GET /client/group/{g}/answers', { g: groupID, query: { page, pageSize } }),
    refetchInterval: polling.nodeListPollMs,
  });
  return (
    <section>
      <h3>{t('answers.changes')}</h3>
      {error && !data ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : !data ? (
        <Skeleton active title={false} />
      ) : data.total === 0 ? (
        <Empty drawing="nothing" title={t('answers.noChanges')} />
      ) : (
        <>
          <ul className="rows">
            {data.data.map(one => (
              <li key={one.id}>
                <span className="grow">
                  <span title={one.UID}>{one.name}</span> {t(`answerChange.${one.change}`)}
                  <span className="cell-note">
                    {t(`answerReason.${one.reason}`, { seconds: number(one.seconds) })}
                    {one.lineName !== 'default' && ` · ${one.lineName}`}
                  </span>
                </span>
                <span className="ink-3">{dateTime(one.at)}</span>
              </li>
            ))}
          </ul>
          {data.total > pageSize && (
            <Pagination
              size="small"
              current={page}
              pageSize={pageSize}
              total={data.total}
              showSizeChanger={false}
              onChange={setPage}
            />
          )}
        </>
      )}
    </section>
  );
}
