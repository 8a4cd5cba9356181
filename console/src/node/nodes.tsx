/** Nodes: those that serve a zone, and those that have joined and wait for one. */
import './fleet.css';
import { PlusOutlined } from '@ant-design/icons';
import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { Button } from 'antd';
import { nodeTypes, polling } from '#contract/limits.ts';
import { nodeStates } from '#contract/states.ts';
import { inPlace, later } from '../kit/later.tsx';
import { overlay } from '../kit/overlay.ts';
import { Page } from '../kit/page.tsx';
import { useCan } from '../kit/permissions.ts';
import { query } from '../kit/query.ts';
import { act, type Column, type Filter, options, resource, type Resource, type RowAction } from '../kit/resource.ts';
import { ResourcePage } from '../kit/resource-page.tsx';
import { t } from '../kit/text.ts';
import { bitRate } from '../kit/units.ts';
import { Addresses } from './addresses.tsx';
import { Ago } from './ago.tsx';
import { initialize } from './initialize.tsx';
import { settingActions } from './node-actions.ts';
import { NodeState } from './node-state.tsx';
import { type Node, why } from './state.ts';
import { Refused, SetAsideCount, Sync } from './sync.tsx';
import { asSearch } from '../kit/search.ts';

const JoinDialog = later(async () => (await import('./join.tsx')).JoinDialog);
const Fleet = inPlace(async () => (await import('./fleet.tsx')).Fleet);
const NodeDetail = later(async () => (await import('./detail.tsx')).NodeDetail);

const idsOf = (nodes: Node[]) => nodes.map(node => node.id);
const join = (zoneID?: number) =>
  void overlay(close => (
    <JoinDialog
      zoneID={zoneID}
      onClose={() => close()}
      onInitialize={node => {
        close();
        void initialize([node]);
      }}
    />
  ));

function JoinButton() {
  const can = useCan();
  const { zoneID } = useSearch({ strict: false }) as { zoneID?: number };
  if (!can('POST /client/nodes/joinToken')) return null;
  return (
    <Button type="primary" icon={<PlusOutlined />} onClick={() => join(zoneID)}>
      {t('action.join')}
    </Button>
  );
}

const name: Column<Node> = { name: 'name', sort: true, link: 'detail', width: 150 };
const addresses: Column<Node> = { name: 'addresses', width: 150, render: node => <Addresses values={node.addresses} /> };
const version: Column<Node> = { name: 'version', kind: 'mono', sort: true, width: 90 };
const lastBeat: Column<Node> = { name: 'lastBeat', sort: true, width: 120, render: node => <Ago time={node.lastBeat} /> };
const last: Column<Node>[] = [
  { name: 'memo', width: 150, isOptional: true },
  { name: 'type', kind: 'option', texts: 'nodeType', isOptional: true },
  { name: 'portType', kind: 'option', texts: 'portType', isOptional: true },
  { name: 'bandwidth', width: 110, isOptional: true, render: node => (node.bandwidth === null ? '–' : bitRate(node.bandwidth)) },
  {
    name: 'subs',
    isOptional: true,
    render: node => <Addresses values={node.subs.map(({ address }) => address)} />,
  },
  { name: 'startedAt', kind: 'time', isOptional: true },
  { name: 'createdAt', kind: 'time', sort: true, isOptional: true },
  { name: 'id', kind: 'number', isOptional: true },
];
const search: Filter = { name: 'keyword', kind: 'search' };

const detail: RowAction<Node> = {
  name: 'detail',
  run: ([node]) => overlay(close => <NodeDetail node={node!} onClose={() => close()} />),
};

const clearing = () => ({ success: t('message.cacheClearSuccess'), failed: t('message.cacheClearFailed') });

const shared = {
  name: 'nodes',
  defaultSort: 'name',
  pollMs: polling.nodeListPollMs,
  rowName: (node: Node) => node.name,
  update: 'PATCH /client/node',
  remove: 'DELETE /client/node',
  removal: 'destructive',
  fields: [
    { name: 'name', kind: 'text' },
    { name: 'type', kind: 'select', help: 'nodeType', ...options(nodeTypes, 'nodeType') },
    { name: 'memo', kind: 'area' },
    { name: 'forceBackup', kind: 'switch', help: 'forceBackup' },
  ],
} satisfies Partial<Resource<'GET /client/nodes', Node>>;

