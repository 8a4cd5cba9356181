/** Who answers for an operator's names: chosen, tried, and whether all that changed has arrived there. */
import { useQuery } from '@tanstack/react-query';
import { Button } from 'antd';
import { dnsAbilitiesOf, dnsMinTTLOf, dnsSettingFields, dnsTypes, statusPollMs, tsigAlgorithms } from '#contract/limits.ts';
import type { RowOf } from '../kit/client.ts';
import { later } from '../kit/later.tsx';
import { overlay } from '../kit/overlay.ts';
import { useCan } from '../kit/permissions.ts';
import { query, useAction } from '../kit/query.ts';
import { type FormField, options, resource, type Values } from '../kit/resource.ts';
import { ResourcePage } from '../kit/resource-page.tsx';
import { Stale } from '../kit/stale.tsx';
import { Toned } from '../kit/status.tsx';
import { t } from '../kit/text.ts';
import { dateTime } from '../kit/time.ts';
import { number } from '../kit/units.ts';
import { accountOf } from './accounts.ts';
import { GeoData } from './geo-data.tsx';

const testing = 'POST /client/setting/dns/test';
const Tried = later(async () => (await import('./dns-tried.tsx')).Tried);
const waiting = 'GET /client/setting/dns/unprocessed';
const recovery = 'POST /client/setting/dns/recovery';

/** What `ns1` of a zone says. */
function Reached({ addresses }: { addresses: readonly string[] }) {
  if (addresses.length) return <span className="mono">{addresses.join(', ')}</span>;
  return (
    <span className="status">
      <span className="status-dot warn" aria-hidden />
      {t('dnsReached.none')}
    </span>
  );
}

/** What is missing where nothing usable is known. */
function Unreached() {
  const can = useCan();
  const mayAsk = can('GET /client/setting/dns');
  const { data, isPending } = useQuery({ ...query('GET /client/setting/dns', { query: {} }), enabled: mayAsk });
  if (mayAsk && isPending) return <div className="in-turn-wait" />;
  if (!data?.data.some(one => one.driver === 'knot' && !one.addresses.length)) return null;
  return (
    <p className="panel panel-padded" role="note" style={{ marginBottom: 16 }}>
      {t('dnsReached.how')}
    </p>
  );
}

type Setting = RowOf<'GET /client/setting/dns'>;
type Driver = (typeof dnsTypes)[number];
const driverOf = (values: Values) => dnsTypes.find(one => one === values['driver']);
const isOne =
  (...drivers: Driver[]) =>
  (values: Values) =>
    drivers.some(one => one === values['driver']);
/** The same two fields, in the words of who is asked. */
const serverField = (label: 'dnsServerAt' | 'dnsAPIAt', driver: Driver): FormField => ({
  name: 'server',
  label,
  kind: 'mono',
  help: label,
  isOptional: false,
  when: isOne(driver),
});
const idField = (label: 'dnsKeyName' | 'dnsAccountTokenID' | 'dnsAccountKeyID', ...drivers: Driver[]): FormField => ({
  name: 'keyName',
  label,
  kind: 'mono',
  isOptional: false,
  when: isOne(...drivers),
});
const secretFields = (
  label: 'dnsKeySecret' | 'dnsAPIKey' | 'dnsAccountToken' | 'dnsAccountKeySecret',
  ...drivers: Driver[]
): FormField[] =>
  (['create', 'edit'] as const).map(only => ({
    name: 'credentials',
    label,
    kind: 'password',
    only,
    isOptional: only === 'edit',
    help: only === 'edit' ? 'dnsSecretAnew' : label,
    when: isOne(...drivers),
  }));
/** Whom it answers what, and what resolvers make of it where that is long. */
function answersOf(driver: Driver): string {
  const how = t(dnsAbilitiesOf[driver].includes('lines') ? 'dnsAnswers.lines' : 'dnsAnswers.alike');
  const seconds = dnsMinTTLOf[driver];
  return seconds > 1 ? t('dnsAnswers.kept', { how, seconds: number(seconds) }) : how;
}
/** Left empty a secret stays; what this kind has no use for is as if nobody had typed it. */
function bodyOf({ credentials, ...values }: Values, driver: Driver) {
  const used = dnsSettingFields[driver];
  return {
    memo: values['memo'],
    ...Object.fromEntries(used.flatMap(name => (name === 'credentials' ? [] : [[name, values[name]]]))),
    ...(credentials && used.includes('credentials') ? { credentials } : {}),
  };
}

