/** Which nodes serve the last change, and how long that took: "applied: 2 of 2 nodes, 140 ms". */
import { useQuery } from '@tanstack/react-query';
import { Popover } from 'antd';
import type { AnswerOf } from '../kit/client.ts';
import { query } from '../kit/query.ts';
import { Status } from '../kit/bits.tsx';
import { t } from '../kit/text.ts';
import { dateTime } from '../kit/time.ts';
import { milliseconds, number } from '../kit/units.ts';

/** Quick while a change is on its way; slow when all nodes have it, and when somebody has to mend something first. */
const quickMs = 700;
const slowMs = 15_000;

/** Of a list its page's name; what is no list of the site is named here. */
const named = ['module', 'certificate', 'challenge', 'port', 'site', 'domain', 'zone', 'node', 'origin'] as const;
type Kind = AnswerOf<'GET /{area}/site/{siteID}/applied'>['errors'][number]['kind'];
const isNamed = (kind: Kind): kind is (typeof named)[number] => named.some(one => one === kind);
const kindText = (kind: Kind) => (isNamed(kind) ? t(`appliedKind.${kind}`) : t(`page.${kind}`));

type Lag = NonNullable<AnswerOf<'GET /{area}/site/{siteID}/applied'>['perNode'][number]['lag']>;

/** Why a node does not serve the change, since when, and in its operator's area what it says itself. */
function LagText({ lag: { why, since, count, detail } }: { lag: Lag }) {
  return (
    <div className={why === 'refused' || why === 'ill' ? 'bad' : 'ink-2'}>
      {why === 'behind' ? t('lag.behind', { count: number(count ?? 0) }) : t(`lag.${why}`)}
      {since && <span className="ink-3"> · {t('lag.since', { time: dateTime(since) })}</span>}
      {detail && <div className="applied-detail">{detail}</div>}
    </div>
  );
}

export function Applied({ siteID }: { siteID: number }) {
  const { data } = useQuery({
    ...query('GET /{area}/site/{siteID}/applied', { siteID }),
    staleTime: 0,
    refetchInterval: ({ state: { data } }) => (data && data.applied < data.nodes && data.errors.length === 0 ? quickMs : slowMs),
  });
  if (!data)
    return (
      <span className="status applied ink-3">
        <span className="status-dot idle" aria-hidden />
        {t('page.loading')}
      </span>
    );
  const isDone = data.applied >= data.nodes;
  const counts = { nodes: data.nodes, applied: data.applied };
  const text =
    data.nodes === 0
      ? t('applied.none')
      : !isDone
        ? t('applied.some', counts)
        : data.ms === null
          ? t('applied.allNoTime', counts)
          : t('applied.all', { ...counts, time: milliseconds(data.ms) });
  return (
    <Popover
      placement="bottomLeft"
      content={
        <ul className="applied-list">
          {data.perNode.map(node => (
            <li key={node.nodeID}>
              <Status value={node.status} /> <strong>{node.name}</strong>{' '}
              <span className="ink-3">{node.ms === null ? '–' : milliseconds(node.ms)}</span>
              {node.lag && <LagText lag={node.lag} />}
              {node.refused > 0 && node.lag?.why !== 'refused' && (
                <div className="bad">{t('applied.refused', { count: number(node.refused) })}</div>
              )}
              {node.unknownFields > 0 && (
                <div className="ink-3">{t('applied.unknownFields', { count: number(node.unknownFields) })}</div>
              )}
            </li>
          ))}
          {data.errors.map(error => (
            <li key={`${error.kind} ${error.id} ${error.message}`} className="bad">
              {kindText(error.kind)}: {error.rule ? t(`appliedError.${error.rule}`, error.params ?? {}) : error.message}
            </li>
          ))}
        </ul>
      }
    >
      <button type="button" className="status applied">
        <span className={`status-dot ${data.errors.length ? 'bad' : isDone && data.nodes ? 'good' : 'warn'}`} aria-hidden />
        {text}
        {data.errors.length > 0 && ` · ${t('applied.errors', { count: data.errors.length })}`}
      </button>
    </Popover>
  );
}
