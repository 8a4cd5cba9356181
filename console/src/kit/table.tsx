/** The list of a resource. Its address is its state; old rows stay while new ones come; choosing rows replaces the filters by what can be done with them. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Button, Pagination, Table } from 'antd';
import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { paging } from '#contract/limits.ts';
import { plain, tableColumns } from './cells.tsx';
import { ChosenBar } from './chosen-bar.tsx';
import { useChosen } from './chosen.ts';
import { csvOf, download } from './csv.ts';
import { Empty, ErrorState } from './empty.tsx';
import { exportList } from './export.tsx';
import { FilterBar } from './filters.tsx';
import { allRows, rowsAt } from './list-rows.ts';
import { type ListState, queryOf } from './list-state.ts';
import { notify } from './notice.ts';
import { useCan } from './permissions.ts';
import { present } from './present.tsx';
import type { Column, Params, Resource, Row, RowAction } from './resource.ts';
import { isAllowed, RowMenu } from './row-menu.tsx';
import type { Saving } from './save-button.tsx';
import { Stale } from './stale.tsx';
import { stored } from './stored.ts';
import { t, tOf } from './text.ts';
import { codeOf } from './error-code.ts';
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
  change: (part: Partial<ListState>, options?: { replace?: boolean }) => void;
  actions: RowAction<Row>[];
  /** Answers the rows with which it is still to be done: none when all went well. */
  run: (action: RowAction<Row>, rows: Row[]) => Promise<readonly Row[]>;
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

  const scope = JSON.stringify([resource.list, params, resource.query, state.filters]);
  const { chosen, keys, choose, chooseKeys } = useChosen(scope, rows);
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
    if (rows?.length === 0 && total > 0 && state.page > 1)
      change({ page: Math.max(1, Math.ceil(total / state.pageSize)) }, { replace: true });
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
    return action ? () => void runOne(action, row) : undefined;
  });
  if (actions.length)
    columns.push({
      key: 'menu',
      title: '',
      width: 52,
      fixed: 'end',
      render: (_: unknown, row: Row) => <RowMenu row={row} actions={actions} run={runOne} />,
    });
  const width = columns.reduce((sum, column) => sum + Number(column.width), batch.length ? 44 : 0);
  const isFiltered = Object.keys(state.filters).length > 0;

  async function runBatch(action: RowAction<Row>) {
    const allowed = chosen.filter(row => isAllowed(action, row));
    choose(await run(action, allowed));
  }
  async function runOne(action: RowAction<Row>, row: Row) {
    const left = await run(action, [row]);
    if (action.name === 'remove' && !left.length) choose(chosen.filter(({ id }) => id !== row.id));
  }
  async function chooseAll() {
    try {
      choose((await allRows(resource, params, state)).rows);
    } catch (error) {
      present(error);
    }
  }
  const isWholePage = rows !== undefined && rows.length < total && rows.every(row => keys.includes(row.id));

  return (
    <div className="panel" ref={box}>
      {chosen.length > 0 ? (
        <ChosenBar
          chosen={chosen}
          actions={batch}
          more={isWholePage && chosen.length < total ? total : undefined}
          chooseAll={chooseAll}
          clear={() => choose([])}
          run={runBatch}
        />
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
          save={saving => saveList(resource, params, state, shown, saving)}
          create={create}
        />
      )}
      <Stale found={list} />
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
                  selectedRowKeys: keys,
                  // those of other pages too
                  preserveSelectedRowKeys: true,
                  onChange: chooseKeys,
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

/** All that the list finds, as a file; the columns that are shown. */
async function saveList(
  resource: Resource<never, Row>,
  params: Params,
  state: ListState,
  shown: readonly Column<Row>[],
  saving: Saving,
) {
  try {
    const { file } = resource;
    if (file) return await exportList(file.call, { ...params, ...file.input(state) }, saving);
    const { rows, total } = await allRows(resource, params, state, saving.signal);
    if (rows.length < total) notify.info(t('list.csvCut', { count: rows.length }));
    const head = shown.map(column => tOf('field', column.label ?? column.name));
    download(resource.name, csvOf([head, ...rows.map(row => shown.map(column => plain(column, row)))]));
  } catch (error) {
    if (saving.signal.aborted) throw error;
    present(error);
  }
}

const skeleton: Row[] = Array.from({ length: skeletonRows }, (_, index) => ({ id: -1 - index }));
const skeletonCell = () => <span className="skeleton-cell" style={{ height: rowHeight - 26 }} />;
const noPermission = new ApiError({ code: codeOf('permissionDenied'), message: '' });

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
