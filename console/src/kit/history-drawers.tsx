/** Drawers about what was: the history of a row that has no form of its own, and the rows of a list that were removed. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { Button, Drawer, Skeleton } from 'antd';
import { call } from './client.ts';
import { Empty, ErrorState } from './empty.tsx';
import HistoryPanel, { holdsSecret } from './history.tsx';
import { type HistoryOf, lastOf, pathOf } from './history-of.ts';
import type { FormField, Params, Resource, Row, Values } from './resource.ts';
import { t, textOf } from './text.ts';
import { dateTime } from './time.ts';
import { valueText } from './value-text.ts';

const widthPx = 640;
const pageSize = 20;

interface HistoryProps {
  title: string;
  of: HistoryOf;
  fields: readonly FormField[];
  params: Params;
  onClose: () => void;
}

export const HistoryDrawer = ({ title, of, fields, params, onClose }: HistoryProps) => (
  <Drawer open title={`${title} · ${t('history.tab')}`} size={widthPx} mask={{ blur: false }} onClose={onClose}>
    {/* longer than the drawer it is scrolled, by keyboard too */}
    <div tabIndex={0} role="group" aria-label={t('history.tab')}>
      <HistoryPanel of={of} fields={fields} params={params} />
    </div>
  </Drawer>
);

interface RemovedProps {
  resource: Resource<never, Row>;
  params: Params;
  /** Closes with the values of the row that is to be made again. */
  onClose: (values?: Values) => void;
}

export function RemovedDrawer({ resource: { list, name, fields = [], rowName }, params, onClose }: RemovedProps) {
  const [resource, parentID] = [pathOf(list), lastOf(list, params)];
  const found = useInfiniteQuery({
    queryKey: ['removed', resource, parentID],
    initialPageParam: 1,
    queryFn: ({ pageParam, signal }) =>
      call(
        'GET /{area}/history/removed',
        { query: { resource, ...(parentID === undefined ? {} : { parentID }), page: pageParam, pageSize } },
        { signal },
      ),
    getNextPageParam: (last, pages) => (pages.length * pageSize < last.total ? pages.length + 1 : undefined),
  });
  const rows = found.data?.pages.flatMap(page => page.data);
  return (
    <Drawer
      open
      title={`${t(`page.${name}`)} · ${t('history.removedRows')}`}
      size={widthPx}
      mask={{ blur: false }}
      onClose={() => onClose()}
    >
      {found.error && !rows ? (
        <ErrorState error={found.error} onRetry={() => void found.refetch()} />
      ) : !rows ? (
        <Skeleton active title={false} paragraph={{ rows: 6 }} />
      ) : !rows.length ? (
        <Empty drawing="nothing" title={t('history.removedNone')}>
          {t('history.removedNoneText')}
        </Empty>
      ) : (
        <section className="history" aria-label={t('history.removedRows')}>
          <ol>
            {rows.map(({ id, at, by, values }) => (
              <li key={id}>
                <header>
                  <b className="history-name">{nameOf(rowName, { ...values, id })}</b>
                  <Button
                    size="small"
                    onClick={() => onClose(Object.fromEntries(Object.entries(values).filter(([, value]) => !holdsSecret(value))))}
                  >
                    {t('history.again')}
                  </Button>
                </header>
                <span className="ink-3">
                  {by === null ? t('history.removedAt', { at: dateTime(at) }) : t('history.removedBy', { at: dateTime(at), by })}
                </span>
                <dl className="history-values">
                  {fields
                    .filter(field => field.name in values && field.kind !== 'custom')
                    .map(field => (
                      <div key={field.name}>
                        <dt>{textOf(`field.${field.label ?? field.name}`) ?? field.name}</dt>
                        <dd>{valueText(field, values[field.name])}</dd>
                      </div>
                    ))}
                </dl>
              </li>
            ))}
          </ol>
          {found.hasNextPage && (
            <Button loading={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
              {t('list.more')}
            </Button>
          )}
        </section>
      )}
    </Drawer>
  );
}

/** A removed row has its stored values alone: a name that is computed falls back to its number. */
function nameOf(rowName: Resource<never, Row>['rowName'], row: Row): string {
  try {
    return rowName?.(row) ?? `#${row.id}`;
  } catch {
    return `#${row.id}`;
  }
}
