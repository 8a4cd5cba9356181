/** A page about one zone: that of the address, else the one looked at last, else the first; another is chosen beside the heading. */
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Button, Select, Skeleton } from 'antd';
import { type ReactNode, useEffect } from 'react';
import type { CallKey } from '../kit/client.ts';
import { Empty, ErrorState } from '../kit/empty.tsx';
import { notify } from '../kit/notice.ts';
import { Page } from '../kit/page.tsx';
import { useCan } from '../kit/permissions.ts';
import { query } from '../kit/query.ts';
import { linkTo } from '../kit/screens.ts';
import { asSearch } from '../kit/search.ts';
import { lastSelected } from '../kit/session.ts';
import { t } from '../kit/text.ts';
import { codeOf } from '../kit/error-code.ts';
import { ApiError } from '../kit/transport.ts';

/** `call`: what the page asks of the zone. */
export function OneZone({ note, call, children }: { note: string; call: CallKey; children: (zoneID: number) => ReactNode }) {
  const can = useCan();
  const navigate = useNavigate();
  const search = useSearch({ strict: false }) as { zone?: number };
  const isAllowed = can('GET /client/metaZones') && can(call);
  const zones = useQuery({ ...query('GET /client/metaZones'), enabled: isAllowed });
  const wanted = search.zone ?? Number(lastSelected.zone.get());
  const zone = zones.data?.find(one => one.id === wanted) ?? zones.data?.[0];
  const isGone = search.zone !== undefined && zones.data !== undefined && zone?.id !== search.zone;
  useEffect(() => {
    if (!isGone) return;
    notify.error(t('error.rowGone'));
    void navigate({ to: '.', search: asSearch({ ...search, zone: zone?.id }), replace: true });
    // oxlint-disable-next-line react/exhaustive-deps -- once for each address that names none
  }, [isGone]);
  useEffect(() => {
    if (zone) lastSelected.zone.set(String(zone.id));
  }, [zone]);

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
    <Page note={note} actions={picker}>
      {zone ? (
        children(zone.id)
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

const noPermission = new ApiError({ code: codeOf('permissionDenied'), message: '' });
