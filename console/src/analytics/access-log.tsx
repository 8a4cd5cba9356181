/** Every request, newest first. */
import './analytics.css';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Button, Pagination, Table, type TableColumnType } from 'antd';
import { useMemo, useRef, useState } from 'react';
import { paging } from '#contract/limits.ts';
import { ruleText } from '#contract/rules/rule.ts';
import { ofArea } from '../kit/of-area.ts';
import { call } from '../kit/client.ts';
import { Empty, ErrorState } from '../kit/empty.tsx';
import { later } from '../kit/later.tsx';
import { Page } from '../kit/page.tsx';
import { useCan } from '../kit/permissions.ts';
import { query } from '../kit/query.ts';
import { Stale } from '../kit/stale.tsx';
import { language, t, textOf } from '../kit/text.ts';
import { dateOnly } from '../kit/time.ts';
import { bytes, milliseconds } from '../kit/units.ts';
import { useNarrow } from '../kit/use-narrow.ts';
import { blockWords, StatusWords } from './log-words.tsx';
import { liveSeconds, LogFilters, useSites } from './log-filters.tsx';
import { cacheOf, clockOf, keyOf, type LogLine } from './log-line.ts';
import { bodyOf, isFiltered, type LogProblem, logStateOf, type LogState, noFilters, problemOf, searchOf } from './log-query.ts';
import { asSearch } from '../kit/search.ts';

// The drawer is loaded when the first line is opened.
const LogDetail = later(async () => (await import('./log-detail.tsx')).default);
const virtualAboveRows = 50;
const skeletonRows = 12;
/** What stands above and below the lines. */
const aroundPx = 300;

export default function AccessLog() {
  const isNarrow = useNarrow();
  const search = useSearch({ strict: false }) as Record<string, unknown>;
  const navigate = useNavigate();
  const state = useMemo(() => logStateOf(search), [search]);
  // each change is an entry of the history; the lines of an open drawer, read one after the other, are one
  const change = (part: Partial<LogState>) => {
    const isPaging = 'page' in part || 'request' in part;
    const next = { ...state, ...(isPaging ? {} : { page: 1 }), ...part };
    const isNext = !!part.request && !!state.request;
    void navigate({ to: '.', search: asSearch(searchOf(next)), replace: isNext });
  };

  const problem = problemOf(state);
  // A relative range ends when page 1 was asked: the pages behind it go on from there, or lines would show up twice.
  const end = useRef(0);
  const { request: _open, isLive: _live, ...asked } = state;
  const list = useQuery({
    queryKey: ['accessLog', asked],
    enabled: !problem,
    queryFn: ({ signal }) => {
      if (state.page === 1 || !end.current) end.current = Date.now();
      const body = bodyOf(state, end.current);
      return call('POST /{area}/logs/access', { query: { page: state.page, pageSize: state.pageSize }, body }, { signal });
    },
    placeholderData: keepPreviousData,
    refetchInterval: state.isLive && state.page === 1 && !state.request ? liveSeconds * 1000 : false,
  });
  const refresh = () => {
    if (state.page === 1) void list.refetch();
    else change({ page: 1 });
  };
  const rows = problem ? undefined : list.data?.data;
  const total = list.data?.total ?? 0;

  return (
    <Page>
      <div className="panel">
        <LogFilters state={state} change={change} problem={problem} refresh={refresh} isFetching={list.isFetching} />
        {!problem && <Stale found={list} />}
        {problem ? (
          <p className="log-problem" role="alert">
            {problemText(problem)}
          </p>
        ) : list.error && !rows ? (
          <ErrorState
            error={list.error}
            onRetry={() => void list.refetch()}
            back={{ href: location.pathname, text: t('list.clearFilters') }}
          />
        ) : rows?.length === 0 ? (
          <Nothing state={state} change={change} />
        ) : (
          <Lines rows={rows} isNarrow={isNarrow} open={line => change({ request: line.requestID })} />
        )}
        {rows !== undefined && total > 0 && (
          <div className="table-footer">
            <span className="ink-3 numbers">{t('list.total', { count: total.toLocaleString('en-US') })}</span>
            <span className="grow" />
            <Pagination
              size="small"
              current={state.page}
              pageSize={state.pageSize}
              total={total}
              showSizeChanger={{ 'aria-label': t('list.pageSize') }}
              pageSizeOptions={[...paging.pageSizes]}
              showLessItems={isNarrow}
              onChange={(page, pageSize) => change(pageSize === state.pageSize ? { page, isLive: false } : { page: 1, pageSize })}
            />
          </div>
        )}
      </div>
      {rows && state.request && <Open rows={rows} id={state.request} change={change} />}
    </Page>
  );
}

function problemText({ field, rule }: LogProblem) {
  if (rule) return ruleText(rule, language);
  return t(field === 'ip' ? 'log.wrongIP' : field === 'status' ? 'log.wrongStatus' : 'log.pickRange');
}

function Nothing({ state, change }: { state: LogState; change: (part: Partial<LogState>) => void }) {
  if (isFiltered(state))
    return (
      <Empty
        drawing="noMatch"
        title={t('empty.noMatch')}
        action={<Button onClick={() => change(noFilters)}>{t('list.clearFilters')}</Button>}
      >
        {t('empty.noMatchText')}
      </Empty>
    );
  return (
    <Empty
      drawing="nothing"
      title={t('log.nothing')}
      action={state.range !== 'last24h' && <Button onClick={() => change({ range: 'last24h' })}>{t('log.wider')}</Button>}
    >
      {t('log.nothingText')}
    </Empty>
  );
}