const initialized = resource<'GET /client/nodes/initialized'>({
  ...shared,
  list: 'GET /client/nodes/initialized',
  columns: [
    name,
    { name: 'status', sort: true, width: 140, render: node => <NodeState node={node} /> },
    { name: 'zoneName', width: 100 },
    addresses,
    lastBeat,
    { name: 'behind', label: 'configuration', width: 136, render: node => <Sync node={node} /> },
    { name: 'refused', width: 92, render: node => <Refused node={node} /> },
    { name: 'aside', width: 120, render: node => <SetAsideCount node={node} /> },
    version,
    ...last,
  ],
  filters: [
    search,
    { name: 'zoneID', kind: 'select', from: 'GET /client/metaZones' },
    {
      name: 'status',
      kind: 'select',
      ...options(
        nodeStates.filter(state => state !== 'uninitialized'),
        'state',
      ),
    },
  ],
  actions: [
    detail,
    act('PATCH /client/node/status', {
      name: 'resume',
      isBatch: true,
      why: why('resume'),
      body: nodes => ({ ids: idsOf(nodes), status: 'normal' }),
    }),
    act('PATCH /client/node/status', {
      name: 'pause',
      isBatch: true,
      level: 'disruptive',
      warning: 'pauseNode',
      why: why('pause'),
      body: nodes => ({ ids: idsOf(nodes), status: 'paused' }),
    }),
    act('POST /client/nodes/log/rotate', {
      name: 'rotateLog',
      isBatch: true,
      why: why('rotateLog'),
      body: nodes => ({ ids: idsOf(nodes) }),
      task: () => ({ success: t('node.rotated'), failed: t('node.notRotated') }),
    }),
    act('DELETE /client/node/currentCache', {
      name: 'clearCurrentCache',
      isBatch: true,
      level: 'disruptive',
      warning: 'clearCurrentCache',
      why: why('clearCache'),
      body: nodes => ({ ids: idsOf(nodes) }),
      task: clearing,
    }),
    act('DELETE /client/node/cache', {
      name: 'clearNodeCache',
      isBatch: true,
      level: 'disruptive',
      warning: 'clearNodeCache',
      why: why('clearCache'),
      body: nodes => ({ ids: idsOf(nodes) }),
      task: clearing,
    }),
    act('POST /client/node/reboot', {
      name: 'rebootNode',
      isBatch: true,
      level: 'disruptive',
      warning: 'rebootNode',
      why: why('reboot'),
      body: nodes => ({ ids: idsOf(nodes) }),
      task: () => ({ success: t('message.nodeRestartSuccess'), failed: t('message.nodeRestartFailed') }),
    }),
    act('POST /client/node/reset', {
      name: 'resetNode',
      isBatch: true,
      isDanger: true,
      level: 'disruptive',
      warning: 'resetNode',
      why: why('reset'),
      body: nodes => ({ ids: idsOf(nodes) }),
      task: () => ({ success: t('message.nodeResetSuccess'), failed: t('message.nodeResetFailed') }),
    }),
    ...settingActions,
    act('POST /client/nodes/deinitialize', {
      name: 'deinitialize',
      isBatch: true,
      level: 'disruptive',
      warning: 'deinitialize',
      why: why('deinitialize'),
      body: nodes => ({ ids: idsOf(nodes) }),
    }),
  ],
});

const uninitialized = resource<'GET /client/nodes/uninitialized'>({
  ...shared,
  list: 'GET /client/nodes/uninitialized',
  empty: 'nodesUninitialized',
  columns: [name, addresses, lastBeat, version, ...last],
  filters: [search],
  actions: [
    detail,
    {
      name: 'initialize',
      call: 'POST /client/nodes/initialize',
      isBatch: true,
      why: why('initialize'),
      run: nodes => initialize(nodes),
    },
  ],
});

const tabs = { initialized, uninitialized };
const count = { query: { pageSize: 1 } } as const;

export default function Nodes() {
  const can = useCan();
  const at = useSearch({ strict: false }) as { tab?: string; zoneID?: number };
  const tab = at.tab === 'uninitialized' || at.tab === 'fleet' ? at.tab : 'initialized';
  const waiting = useQuery({
    ...query('GET /client/nodes/uninitialized', count),
    enabled: can('GET /client/nodes/uninitialized'),
    refetchInterval: polling.nodeListPollMs,
  });
  return (
    <Page actions={<JoinButton />}>
      <nav className="tabs" aria-label={t('page.nodes')}>
        {(['initialized', 'fleet', 'uninitialized'] as const).map(one => (
          <Link
            key={one}
            to="."
            search={asSearch(one === 'initialized' ? {} : { tab: one })}
            className="tab"
            activeOptions={{ exact: true }}
            aria-current={one === tab ? 'page' : undefined}
          >
            {t(`tab.${one}`)}
            {one === 'uninitialized' && !!waiting.data?.total && <span className="tab-count">{waiting.data.total}</span>}
          </Link>
        ))}
      </nav>
      {tab === 'fleet' ? (
        <Fleet zoneID={at.zoneID} meanwhile={<div className="panel tab-wait" aria-busy />} />
      ) : (
        <ResourcePage key={tab} resource={tabs[tab]} isEmbedded emptyAction={<JoinButton />} />
      )}
    </Page>
  );
}
