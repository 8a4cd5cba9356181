/** The list of a resource. Its address is its state; old rows stay while new ones come; choosing rows replaces the filters by what can be done with them. */
import { MoreOutlined } from '@ant-design/icons';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Button, Dropdown, Pagination, Table } from 'antd';
import { type Key, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { paging } from '#contract/limits.ts';
import { plain, tableColumns } from './cells.tsx';
import { callAny } from './client.ts';
import { csvOf, download } from './csv.ts';
import { Empty, ErrorState } from './empty.tsx';
import { FilterBar } from './filters.tsx';
import { type ListState, queryOf } from './list-state.ts';
import { notify } from './notice.ts';
import { useCan } from './permissions.ts';
import { present } from './present.tsx';
import type { Column, Params, Resource, Row, RowAction } from './resource.ts';
import { stored } from './stored.ts';
import { t, tOf } from './text.ts';
import { ApiError } from './transport.ts';
import { useNarrow } from './use-narrow.ts';

const virtualAboveRows = 50;
const rowHeight = 38;
/** header of the table, footer with the pages, margin of the page */
const belowTablePx = 130;
const skeletonRows = 8;

interface TableProps {
  resource: Resource<never, Row>;
  params: Params;
  state: ListState;
  change: (part: Partial<ListState>) => void;
  actions: RowAction<Row>[];
  run: (action: RowAction<Row>, rows: Row[]) => Promise<boolean>;
  /** At the end of the filter bar. */
  create?: React.ReactNode;
  /** Where there is nothing yet. */
  emptyAction?: React.ReactNode;
}

export function ResourceTable({ resource, params, state, change, actions, run, create, emptyAction }: TableProps) {
  const can = useCan();
  const isNarrow = useNarrow();
  const list = useQuery({
    queryKey: [resource.list, { ...params, query: { ...resource.query, ...queryOf(state) } }],
    queryFn: ({ signal }) => rowsAt(resource, params, state, signal),
    placeholderData: keepPreviousData,
    refetchInterval: pollOf(resource) as number | false | undefined,
    enabled: can(resource.list),
  });
  const rows = list.data?.data;
  const total = list.data?.total ?? 0;
  const isVirtual = (rows?.length ?? 0) > virtualAboveRows;

  const [chosen, setChosen] = useState<Key[]>([]);
  const chosenRows = useMemo(() => rows?.filter(row => chosen.includes(row.id)) ?? [], [rows, chosen]);
  const [hidden, setHidden] = useHiddenColumns(resource.name, resource.columns);
  const batch = actions.filter(action => action.isBatch);

  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(170);
  useLayoutEffect(() => {
    const table = box.current?.querySelector('.ant-table-wrapper');
    if (table) setTop(Math.round(table.getBoundingClientRect().top));
  }, [isVirtual]);

  // Someone deleted the last row of the last page.
  useEffect(() => {
    if (rows?.length === 0 && total > 0 && state.page > 1) change({ page: Math.max(1, Math.ceil(total / state.pageSize)) });
  }, [rows, total, state, change]);

  if (!can(resource.list))
    return (
      <div className="panel">
        <ErrorState error={noPermission} />
      </div>
    );

  const shown = resource.columns.filter(column => !hidden.includes(column.name));
  const columns = tableColumns(shown, state, isNarrow, (name, row: Row) => {
    // a row that cannot be edited opens to be read
    const names = name === 'edit' ? ['edit', 'view'] : [name];
    const action = actions.find(one => names.includes(one.name) && isAllowed(one, row));
    return action ? () => void run(action, [row]) : undefined;
  });
  if (actions.length)
    columns.push({
      key: 'menu',
      title: '',
      width: 52,
      fixed: 'end',
      render: (_: unknown, row: Row) => <RowMenu row={row} actions={actions} run={run} />,
    });
  const width = columns.reduce((sum, column) => sum + Number(column.width), batch.length ? 44 : 0);
  const isFiltered = Object.keys(state.filters).length > 0;

  async function runBatch(action: RowAction<Row>) {
    const allowed = chosenRows.filter(row => isAllowed(action, row));
    if (await run(action, allowed)) setChosen([]);
  }

  return (
    <div className="panel" ref={box}>
      {chosenRows.length > 0 ? (
        <div className="toolbar toolbar-chosen" role="toolbar" aria-label={t('list.chosen', { count: chosenRows.length })}>
          <strong>{t('list.chosen', { count: chosenRows.length })}</strong>
          {batch.map(action => (
            <Button
              key={action.name}
              size="small"
              danger={action.isDanger}
              disabled={!chosenRows.some(row => isAllowed(action, row))}
              title={chosenRows.length === 1 ? action.why?.(chosenRows[0]!) : undefined}
              onClick={() => void runBatch(action)}
            >
              {t(`action.${action.name}`)}
            </Button>
          ))}
          <span className="grow" />
          <Button size="small" type="text" onClick={() => setChosen([])}>
            {t('list.clearChosen')}
          </Button>
        </div>
      ) : (
        <FilterBar
          resource={resource}
          params={params}
          state={state}
          change={change}
          refresh={() => void list.refetch()}
          isFetching={list.isFetching}
          hidden={hidden}
          setHidden={setHidden}
          save={() => saveList(resource, params, state, shown)}
          create={create}
        />
      )}
      {list.error && !rows ? (
        <ErrorState error={list.error} onRetry={() => void list.refetch()} />
      ) : rows && rows.length === 0 ? (
        isFiltered ? (
          <Empty
            drawing="noMatch"
            title={t('empty.noMatch')}
            action={<Button onClick={() => change({ filters: {} })}>{t('list.clearFilters')}</Button>}
          >
            {t('empty.noMatchText')}
          </Empty>
        ) : (
          <Empty drawing="nothing" title={t('empty.nothing')} action={emptyAction}>
            {t(`empty.${resource.empty ?? resource.name}`)}
          </Empty>
        )
      ) : (
        <Table<Row>
          size="middle"
          rowKey={(resource.rowKey ?? 'id') as 'id'}
          className={list.isPending ? 'is-skeleton' : undefined}
          columns={list.isPending ? columns.map(column => ({ ...column, render: skeletonCell })) : columns}
          dataSource={rows ?? skeleton}
          pagination={false}
          virtual={isVirtual}
          scroll={isVirtual ? { x: width, y: Math.max(320, innerHeight - top - belowTablePx) } : { x: width }}
          rowSelection={
            batch.length
              ? {
                  selectedRowKeys: chosen,
                  onChange: setChosen,
                  columnWidth: 44,
                  fixed: !isNarrow,
                  getTitleCheckboxProps: () => ({ 'aria-label': t('list.chooseAll') }),
                  getCheckboxProps: row =>
                    // the rows of a skeleton have no names
                    list.isPending
                      ? { disabled: true, 'aria-label': t('page.loading') }
                      : { 'aria-label': resource.rowName?.(row) ?? String(row.id) },
                }
              : undefined
          }
          onChange={(_pages, _filters, sorter) => {
            const { columnKey, order } = Array.isArray(sorter) ? sorter[0]! : sorter;
            change(
              order
                ? { sortBy: String(columnKey), orderBy: order === 'descend' ? 'desc' : 'asc' }
                : { sortBy: undefined, orderBy: undefined },
            );
          }}
        />
      )}
      {rows && total > 0 && (
        <div className="table-footer">
          <span className="ink-3">{t('list.total', { count: total })}</span>
          <span className="grow" />
          <Pagination
            size="small"
            current={state.page}
            pageSize={state.pageSize}
            total={total}
            showSizeChanger={{ 'aria-label': t('list.pageSize') }}
            pageSizeOptions={[...paging.pageSizes]}
            showLessItems={isNarrow}
            onChange={(page, pageSize) => change(pageSize === state.pageSize ? { page } : { page: 1, pageSize })}
          />
        </div>
      )}
    </div>
  );
}

/** What a state of the list finds. */
function rowsAt(resource: Resource<never, Row>, params: Params, state: ListState, signal?: AbortSignal) {
  const input = resource.input?.(state) ?? { query: { ...resource.query, ...queryOf(state) } };
  return callAny<{ data: Row[]; total: number }>(resource.list, { ...params, ...input }, { signal });
}

/** So many rows a file holds. */
const savedPages = 20;

/** All that the list finds with its filters and in its order, on every page of it; the columns that are shown. */
async function saveList(resource: Resource<never, Row>, params: Params, state: ListState, shown: readonly Column<Row>[]) {
  const pageSize = paging.pageSizeMax;
  const rows: Row[] = [];
  try {
    for (let page = 1, total = 1; rows.length < total && page <= savedPages; page++) {
      const answer = await rowsAt(resource, params, { ...state, page, pageSize });
      rows.push(...answer.data);
      total = answer.data.length ? answer.total : 0;
      if (page === savedPages && rows.length < total) notify.info(t('list.csvCut', { count: rows.length }));
    }
  } catch (error) {
    return void present(error);
  }
  const head = shown.map(column => tOf('field', column.label ?? column.name));
  download(resource.name, csvOf([head, ...rows.map(row => shown.map(column => plain(column, row)))]));
}

const skeleton: Row[] = Array.from({ length: skeletonRows }, (_, index) => ({ id: -1 - index }));
const skeletonCell = () => <span className="skeleton-cell" style={{ height: rowHeight - 26 }} />;
const isAllowed = (action: RowAction<Row>, row: Row) => (action.when?.(row) ?? true) && action.why?.(row) === undefined;
const noPermission = new ApiError({ code: 101018, message: '' });

const MenuLabel = ({ text, why }: { text: string; why: string }) => (
  <>
    {text}
    <small className="menu-why">{why}</small>
  </>
);

function RowMenu({ row, actions, run }: { row: Row; actions: RowAction<Row>[]; run: TableProps['run'] }) {
  const items = actions
    .filter(action => action.when?.(row) ?? true)
    .map(action => {
      const why = action.why?.(row);
      return {
        key: action.name,
        label: why ? <MenuLabel text={t(`action.${action.name}`)} why={why} /> : t(`action.${action.name}`),
        danger: action.isDanger,
        disabled: why !== undefined,
        onClick: () => void run(action, [row]),
      };
    });
  if (!items.length) return null;
  return (
    <Dropdown trigger={['click']} placement="bottomRight" menu={{ items }}>
      <Button type="text" size="small" icon={<MoreOutlined />} aria-label={t('list.more')} />
    </Dropdown>
  );
}

/** Which columns are shown is remembered per list. */
function useHiddenColumns(name: string, columns: readonly Column<Row>[]) {
  const kept = stored(`columns.${name}`);
  const [hidden, setHidden] = useState<string[]>(() => {
    const value = kept.get();
    return value === null
      ? columns.filter(column => column.isOptional).map(column => column.name)
      : value.split(',').filter(Boolean);
  });
  return [
    hidden,
    (next: string[]) => {
      setHidden(next);
      kept.set(next.join(','));
    },
  ] as const;
}

/** The poll of a list as react-query wants it. */
function pollOf({ pollMs }: Resource<never, Row>) {
  if (typeof pollMs !== 'function') return pollMs;
  return ((asked: { state: { data?: { data: Row[] } } }) => pollMs(asked.state.data?.data ?? [])) as unknown;
}
