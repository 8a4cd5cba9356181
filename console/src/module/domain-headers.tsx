/** Headers of one domain alone, beside what its module sets. */
import { useQuery } from '@tanstack/react-query';
import { ResourceForm } from '../kit/form.tsx';
import { historyOfSetting } from '../kit/history-of.ts';
import { query } from '../kit/query.ts';
import { t } from '../kit/text.ts';
import { headerDrawerPx, headerErrors, headerFields } from './header-fields.ts';

const read = 'GET /{area}/site/{siteID}/domain/{domainID}/customHeaders';

interface Props {
  domain: { id: number; domainName: string };
  siteID: number;
  onClose: () => void;
}

export function DomainHeadersDrawer({ domain, siteID, onClose }: Props) {
  const at = { siteID, domainID: domain.id };
  const found = useQuery({
    ...query(read, at),
    staleTime: Infinity,
    gcTime: 0,
  });
  if (!found.data) return null;
  const { request, response, version } = found.data;
  return (
    <ResourceForm
      title={`${domain.domainName} · ${t('page.domainHeaders')}`}
      call="PUT /{area}/site/{siteID}/domain/{domainID}/customHeaders"
      params={at}
      fields={headerFields}
      values={{ request, response }}
      isEdit
      version={version}
      history={historyOfSetting(read, at)}
      success={t('message.updateSuccess')}
      errors={headerErrors}
      widthPx={headerDrawerPx}
      onClose={onClose}
    />
  );
}