/** Several accounts at one provider are told apart. */
const nameOf = (row: Setting) => [t(`dnsType.${row.driver}`), accountOf(row)].filter(Boolean).join(' · ');

const settings = resource<'GET /client/setting/dns'>({
  name: 'dnsSetting',
  note: 'dnsSetting',
  list: 'GET /client/setting/dns',
  defaultSort: '-createdAt',
  rowName: nameOf,
  columns: [
    {
      name: 'driver',
      kind: 'option',
      texts: 'dnsType',
      width: 290,
      link: 'edit',
      render: row => (
        <>
          {t(`dnsType.${row.driver}`)}
          {row.memo && <span className="cell-note">{row.memo}</span>}
        </>
      ),
    },
    {
      name: 'addresses',
      label: 'reachedAt',
      width: 200,
      render: row =>
        row.driver === 'knot' ? (
          <Reached addresses={row.addresses} />
        ) : (
          <span className="mono">{row.server || row.keyName || '–'}</span>
        ),
    },
    {
      name: 'keyName',
      label: 'dnsAnswers',
      width: 320,
      render: row => answersOf(row.driver),
    },
    { name: 'zoneCount', kind: 'number', width: 130 },
    { name: 'memo', isOptional: true },
    { name: 'createdAt', kind: 'time', sort: true },
    { name: 'updatedAt', kind: 'time', sort: true, isOptional: true },
  ],
  create: 'POST /client/setting/dns',
  update: 'PUT /client/setting/dns',
  errors: { fields: { duplicated: 'driver', invalidDNSSetting: 'driver' } },
  remove: 'DELETE /client/setting/dns',
  removal: 'destructive',
  history: true,
  fields: [
    { name: 'driver', kind: 'select', ...options(dnsTypes, 'dnsType'), help: 'dnsDriver', initial: 'knot', only: 'create' },
    serverField('dnsServerAt', 'rfc2136'),
    serverField('dnsAPIAt', 'powerdns'),
    idField('dnsKeyName', 'rfc2136'),
    {
      name: 'algorithm',
      label: 'dnsAlgorithm',
      kind: 'select',
      ...options(tsigAlgorithms, 'dnsAlgorithm'),
      initial: 'hmacSHA256',
      isOptional: false,
      when: isOne('rfc2136'),
    },
    idField('dnsAccountTokenID', 'dnspod'),
    idField('dnsAccountKeyID', 'route53', 'aliyun'),
    ...secretFields('dnsKeySecret', 'rfc2136'),
    ...secretFields('dnsAPIKey', 'powerdns'),
    ...secretFields('dnsAccountToken', 'cloudflare', 'dnspod'),
    ...secretFields('dnsAccountKeySecret', 'route53', 'aliyun'),
    { name: 'memo', kind: 'text', initial: '', isOptional: true },
  ],
  valuesOf: ({ driver, server, keyName, algorithm, memo }) => ({ driver, server, keyName, algorithm, memo, credentials: '' }),
  createBody: values => ({ driver: driverOf(values), ...bodyOf(values, driverOf(values) ?? 'knot') }),
  updateBody: (values, row) => ({ id: row.id, ...bodyOf(values, row.driver) }),
  actions: [
    {
      name: 'testDNS',
      call: testing,
      run: ([row]) => overlay(close => <Tried id={row!.id} title={nameOf(row!)} onClose={() => close()} />),
    },
  ],
});

