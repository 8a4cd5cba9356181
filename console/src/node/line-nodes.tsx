/** The nodes on a line of a group: what its names resolve to, for everybody or for visitors of the line's networks. */
import { DeleteOutlined } from '@ant-design/icons';
import { useQuery } from '@tanstack/react-query';
import { Button, Drawer, Segmented, Select, Skeleton } from 'antd';
import { useState } from 'react';
import { originRoles, paging, polling } from '#contract/limits.ts';
import { Status } from '../kit/bits.tsx';
import { selectProps, useChoices } from '../kit/choices.ts';
import { call, type RowOf } from '../kit/client.ts';
import { isSure } from '../kit/confirm.ts';
import { Empty, ErrorState } from '../kit/empty.tsx';
import { useCan } from '../kit/permissions.ts';
import { query, useAction } from '../kit/query.ts';
import { t } from '../kit/text.ts';
import { LineVirtualNodes } from './line-virtual-nodes.tsx';

type LineNode = RowOf<'GET /client/group/{g}/line/{l}/nodes'>;
interface Group {
  id: number;
  name: string;
  lines: readonly { id: number; name: string }[];
  zoneID: number;
}
const widthPx = 640;
const onLine = 'GET /client/group/{g}/line/{l}/nodes';

/** All nodes of a line: its main ones and its backups stand in one list. */
async function nodesOf(at: { g: number; l: number }, signal: AbortSignal): Promise<LineNode[]> {
  const pageSize = paging.pageSizeMax;
  const rows: LineNode[] = [];
  for (let page = 1; ; page++) {
    const { data, total } = await call(onLine, { ...at, query: { page, pageSize } }, { signal });
    rows.push(...data);
    if (!data.length || page * pageSize >= total) return rows;
  }
}

export function LineNodes({ group, onClose }: { group: Group; onClose: () => void }) {
  const lines = useQuery({ ...query('GET /client/dns/lines', { query: { kind: 'default' } }), staleTime: Infinity });
  const common = lines.data?.data[0];
  const [chosen, choose] = useState<number>();
  const lineID = chosen ?? common?.id;
  return (
    <Drawer open title={t('group.lineTitle', { group: group.name })} size={widthPx} mask={{ blur: false }} onClose={onClose}>
      {lines.error ? (
        <ErrorState error={lines.error} onRetry={() => void lines.refetch()} />
      ) : common && lineID ? (
        <>
          {group.lines.length > 0 && (
            <Select
              className="line-choice"
              aria-label={t('field.line')}
              prefix={<span className="ink-3">{t('field.line')}</span>}
              value={lineID}
              options={[
                { value: common.id, label: t('lineKind.default') },
                ...group.lines.map(line => ({ value: line.id, label: line.name })),
              ]}
              onChange={choose}
            />
          )}
          <Line key={lineID} group={group} lineID={lineID} />
          <LineVirtualNodes key={`virtual ${lineID}`} group={group} lineID={lineID} />
        </>
      ) : (
        <Skeleton active title={false} />
      )}
    </Drawer>
  );
}

function Line({ group, lineID }: { group: Group; lineID: number }) {
  const can = useCan();
  const at = { g: group.id, l: lineID };
  const nodes = useQuery({
    queryKey: [onLine, at],
    queryFn: ({ signal }) => nodesOf(at, signal),
    refetchInterval: polling.nodeListPollMs,
  });
  const ofZone = useQuery({
    ...query('GET /client/zone/{id}/nodes', { id: group.zoneID, query: { pageSize: 1 } }),
    enabled: can('GET /client/zone/{id}/nodes'),
  });
  const success = t('message.updateSuccess');
  const add = useAction('POST /client/group/{g}/line/{l}/nodes', { success });
  const change = useAction('PATCH /client/group/{g}/line/{l}/nodes', { success });
  const remove = useAction('DELETE /client/group/{g}/line/{l}/nodes', { success });
  const [chosen, setChosen] = useState<number[]>([]);
  // of a zone of any size: the server searches, and pages come as they are scrolled to
  const found = useChoices(
    {
      from: 'GET /client/nodes/initialized',
      query: { zoneID: group.zoneID, sortBy: 'name', orderBy: 'asc' },
      searchBy: 'keyword',
      why: node => (nodes.data?.some(row => row.id === node['id']) ? t('group.isOnLine') : undefined),
    },
    {},
    chosen,
  );
  const mayEdit = can('POST /client/group/{g}/line/{l}/nodes');

  if (nodes.error && !nodes.data) return <ErrorState error={nodes.error} onRetry={() => void nodes.refetch()} />;
  if (!nodes.data) return <Skeleton active title={false} />;
  const rows = nodes.data;
  const isFull = ofZone.data !== undefined && rows.length >= ofZone.data.total;
  const isBusy = add.isPending || change.isPending || remove.isPending;

  async function addChosen() {
    if (await add.run({ ...at, body: { ids: chosen } })) setChosen([]);
  }
  async function take(node: LineNode) {
    const isLast = rows.length === 1;
    const isAgreed = await isSure({
      level: 'disruptive',
      title: t('group.removeTitle'),
      warning: t(isLast ? 'group.removeLast' : 'group.removeText'),
      targets: [node.name],
      isDanger: true,
      confirm: t('group.remove'),
    });
    if (isAgreed) await remove.run({ ...at, body: { ids: [node.id] } });
  }

  return (
    <>
      <p className="ink-3" style={{ marginBottom: 14 }}>
        {t('group.lineText')}
      </p>
      {mayEdit && (
        <div className="line-add">
          <Select
            mode="multiple"
            aria-label={t('group.chooseNodes')}
            placeholder={t(isFull ? 'group.allOnLine' : 'group.chooseNodes')}
            disabled={isFull}
            {...selectProps(found)}
            value={chosen}
            onChange={setChosen}
          />
          <Button type="primary" disabled={chosen.length === 0} loading={add.isPending} onClick={() => void addChosen()}>
            {t('group.add')}
          </Button>
        </div>
      )}
      {rows.length === 0 ? (
        <Empty drawing="nothing" title={t('group.noNodes')}>
          {ofZone.data?.total === 0 ? t('group.zoneEmpty') : t('group.lineEmpty')}
        </Empty>
      ) : (
        <ul className="line-nodes">
          {rows.map(node => (
            <li key={node.UID}>
              <span className="line-name" title={node.UID}>
                {node.name}
              </span>
              <Status value={node.status} />
              <Segmented
                size="small"
                aria-label={t('group.roleOf', { node: node.name })}
                disabled={!mayEdit || isBusy}
                value={node.backup ? 'backup' : 'main'}
                options={originRoles.map(role => ({ value: role, label: t(`role.${role}`) }))}
                onChange={role => void change.run({ ...at, body: { ids: [node.id], backup: role === 'backup' } })}
              />
              {mayEdit && (
                <Button
                  type="text"
                  icon={<DeleteOutlined />}
                  disabled={isBusy}
                  aria-label={t('group.removeNode', { node: node.name })}
                  onClick={() => void take(node)}
                />
              )}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
