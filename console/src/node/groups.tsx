/** How names resolve: the groups of a zone, their lines, and the nodes that answer on them. */
import './fleet.css';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Button, Select, Skeleton } from 'antd';
import { useEffect, useMemo } from 'react';
import type { RowOf } from '../kit/client.ts';
import { Empty, ErrorState } from '../kit/empty.tsx';
import { later } from '../kit/later.tsx';
import { overlay } from '../kit/overlay.ts';
import { Page } from '../kit/page.tsx';
import { useCan } from '../kit/permissions.ts';
import { query } from '../kit/query.ts';
import { resource } from '../kit/resource.ts';
import { ResourcePage } from '../kit/resource-page.tsx';
import { currentScreens, linkTo, screensOf } from '../kit/screens.ts';
import { lastSelected } from '../kit/session.ts';
import { t } from '../kit/text.ts';
import { ApiError } from '../kit/transport.ts';
import { number } from '../kit/units.ts';
import { asSearch } from '../kit/search.ts';

const LineNodes = later(async () => (await import('./line-nodes.tsx')).LineNodes);

type Group = RowOf<'GET /client/zone/{zoneId}/groups'>;

type GroupLine = Group['lines'][number];
/** Numbers of operators are typed as text, with or without `AS` before them. */
const asnOf = (typed: unknown) => Number(String(typed).trim().replace(/^AS/i, ''));
const lineOf = ({ id, name, cidrs, asns }: GroupLine) => ({ lineID: id, name, cidrs, asns: asns.map(String) });

/** DNS is on once there is a page to set it up. */
const dnsSetting = 'systemManagement/dnsSetting';
/** Amber where a domain would resolve to nothing; while nothing resolves here, or nobody uses the group, nothing is wrong. */
function NodeCount({ group: { nodeCount, productCount } }: { group: Group }) {
  const isOn = screensOf(currentScreens()).some(screen => screen.path === dnsSetting);
  const [tone, text, note] =
    nodeCount > 0
      ? (['good', t('group.nodes', { count: number(nodeCount) })] as const)
      : productCount === 0
        ? (['idle', t('group.unused'), t('group.unusedText')] as const)
        : isOn
          ? (['warn', t('group.noNodes'), t('group.noNodesText')] as const)
          : (['idle', t('group.noNodes'), t('group.noNodesLater')] as const);
  return (
    <span>
      <span className="status">
        <span className={`status-dot ${tone}`} aria-hidden />
        {text}
      </span>
      {note && <span className="cell-note">{note}</span>}
    </span>
  );
}

const groupsOf = (zoneID: number) =>
  resource<'GET /client/zone/{zoneId}/groups'>({
    name: 'groups',
    list: 'GET /client/zone/{zoneId}/groups',
    defaultSort: 'name',
    rowName: group => group.name,
    columns: [
      { name: 'name', sort: true, link: 'assignNodes', width: 200 },
      { name: 'nodeCount', width: 260, render: group => <NodeCount group={group} /> },
      { name: 'productCount', kind: 'number' },
      { name: 'lines', width: 180, render: group => group.lines.map(line => line.name).join(', ') },
      { name: 'memo', width: 220 },
      { name: 'createdAt', kind: 'time', sort: true },
      { name: 'updatedAt', kind: 'time', sort: true, isOptional: true },
      { name: 'id', kind: 'number', isOptional: true },
    ],
    create: 'POST /client/group',
    errors: { fields: { duplicated: 'name' } },
    createBody: values => ({ ...values, zoneID }),
    update: 'PATCH /client/group',
    drawerPx: 760,
    valuesOf: group => ({ name: group.name, memo: group.memo, lines: group.lines?.map(lineOf) }),
    updateBody: ({ lines, ...values }, group) => ({
      ...values,
      id: group.id,
      lines: ((lines ?? []) as ReturnType<typeof lineOf>[]).map(line => ({ ...line, asns: (line.asns ?? []).map(asnOf) })),
    }),
    remove: 'DELETE /client/group',
    removal: 'destructive',
    fields: [
      { name: 'name', kind: 'text', help: 'name' },
      { name: 'memo', kind: 'area' },
      {
        name: 'lines',
        kind: 'list',
        help: 'lines',
        only: 'edit',
        add: 'addLine',
        template: () => ({ name: '', cidrs: [], asns: [] }),
        fields: [
          { name: 'name', kind: 'text' },
          { name: 'cidrs', kind: 'tags', width: 260 },
          { name: 'asns', kind: 'tags', width: 180 },
        ],
      },
    ],
    actions: [
      {
        name: 'assignNodes',
        call: 'GET /client/group/{g}/line/{l}/nodes',
        run: ([group]: Group[]) => overlay(close => <LineNodes group={group!} onClose={() => close()} />),
      },
    ],
  });

/** The zone of the address, else the one looked at last, else the first. */
export default function Groups() {
  const can = useCan();
  const navigate = useNavigate();
  const search = useSearch({ strict: false }) as { zone?: number };
  const isAllowed = can('GET /client/metaZones') && can('GET /client/zone/{zoneId}/groups');
  const zones = useQuery({ ...query('GET /client/metaZones'), enabled: isAllowed });
  const wanted = search.zone ?? Number(lastSelected.zone.get());
  const zone = zones.data?.find(one => one.id === wanted) ?? zones.data?.[0];
  useEffect(() => {
    if (zone) lastSelected.zone.set(String(zone.id));
  }, [zone]);
  const groups = useMemo(() => zone && groupsOf(zone.id), [zone]);
  const params = useMemo(() => ({ zoneId: zone?.id ?? 0 }), [zone]);

  const picker = zones.data && zones.data.length > 0 && (
    <Select
      className="filter-select"
      aria-label={t('field.zone')}
      showSearch={zones.data.length > 8 ? { optionFilterProp: 'label' } : false}
      value={zone?.id}
      options={zones.data.map(one => ({ value: one.id, label: one.name }))}
      onChange={id => void navigate({ to: '.', search: asSearch({ zone: id }) })}
      prefix={<span className="ink-3">{t('field.zone')}</span>}
    />
  );
  return (
    <Page note={t('group.note')} actions={picker}>
      {groups ? (
        <ResourcePage key={params.zoneId} resource={groups} params={params} isEmbedded />
      ) : (
        <div className="panel panel-padded">
          {!isAllowed ? (
            <ErrorState error={noPermission} />
          ) : zones.error ? (
            <ErrorState error={zones.error} onRetry={() => void zones.refetch()} />
          ) : zones.data ? (
            <Empty
              drawing="nothing"
              title={t('group.noZone')}
              action={
                can('POST /client/zone') && (
                  <Link to={linkTo('zones')!} search={asSearch({ edit: 'new' })}>
                    <Button type="primary">{t('group.addZone')}</Button>
                  </Link>
                )
              }
            >
              {t('empty.zones')}
            </Empty>
          ) : (
            <Skeleton active title={false} />
          )}
        </div>
      )}
    </Page>
  );
}

const noPermission = new ApiError({ code: 101018, message: '' });
