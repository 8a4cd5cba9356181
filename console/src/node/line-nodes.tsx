/** The nodes on a line of a group: what its names resolve to, for everybody or for visitors of the line's networks. */
import { DeleteOutlined } from '@ant-design/icons';
import { useQuery } from '@tanstack/react-query';
import { Button, Drawer, Segmented, Select, Skeleton } from 'antd';
import { useState } from 'react';
import { originRoles, polling } from '#contract/limits.ts';
import { Status } from '../kit/bits.tsx';
import type { RowOf } from '../kit/client.ts';
import { isSure } from '../kit/confirm.ts';
import { Empty, ErrorState } from '../kit/empty.tsx';
import { useCan } from '../kit/permissions.ts';
import { query, useAction } from '../kit/query.ts';
import { t } from '../kit/text.ts';

type LineNode = RowOf<'GET /client/group/{g}/line/{l}/nodes'>;
interface Group {
  id: number;
  name: string;
  lines: readonly { id: number; name: string }[];
  zoneID: number;
}
const widthPx = 640;
const all = { query: { pageSize: 500 } } as const;

export function LineNodes({ group, onClose }: { group: Group; onClose: () => void }) {
  const lines = useQuery({ ...query('GET /client/dns/lines'), staleTime: Infinity });
  const common = lines.data?.find(one => one.kind === 'default');
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
    ...query('GET /client/group/{g}/line/{l}/nodes', { ...at, ...all }),
    refetchInterval: polling.nodeListPollMs,
  });
  const ofZone = useQuery({
    ...query('GET /client/zone/{id}/nodes', { id: group.zoneID, ...all }),
    enabled: can('GET /client/zone/{id}/nodes'),
  });
  const success = t('message.updateSuccess');
  const add = useAction('POST /client/group/{g}/line/{l}/nodes', { success });
  const change = useAction('PATCH /client/group/{g}/line/{l}/nodes', { success });
  const remove = useAction('DELETE /client/group/{g}/line/{l}/nodes', { success });
  const [chosen, setChosen] = useState<number[]>([]);
  const mayEdit = can('POST /client/group/{g}/line/{l}/nodes');

  if (nodes.error && !nodes.data) return <ErrorState error={nodes.error} onRetry={() => void nodes.refetch()} />;
  if (!nodes.data) return <Skeleton active title={false} />;
  const rows = nodes.data.data;
  const free = (ofZone.data?.data ?? []).filter(node => !rows.some(row => row.id === node.id));
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
            placeholder={ofZone.data && free.length === 0 ? t('group.allOnLine') : t('group.chooseNodes')}
            disabled={ofZone.data !== undefined && free.length === 0}
            loading={ofZone.isPending}
            showSearch={{ optionFilterProp: 'label' }}
            options={free.map(node => ({ value: node.id, label: node.name }))}
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
          {ofZone.data?.data.length === 0 ? t('group.zoneEmpty') : t('group.lineEmpty')}
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