/** A customer is told of no node. */
const seesNodes = ofArea({ user: false, client: true });

/** The drawer keeps its line even when the list has moved on below it. */
function Open({ rows, id, change }: { rows: readonly LogLine[]; id: string; change: (part: Partial<LogState>) => void }) {
  const sites = useSites();
  const can = useCan();
  const hasNodes = seesNodes && can('GET /client/metaNodes');
  const nodes = useQuery({ ...query('GET /client/metaNodes', {}), enabled: hasNodes });
  const [kept, keep] = useState<LogLine>();
  const index = rows.findIndex(row => row.requestID === id);
  const line = rows[index] ?? (kept?.requestID === id ? kept : undefined);
  if (line && line !== kept) keep(line);
  if (!line) return null;
  const to = (row: LogLine | undefined) => row && (() => change({ request: row.requestID }));
  return (
    <LogDetail
      line={line}
      siteName={sites.data?.find(site => site.id === line.siteID)?.siteName}
      // a node that is gone has its number left
      nodeName={hasNodes ? (nodes.data?.find(node => node.id === line.nodeID)?.name ?? `#${line.nodeID}`) : undefined}
      only={part => change({ ...part, request: undefined, page: 1 })}
      previous={index > 0 ? to(rows[index - 1]) : undefined}
      next={index >= 0 ? to(rows[index + 1]) : undefined}
      onClose={() => change({ request: undefined })}
    />
  );
}

function columnsOf(isNarrow: boolean, open: (line: LogLine) => void): TableColumnType<LogLine>[] {
  const time = (line: LogLine) => (
    <button type="button" className="link mono" onClick={() => open(line)} title={dateOnly(new Date(line.time))}>
      {isNarrow ? clockOf(line.time).slice(0, 8) : `${dateOnly(new Date(line.time)).slice(5)} ${clockOf(line.time)}`}
    </button>
  );
  const status = (line: LogLine) => <StatusWords status={line.status} />;
  if (isNarrow)
    return [
      { key: 'time', title: t('logField.time'), width: 78, render: (_, line) => time(line) },
      { key: 'status', title: t('logField.status'), width: 62, render: (_, line) => status(line) },
      {
        key: 'uri',
        title: t('logField.uri'),
        width: 190,
        render: (_, line) => (
          <>
            <span className="mono log-short log-short-main">{`${line.method} ${line.uri}`}</span>
            <span className="log-short">{[line.remoteIP, cacheOf(line), blockWords(line)].filter(Boolean).join(' · ')}</span>
          </>
        ),
      },
    ];
  const mono = (text: string) => (text ? <span className="mono">{text}</span> : <span className="ink-3">–</span>);
  return [
    { key: 'time', title: t('logField.time'), width: 142, fixed: 'start', render: (_, line) => time(line) },
    {
      key: 'status',
      title: t('logField.status'),
      width: 70,
      render: (_, line) => <span title={textOf(`ownStatus.${line.status}`)}>{status(line)}</span>,
    },
    { key: 'method', title: t('logField.method'), width: 68, render: (_, line) => mono(line.method) },
    { key: 'domain', title: t('logField.domain'), width: 152, ellipsis: true, render: (_, line) => mono(line.domain) },
    { key: 'uri', title: t('logField.uri'), width: 220, ellipsis: true, render: (_, line) => mono(line.uri) },
    { key: 'remoteIP', title: t('logField.remoteIP'), width: 118, ellipsis: true, render: (_, line) => mono(line.remoteIP) },
    {
      key: 'cache',
      title: t('logField.cacheStatus'),
      width: 108,
      render: (_, line) => (cacheOf(line) === '-' ? <span className="ink-3">–</span> : mono(cacheOf(line))),
    },
    { key: 'bytes', title: t('logField.bytes'), width: 84, align: 'end', render: (_, line) => bytes(line.bytes) },
    {
      key: 'rt',
      title: t('logField.requestTimeMs'),
      width: 76,
      align: 'end',
      render: (_, line) => milliseconds(line.requestTimeMs),
    },
    {
      key: 'reason',
      title: t('logField.reason'),
      width: 120,
      className: 'log-reason',
      ellipsis: true,
      render: (_, line) => blockWords(line) || <span className="ink-3">–</span>,
    },
  ];
}

const skeleton = Array.from({ length: skeletonRows }, (_, index) => ({ requestID: `${index}`, time: '' }) as LogLine);
const skeletonCell = () => <span className="skeleton-cell" style={{ height: 12 }} />;

function Lines({
  rows,
  isNarrow,
  open,
}: {
  rows: readonly LogLine[] | undefined;
  isNarrow: boolean;
  open: (line: LogLine) => void;
}) {
  const columns = columnsOf(isNarrow, open).map(column => (rows ? column : { ...column, render: skeletonCell }));
  const width = columns.reduce((sum, column) => sum + Number(column.width), 0);
  const isVirtual = (rows?.length ?? 0) > virtualAboveRows;
  return (
    <Table<LogLine>
      size="middle"
      rowKey={keyOf}
      columns={columns}
      dataSource={(rows ?? skeleton) as LogLine[]}
      pagination={false}
      virtual={isVirtual}
      scroll={isVirtual ? { x: width, y: Math.max(360, innerHeight - aroundPx) } : isNarrow ? undefined : { x: width }}
      tableLayout="fixed"
      rowClassName={rows ? 'log-row' : ''}
      onRow={line => ({
        onClick: event => {
          // Whoever marks a text wants the text; the button opens by itself.
          if (!rows || getSelection()?.toString() || (event.target as HTMLElement).closest('button')) return;
          open(line);
        },
      })}
    />
  );
}
