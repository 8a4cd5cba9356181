/** The fleet at one look: where its nodes stand, how each is, how far behind, and what it does now (§9: the list is asked anew every five seconds). */
import './fleet-view.css';
import { EnvironmentOutlined } from '@ant-design/icons';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Button, Popover, Skeleton, Table, type TableColumnType } from 'antd';
import { type Key, useMemo, useState } from 'react';
import { polling } from '#contract/limits.ts';
import { Status } from '../kit/bits.tsx';
import { call } from '../kit/client.ts';
import { Empty, ErrorState } from '../kit/empty.tsx';
import { FilterInput } from '../kit/filter-input.tsx';
import { later } from '../kit/later.tsx';
import { notify } from '../kit/notice.ts';
import { overlay } from '../kit/overlay.ts';
import { useCan } from '../kit/permissions.ts';
import { PinMap } from '../kit/pieces.ts';
import type { Pin } from '../kit/pin-parts.ts';
import { query } from '../kit/query.ts';
import { asSearch } from '../kit/search.ts';
import { Stale } from '../kit/stale.tsx';
import { t } from '../kit/text.ts';
import { bitRate, bytes, number, percent } from '../kit/units.ts';
import { useNarrow } from '../kit/use-narrow.ts';
import { ago } from './ago.tsx';
import { compare, type FleetNode, fleetSums, pinsOf, saidOf, type SortName } from './fleet-parts.ts';

const NodeDetail = later(async () => (await import('./detail.tsx')).NodeDetail);
const PlaceForm = later(async () => (await import('./place-form.tsx')).PlaceForm);
const virtualAboveRows = 50;
const skeletonRows = 6;
const tablePx = 560;

async function open(id: number) {
  const { data } = await call('GET /client/nodes/initialized', { query: { ids: [id] } });
  const [node] = data;
  if (node) void overlay(close => <NodeDetail node={node} onClose={() => close()} />);
  else notify.error(t('error.rowGone'));
}

function State({ node }: { node: FleetNode }) {
  if (node.troubles.length === 0) return <Status value={node.status} />;
  return (
    <Popover
      trigger={['hover', 'click']}
      placement="bottomLeft"
      content={
        <ul className="fleet-troubles">
          {node.troubles.map(trouble => (
            <li key={trouble}>{trouble}</li>
          ))}
        </ul>
      }
    >
      <button type="button" className="link status">
        <Status value={node.status} />
        <span className="fleet-count">{number(node.troubles.length)}</span>
      </button>
    </Popover>
  );
}

function Lag({ node }: { node: FleetNode }) {
  if (node.behind === 0) return <span className="ink-3">{t('node.upToDate')}</span>;
  return (
    <span>
      <span className="status">
        <span className="status-dot warn" aria-hidden />
        {t('node.behind', { count: number(node.behind) })}
      </span>
      {node.behindSince && <span className="cell-note">{ago(node.behindSince)}</span>}
    </span>
  );
}

function Disk({ disk }: { disk: FleetNode['disk'] }) {
  if (!disk || disk.totalBytes === 0) return <span className="ink-3">–</span>;
  const used = 1 - disk.freeBytes / disk.totalBytes;
  return (
    <span>
      {percent(used)}
      <span className="cell-note">{t('fleet.free', { bytes: bytes(disk.freeBytes) })}</span>
    </span>
  );
}

const nothing = <span className="ink-3">–</span>;
const unknown = () => (
  <span className="ink-3" title={t('fleet.noTraffic')}>
    ?
  </span>
);

const column = (
  name: SortName,
  title: string,
  width: number,
  render: (node: FleetNode) => React.ReactNode,
): TableColumnType<FleetNode> => ({
  key: name,
  title,
  width,
  render: (_, node) => render(node),
  sorter: (a, b) => compare(name, a, b),
  sortDirections: ['descend', 'ascend'],
});

function columnsOf(isNarrow: boolean, isOneZone: boolean): TableColumnType<FleetNode>[] {
  const name = column('name', t('field.name'), 150, node => (
    <>
      <button type="button" className="link" onClick={() => void open(node.id)}>
        {node.name}
      </button>
      <span className="cell-note">{node.place?.name ?? (isOneZone ? '' : node.zoneName)}</span>
    </>
  ));
  const state = column('status', t('field.status'), 120, node => <State node={node} />);
  const traffic = column('traffic', t('fleet.traffic'), 120, node =>
    node.traffic ? (
      <span className="numbers">
        {bitRate(node.traffic.bitsPerSecond)}
        <span className="cell-note">{t('fleet.perSecond', { count: node.traffic.requestsPerSecond.toFixed(1) })}</span>
      </span>
    ) : (
      unknown()
    ),
  );
  // a telephone has no room for widths
  if (isNarrow) return [name, state, traffic].map(one => ({ ...one, width: undefined }));
  const share = (value: number | null | undefined) =>
    value === undefined ? unknown() : value === null ? nothing : percent(value);
  return [
    name,
    state,
    ...(isOneZone ? [] : [column('zone', t('field.zone'), 110, node => node.zoneName)]),
    column('version', t('field.version'), 100, node => <span className="mono">{node.version || '–'}</span>),
    column('behind', t('field.configuration'), 150, node => <Lag node={node} />),
    traffic,
    column('hits', t('fleet.hits'), 90, node => <span className="numbers">{share(node.traffic?.hitShare)}</span>),
    column('errors', t('fleet.errors'), 100, node => (
      <span className="numbers">
        {share(node.traffic?.errorShare)}
        {!!node.traffic?.errors && <span className="cell-note bad">{number(node.traffic.errors)}</span>}
      </span>
    )),
    column('disk', t('fleet.disk'), 110, node => (
      <span className="numbers">
        <Disk disk={node.disk} />
      </span>
    )),
  ];
}

