/** The virtual nodes on a line of a group: named records that it answers with beside its nodes. */
import { DeleteOutlined } from '@ant-design/icons';
import { useQuery } from '@tanstack/react-query';
import { Button, Segmented, Select, Skeleton } from 'antd';
import { useState } from 'react';
import { originRoles, paging } from '#contract/limits.ts';
import { selectProps, useChoices } from '../kit/choices.ts';
import { isSure } from '../kit/confirm.ts';
import { ErrorState } from '../kit/empty.tsx';
import { useCan } from '../kit/permissions.ts';
import { query, useAction } from '../kit/query.ts';
import { t } from '../kit/text.ts';
import { number } from '../kit/units.ts';

const onLine = 'GET /client/group/{g}/line/{l}/virtualNodes';

export function LineVirtualNodes({ group, lineID }: { group: { id: number; zoneID: number }; lineID: number }) {
  const can = useCan();
  const at = { g: group.id, l: lineID };
  const { data, error, refetch } = useQuery(query(onLine, { ...at, query: { pageSize: paging.pageSizeMax } }));
  const add = useAction('POST /client/group/{g}/line/{l}/virtualNodes', { success: t('message.addVNodesToLineSuccess') });
  const change = useAction('PATCH /client/group/{g}/line/{l}/virtualNodes', { success: t('message.updateSuccess') });
  const remove = useAction('DELETE /client/group/{g}/line/{l}/virtualNodes', {
    success: t('message.removeVNodesFromLineSuccess'),
  });
  const [chosen, setChosen] = useState<number[]>([]);
  const found = useChoices(
    {
      from: 'GET /client/virtualNodes',
      query: { zoneID: group.zoneID, sortBy: 'name', orderBy: 'asc' },
      searchBy: 'keyword',
      why: one => (data?.data.some(row => row.id === one['id']) ? t('group.isOnLine') : undefined),
    },
    {},
    chosen,
  );
  const mayEdit = can('POST /client/group/{g}/line/{l}/virtualNodes');
  if (error && !data) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton active title={false} />;
  const isBusy = add.isPending || change.isPending || remove.isPending;

  async function addChosen(backup: boolean) {
    if (await add.run({ ...at, body: { ids: chosen, ...(backup ? { backup } : {}) } })) setChosen([]);
  }
  async function take(one: { id: number; name: string }) {
    const isAgreed = await isSure({
      level: 'disruptive',
      title: t('group.removeTitle'),
      warning: t('group.removeVirtual'),
      targets: [one.name],
      isDanger: true,
      confirm: t('group.remove'),
    });
    if (isAgreed) await remove.run({ ...at, body: { ids: [one.id] } });
  }

  return (
    <section aria-label={t('group.lineVirtual')}>
      <h3 style={{ margin: '24px 0 8px' }}>{t('group.lineVirtual')}</h3>
      {mayEdit && (
        <div className="line-add">
          <Select
            mode="multiple"
            aria-label={t('group.chooseVirtual')}
            placeholder={t('group.chooseVirtual')}
            {...selectProps(found)}
            value={chosen}
            onChange={setChosen}
          />
          <Button disabled={!chosen.length} loading={add.isPending} onClick={() => void addChosen(false)}>
            {t('group.add')}
          </Button>
          <Button disabled={!chosen.length || isBusy} onClick={() => void addChosen(true)}>
            {t('group.addBackup')}
          </Button>
        </div>
      )}
      <ul className="line-nodes">
        {data.data.map(one => (
          <li key={one.UID}>
            <span className="line-name" title={one.UID}>
              {one.name}
            </span>
            <span className="ink-3">
              {one.kind === 'cname' ? 'CNAME' : t('group.records', { count: number(one.recordCount) })}
            </span>
            <Segmented
              size="small"
              aria-label={t('group.roleOf', { node: one.name })}
              disabled={!mayEdit || isBusy}
              value={one.backup ? 'backup' : 'main'}
              options={originRoles.map(role => ({ value: role, label: t(`role.${role}`) }))}
              onChange={role => void change.run({ ...at, body: { ids: [one.id], backup: role === 'backup' } })}
            />
            {mayEdit && (
              <Button
                type="text"
                icon={<DeleteOutlined />}
                disabled={isBusy}
                aria-label={t('group.removeNode', { node: one.name })}
                onClick={() => void take(one)}
              />
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
