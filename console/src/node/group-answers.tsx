/** What a group answers: to a visitor of an address, where that has arrived, and who came and left and why. */
import { useQuery } from '@tanstack/react-query';
import { Checkbox, Drawer, Input, Pagination, Skeleton } from 'antd';
import { useState } from 'react';
import { paging, polling } from '#contract/limits.ts';
import { isIP } from '#contract/rules.ts';
import { Facts, Status } from '../kit/bits.tsx';
import { Empty, ErrorState } from '../kit/empty.tsx';
import { PlaceShown } from '../kit/pieces.ts';
import { query } from '../kit/query.ts';
import { t } from '../kit/text.ts';
import { dateTime } from '../kit/time.ts';
import { number } from '../kit/units.ts';

const widthPx = 680;

interface Group {
  id: number;
  name: string;
  lines: { kind: string }[];
}
export function GroupAnswers({ group, onClose }: { group: Group; onClose: () => void }) {
  const [visitor, setVisitor] = useState('');
  const [resolver, setResolver] = useState('');
  const [subnet, setSubnet] = useState(true);
  const typed = (text: string) => (isIP(text.trim()) ? text.trim() : undefined);
  const asked = { visitor: typed(visitor), resolver: typed(resolver), subnet };
  return (
    <Drawer open title={t('answers.title', { group: group.name })} size={widthPx} mask={{ blur: false }} onClose={onClose}>
      <p className="ink-2">{t('answers.text')}</p>
      <Input
        className="mono"
        allowClear
        aria-label={t('answers.visitor')}
        placeholder={t('answers.visitor')}
        value={visitor}
        status={visitor.trim() && !isIP(visitor.trim()) ? 'error' : ''}
        onChange={event => setVisitor(event.target.value)}
      />
      <Input
        className="mono"
        style={{ marginTop: 8 }}
        allowClear
        aria-label={t('answers.resolver')}
        placeholder={t('answers.resolver')}
        value={resolver}
        status={resolver.trim() && !isIP(resolver.trim()) ? 'error' : ''}
        onChange={event => setResolver(event.target.value)}
      />
      {asked.resolver !== undefined && (
        <Checkbox style={{ marginTop: 8 }} checked={subnet} onChange={event => setSubnet(event.target.checked)}>
          {t('answers.subnet')}
        </Checkbox>
      )}
      <Now group={group} asked={asked} />
      <Changes groupID={group.id} />
    </Drawer>
  );
}

interface Asked {
  visitor: string | undefined;
  resolver: string | undefined;
  subnet: boolean;
}
const said = ({ a, aaaa, cname }: { a: string[]; aaaa: string[]; cname: string | null }) =>
  cname === null ? [...a, ...aaaa] : [cname];

function Now({ group, asked: { visitor, resolver, subnet } }: { group: Group; asked: Asked }) {
  const { data, error, refetch } = useQuery({
    ...query('GET /client/group/{g}/answer', {
      g: group.id,
      query: {
        ...(visitor === undefined ? {} : { visitor }),
        ...(resolver === undefined ? {} : { resolver, ...(subnet ? {} : { subnet }) }),
      },
    }),
    refetchInterval: polling.nodeListPollMs,
  });
  if (error && !data) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton active title={false} />;
  const addresses = said(data.answer);
  const hasLines = group.lines.some(one => one.kind === 'custom');
  return (
    <section aria-live="polite" style={{ margin: '16px 0 24px' }}>
      <Facts
        facts={[
          [t('answers.judged'), data.judged === null ? t('answers.everybody') : <span className="mono">{data.judged}</span>],
          [
            t('field.line'),
            data.of === null
              ? t('lineKind.default')
              : t('answers.lineOf', { line: data.lineName, network: data.of.replace('continent:', '') }),
          ],
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