export function Fleet({ zoneID }: { zoneID: number | undefined }) {
  const can = useCan();
  const isNarrow = useNarrow();
  const navigate = useNavigate();
  const found = useQuery({
    ...query('GET /client/nodes/fleet', { query: zoneID === undefined ? {} : { zoneID } }),
    staleTime: 0,
    placeholderData: keepPreviousData,
    refetchInterval: polling.nodeListPollMs,
  });
  const [shown, show] = useState<readonly Pin[]>([]);
  const [chosen, choose] = useState<Key[]>([]);
  const all = found.data?.nodes;
  const pins = useMemo(() => all && pinsOf(all), [all]);
  const places = new Set(shown.map(pin => pin.id));
  const rows = places.size ? all?.filter(node => places.has(node.id)) : all;
  const mayPlace = can('PUT /client/nodes/place');
  const place = async (nodes: readonly FleetNode[]) => {
    await overlay(close => <PlaceForm nodes={nodes} onClose={() => close()} />);
    choose([]);
    void found.refetch();
  };

  if (found.error && !found.data) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />;
  const unplaced = all?.filter(node => !node.place) ?? [];
  const picked = all?.filter(node => chosen.includes(node.id)) ?? [];
  return (
    <div className="fleet">
      <Stale found={found} />
      <div className="toolbar">
        <FilterInput
          filter={{ name: 'zoneID', kind: 'select', from: 'GET /client/metaZones' }}
          params={{}}
          filters={zoneID === undefined ? {} : { zoneID }}
          onChange={value => {
            show([]);
            void navigate({
              to: '.',
              search: asSearch({ tab: 'fleet', ...(typeof value === 'number' ? { zoneID: value } : {}) }),
            });
          }}
          onRange={() => {}}
        />
        {found.data && found.data.total > found.data.nodes.length && (
          <span className="ink-3">
            {t('fleet.more', { shown: number(found.data.nodes.length), total: number(found.data.total) })}
          </span>
        )}
      </div>
      <PinMap
        title={t('fleet.map')}
        summary={all && fleetSums(all)}
        {...(pins ? { pins } : {})}
        said={some => saidOf(some)}
        chosen={shown.map(pin => pin.id)}
        onChoose={some => {
          const [only, ...more] = some;
          if (only && more.length === 0) void open(only.id);
          else show(some.every(pin => places.has(pin.id)) && some.length === places.size ? [] : some);
        }}
      />
      {mayPlace && unplaced.length > 0 && (
        <p className="fleet-note">
          {t('fleet.unplaced', { count: number(unplaced.length) })}{' '}
          <button type="button" className="link" onClick={() => void place(unplaced)}>
            {t('fleet.setPlace')}
          </button>
        </p>
      )}
      {/* with the rows a line may come above: what waited for them goes, and nothing jumps */}
      <div className="panel" key={all ? 'rows' : 'wait'}>
        <div className="fleet-bar">
          {places.size > 0 && (
            <span>
              {t('fleet.atPlace', { count: number(places.size) })}{' '}
              <button type="button" className="link" onClick={() => show([])}>
                {t('fleet.showAll')}
              </button>
            </span>
          )}
          {mayPlace && picked.length > 0 && (
            <Button icon={<EnvironmentOutlined />} onClick={() => void place(picked)}>
              {t('fleet.setPlaceOf', { count: number(picked.length) })}
            </Button>
          )}
        </div>
        {all?.length === 0 ? (
          <Empty drawing="nothing" title={t('fleet.empty')}>
            {t('empty.nodes')}
          </Empty>
        ) : !rows ? (
          <Skeleton active title={false} paragraph={{ rows: skeletonRows }} style={{ padding: 16 }} />
        ) : (
          <Table<FleetNode>
            rowKey="id"
            size="small"
            columns={columnsOf(isNarrow, zoneID !== undefined)}
            dataSource={[...rows].sort((a, b) => compare('name', a, b))}
            pagination={false}
            showSorterTooltip={false}
            virtual={rows.length > virtualAboveRows}
            scroll={rows.length > virtualAboveRows ? { x: isNarrow ? 340 : 1050, y: tablePx } : isNarrow ? {} : { x: 1050 }}
            tableLayout="fixed"
            {...(mayPlace && !isNarrow ? { rowSelection: { selectedRowKeys: chosen, onChange: choose, columnWidth: 40 } } : {})}
          />
        )}
      </div>
    </div>
  );
}