/** Who has copies of the embedded name server's zones. */
const secondaries = resource<'GET /client/setting/dns/secondaries'>({
  name: 'dnsSecondaries',
  note: 'dnsSecondaries',
  list: 'GET /client/setting/dns/secondaries',
  defaultSort: '-createdAt',
  rowName: row => row.address,
  columns: [
    { name: 'address', label: 'secondaryAt', kind: 'mono', link: 'edit', width: 240 },
    { name: 'port', kind: 'number' },
    { name: 'keyName', label: 'dnsKeyName', kind: 'mono', width: 240 },
    { name: 'memo' },
    { name: 'createdAt', kind: 'time', sort: true },
  ],
  create: 'POST /client/setting/dns/secondary',
  errors: { fields: { duplicated: 'keyName' } },
  update: 'PUT /client/setting/dns/secondary',
  remove: 'DELETE /client/setting/dns/secondary',
  fields: [
    { name: 'address', label: 'secondaryAt', kind: 'mono', placeholder: '203.0.113.54' },
    { name: 'port', kind: 'number', initial: 53 },
    {
      name: 'keyName',
      label: 'dnsKeyName',
      kind: 'mono',
      help: 'secondaryKey',
      mend: typed => ({ keyName: typed.trim().replace(/\.$/, '') }),
    },
    {
      name: 'algorithm',
      label: 'dnsAlgorithm',
      kind: 'select',
      ...options(tsigAlgorithms, 'dnsAlgorithm'),
      initial: 'hmacSHA256',
    },
    ...(['create', 'edit'] as const).map((only): FormField => ({
      name: 'credentials',
      label: 'dnsKeySecret',
      kind: 'password',
      only,
      isOptional: only === 'edit',
      help: only === 'edit' ? 'dnsSecretAnew' : 'dnsKeySecret',
    })),
    { name: 'memo', kind: 'text', initial: '', isOptional: true },
  ],
  valuesOf: ({ address, port, keyName, algorithm, memo }) => ({ address, port, keyName, algorithm, memo, credentials: '' }),
  updateBody: ({ credentials, ...values }, row) => ({ id: row.id, ...values, ...(credentials ? { credentials } : {}) }),
});

/** Changes that have not arrived, and what keeps them. */
function Waiting() {
  const can = useCan();
  const mayAsk = can(waiting);
  const found = useQuery({ ...query(waiting), enabled: mayAsk, refetchInterval: statusPollMs, staleTime: 0 });
  const { data, isPending } = found;
  const recover = useAction(recovery, { success: t('dnsWaiting.begun') });
  if (mayAsk && isPending) return <div className="in-turn-wait" />;
  if (!data) return null;
  return (
    <section className="panel panel-padded" aria-labelledby="dns-waiting">
      <h2 id="dns-waiting">
        <Toned tone={data.errors.length ? 'bad' : data.size ? 'warn' : 'good'}>
          {t(data.size ? 'dnsWaiting.some' : 'dnsWaiting.none', { count: number(data.size) })}
        </Toned>
      </h2>
      {data.errors.map(one => (
        <div key={one.cnameID} role="alert">
          <p>
            <span className="mono">{one.domainName}</span>{' '}
            {one.refusedCount ? t('dnsWaiting.refused', { count: number(one.refusedCount) }) : one.error}
            {one.nextAt !== null && <span className="cell-note">{t('dnsWaiting.next', { time: dateTime(one.nextAt) })}</span>}
          </p>
          {one.refused.length > 0 && (
            <ul>
              {one.refused.map(({ name, why }) => (
                <li key={name}>
                  <span className="mono">{name}</span>
                  <span className="cell-note">{why}</span>
                </li>
              ))}
              {one.refusedCount > one.refused.length && (
                <li>{t('confirm.more', { count: number(one.refusedCount - one.refused.length) })}</li>
              )}
            </ul>
          )}
        </div>
      ))}
      {/* that all has arrived holds for when it was last known */}
      <Stale found={found} />
      <p className="ink-3" style={{ margin: '4px 0 12px' }}>
        {t('dnsWaiting.text')}
      </p>
      {can(recovery) && (
        <Button loading={recover.isPending} onClick={() => void recover.run({ body: {} })}>
          {t('dnsWaiting.recover')}
        </Button>
      )}
    </section>
  );
}

export default function DnsSetting() {
  return (
    <div className="in-turn">
      <div>
        <ResourcePage resource={settings} />
      </div>
      <div className="page in-turn">
        <Unreached />
        <Waiting />
        <GeoData />
        <section aria-labelledby="dns-secondaries" style={{ marginTop: 24 }}>
          <h2 id="dns-secondaries">{t('page.dnsSecondaries')}</h2>
          <ResourcePage resource={secondaries} isEmbedded list="secondary" />
        </section>
      </div>
    </div>
  );
}
