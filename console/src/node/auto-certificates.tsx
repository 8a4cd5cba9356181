/** Certificates that make themselves, of all customers: how far each is, when it comes again, and who we are at ZeroSSL. */
import { Link } from '@tanstack/react-router';
import { Status } from '../kit/bits.tsx';
import { act, resource } from '../kit/resource.ts';
import { ResourcePage } from '../kit/resource-page.tsx';
import { linkTo } from '../kit/screens.ts';
import { t } from '../kit/text.ts';
import { dateTime } from '../kit/time.ts';
import { ZeroSSL } from './zero-ssl.tsx';

const autoCertificates = resource<'GET /client/autoCertificates'>({
  name: 'autoCertificates',
  list: 'GET /client/autoCertificates',
  defaultSort: '-createdAt',
  rowName: row => row.domainName,
  columns: [
    { name: 'domainName', width: 240 },
    {
      name: 'siteName',
      width: 160,
      render: row => <Link to={linkTo('sitesSetting', row.siteID, row.siteName)!}>{row.siteName}</Link>,
    },
    {
      name: 'state',
      label: 'certStatus',
      sort: true,
      width: 260,
      render: row => (
        <>
          <Status value={row.state} texts="certState" />
          {row.error && <div className="ink-3">{row.error}</div>}
        </>
      ),
    },
    { name: 'provider', kind: 'option', texts: 'acmeProvider', width: 140 },
    { name: 'way', kind: 'option', texts: 'acmeWay', width: 110 },
    { name: 'notAfter', kind: 'time' },
    {
      name: 'nextAt',
      sort: true,
      width: 170,
      render: row => (row.nextAt === null ? t('autoCertificates.now') : dateTime(row.nextAt)),
    },
    { name: 'attempts', kind: 'number', sort: true, isOptional: true },
    { name: 'inUse', kind: 'number', isOptional: true },
    { name: 'createdAt', kind: 'time', sort: true, isOptional: true },
    { name: 'updatedAt', kind: 'time', sort: true, isOptional: true },
  ],
  actions: [
    act('POST /client/autoCertificates/renew', {
      name: 'renew',
      isBatch: true,
      body: rows => ({ ids: rows.map(row => row.id) }),
      success: () => t('autoCertificates.renewing'),
    }),
  ],
});

export default function AutoCertificates() {
  return <ResourcePage resource={autoCertificates} extra={<ZeroSSL />} />;
}
