/** Versions of nodes: what runs where, what is offered, and what became of each upgrade (§9). A task does it, and shows how far it is. */
import { useQuery } from '@tanstack/react-query';
import { Alert, Button } from 'antd';
import { polling } from '#contract/limits.ts';
import { Status } from '../kit/bits.tsx';
import { later } from '../kit/later.tsx';
import { overlay } from '../kit/overlay.ts';
import { Page } from '../kit/page.tsx';
import { query } from '../kit/query.ts';
import { act, resource, type RowAction } from '../kit/resource.ts';
import { showTasks } from '../kit/task-log.ts';
import { ResourcePage } from '../kit/resource-page.tsx';
import { t } from '../kit/text.ts';
import { type Node, stateOf, why } from './state.ts';

const Log = later(async () => (await import('./upgrade-log.tsx')).UpgradeLog);

const log: RowAction<Node> = {
  name: 'upgradeLog',
  call: 'GET /client/node/{id}/upgrade/logs',
  run: ([node]) => overlay(close => <Log node={node!} onClose={() => close()} />),
};

/** None of them is well now: whoever orders it says that it is to begin all the same. */
const isUnproven = (all: readonly Node[]) => all.every(node => stateOf(node) !== 'normal');

/** `refused`: why no upgrade begins now, of whatever node */
const nodes = (offered: string | null | undefined, refused: string | undefined) =>
  resource<'GET /client/nodes/initialized'>({
    name: 'nodes',
    list: 'GET /client/nodes/initialized',
    defaultSort: 'version',
    pollMs: polling.nodeListPollMs,
    rowName: node => node.name,
    columns: [
      { name: 'name', sort: true, link: 'upgradeLog', width: 150 },
      { name: 'status', sort: true, width: 120, render: node => <Status value={stateOf(node)} /> },
      { name: 'zoneName', width: 120 },
      { name: 'version', kind: 'mono', sort: true, width: 200 },
      { name: 'upgrade', width: 150, render: node => <Status value={node.upgrade} /> },
    ],
    filters: [
      { name: 'keyword', kind: 'search' },
      { name: 'zoneID', kind: 'select', from: 'GET /client/metaZones' },
    ],
    actions: [
      act('POST /client/node/upgrade', {
        name: 'upgrade',
        isBatch: true,
        level: 'disruptive',
        warning: all => t(isUnproven(all) ? 'warning.upgradeUnproven' : 'warning.upgradeNode'),
        why: node =>
          why('upgrade')(node) ??
          (!node.upgradable
            ? t('upgrade.withInstallation')
            : !offered
              ? t('upgrade.nothing')
              : refused !== undefined
                ? refused
                : node.version === offered
                  ? t('upgrade.newest')
                  : undefined),
        body: all => ({ ids: all.map(node => node.id), ...(isUnproven(all) && { unproven: true }) }),
        task: () => ({ success: t('upgrade.over'), failed: t('upgrade.notOver') }),
      }),
      log,
    ],
  });

export default function Upgrade() {
  const latest = useQuery({ ...query('GET /client/node/latestVersion'), refetchInterval: polling.nodeListPollMs });
  const offered = latest.data?.version;
  const others = latest.data?.differing ?? [];
  const machines = others.map(({ machine, version }) => `${machine} (${version ?? t('upgrade.noBundle')})`).join(', ');
  const differing = others.length ? t('upgrade.differing', { machines }) : undefined;
  const open = latest.data?.open;
  const taskID = open?.taskID;
  return (
    <Page>
      <p className="ink-2" style={{ margin: '0 0 12px' }}>
        {latest.data ? (offered ? t('upgrade.offered', { version: offered }) : t('upgrade.nothing')) : '\u00A0'}
      </p>
      {differing && <Alert type="warning" showIcon title={differing} style={{ margin: '0 0 12px' }} />}
      {open && (
        <Alert
          type="info"
          showIcon
          title={t('upgrade.open')}
          style={{ margin: '0 0 12px' }}
          action={
            typeof taskID === 'number' && (
              <Button size="small" onClick={() => void showTasks(taskID)}>
                {t('upgrade.openShow')}
              </Button>
            )
          }
        />
      )}
      <ResourcePage resource={nodes(offered, open ? t('upgrade.open') : differing)} isEmbedded />
    </Page>
  );
}
