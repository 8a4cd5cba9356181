/** Zones that customers' names lead into: made, delegated, no longer offered. */
import { useQuery } from '@tanstack/react-query';
import { paging } from '#contract/limits.ts';
import { mendDomainName, mendNameServer } from '#contract/rules/mend.ts';
import { CopyButton } from '../kit/copy.tsx';
import { overlay } from '../kit/overlay.ts';
import { useCan } from '../kit/permissions.ts';
import { query } from '../kit/query.ts';
import { act, resource } from '../kit/resource.ts';
import { ResourcePage } from '../kit/resource-page.tsx';
import type { RowOf } from '../kit/client.ts';
import { Toned } from '../kit/status.tsx';
import { t, tOf } from '../kit/text.ts';
import { dateTime } from '../kit/time.ts';
import { number } from '../kit/units.ts';
import { useNarrow } from '../kit/use-narrow.ts';
import { later } from '../kit/later.tsx';
import { accountOf } from './accounts.ts';
import { DryRun, previewing } from './dry-run.tsx';
import { dsToTakeOut } from './ds-fields.ts';

const settings = 'GET /client/setting/dns';
const settingsMost = paging.pageSizeMax;
const DsRecords = later(async () => (await import('./ds-records.tsx')).DsRecords);

type Cname = RowOf<'GET /client/setting/dns/cnames'>;

/** Whether customers are told it. */
function Use({ row }: { row: Cname }) {
  const [tone, text] = row.disabled
    ? (['idle', t('cnameZone.disabled')] as const)
    : row.isOffered
      ? (['good', t('cnameZone.offered')] as const)
      : (['idle', t('cnameZone.other')] as const);
  return (
    <span className="status is-long">
      <span className={`status-dot ${tone}`} aria-hidden />
      {text}
    </span>
  );
}

/** What keeps visitors away comes first: this is what a telephone shows beside the name, with what is to be done about the key. */
function State({ row }: { row: Cname }) {
  const key = useNarrow() ? stateOf(row) : undefined;
  const [tone, text] = isUnbelieved(row)
    ? (['bad', t('cnameZone.unbelieved')] as const)
    : row.error
      ? (['bad', t('cnameZone.failing')] as const)
      : row.unprocessed
        ? (['warn', t('cnameZone.waiting', { count: number(row.unprocessed) })] as const)
        : (['good', t('cnameZone.arrived')] as const);
  return (
    <span>
      <span className="status is-long">
        <span className={`status-dot ${tone}`} aria-hidden />
        {text}
      </span>
      {key && key[0] !== 'idle' ? (
        <span className="cell-note">{key[1]}</span>
      ) : (
        isUnbelieved(row) && <span className="cell-note">{t('cnameZone.unbelievedNote')}</span>
      )}
      {row.error && (
        <span className="cell-note" title={row.error}>
          {row.error}
        </span>
      )}
    </span>
  );
}

const short = (ds: string) => `DS ${ds.split(' DS ')[1]!.split(' ').slice(0, 3).join(' ')} …`;
const isStrange = ({ ds, dsBefore, dsAbove }: Cname) =>
  !dsBefore.length && dsAbove.length > 0 && !dsAbove.some(one => ds.includes(one));

const isUnbelieved = (row: Cname) => row.dsBefore.length > 0 || isStrange(row);
const dsOf = (rows: Cname[]) => [...new Set(rows.flatMap(dsToTakeOut))];

/** One account of several at one provider is told by what the operator noted of it. */
function Answering({ row }: { row: Cname }) {
  const can = useCan();
  const { data } = useQuery({ ...query(settings, { query: { pageSize: settingsMost } }), enabled: can(settings) });
  const found = data?.data.find(one => one.id === row.dnsSettingID);
  return (
    <span>
      {t(`dnsType.${row.driver}`)}
      {found && accountOf(found) !== '' && <span className="cell-note">{accountOf(found)}</span>}
    </span>
  );
}

/** Where a zone stands with its key, where that is anything to look at. */
function stateOf(row: Cname): readonly ['warn' | 'bad' | 'idle', string] | undefined {
  if (row.dsBefore.length) return ['bad', t('cnameZone.otherKey')];
  if (isStrange(row)) return ['bad', t(row.signed ? 'cnameZone.otherAbove' : 'cnameZone.signedAbove')];
  if (row.signed && !row.ds.length) return ['warn', t('cnameZone.signing')];
  if (row.newKeyAt === null) return undefined;
  if (row.ds.length < 2) return ['idle', t('cnameZone.newKeyComes')];
  return row.newKeyFrom === null
    ? ['warn', t('cnameZone.newKeyWaits')]
    : ['idle', t('cnameZone.newKeyFrom', { time: dateTime(row.newKeyFrom) })];
}

/** What it says, or may say, and should no longer. */
const above = (row: Cname) => (row.dsBefore.length || !isStrange(row) ? row.dsBefore : row.dsAbove);

/** What is to be written into the zone above, and in the place of what. */
function Signed({ row }: { row: Cname }) {
  const isNarrow = useNarrow();
  const state = stateOf(row);
  if (!row.signed && !state) return <span className="ink-3">{t('cnameZone.unsigned')}</span>;
  // behind the edge it would make a row high that nobody sees the reason of; the drawer of DS records has all of it
  if (isNarrow) return state ? <Toned tone={state[0]}>{state[1]}</Toned> : <span className="mono clip">{short(row.ds[0]!)}</span>;
  return (
    <span className="address-list">
      {state && (
        <span className="status is-long">
          <span className={`status-dot ${state[0]}`} aria-hidden />
          {state[1]}
        </span>
      )}
      {above(row).map(one => (
        <s key={one} className="mono clip ink-3" title={one}>
          {short(one)}
        </s>
      ))}
      {row.ds.map(one => (
        <span key={one} className="address">
          <span className="mono clip" title={one}>
            {short(one)}
          </span>
          <CopyButton text={one} />
        </span>
      ))}
    </span>
  );
}

const cnames = resource<'GET /client/setting/dns/cnames'>({
  name: 'cnames',
  note: 'cnames',
  list: 'GET /client/setting/dns/cnames',
  defaultSort: '-createdAt',
  rowName: row => row.domainName,
  columns: [
    {
      name: 'domainName',
      label: 'cnameZone',
      sort: true,
      link: 'edit',
      width: 200,
    },
    { name: 'unprocessed', label: 'cnameState', width: 280, isState: true, render: row => <State row={row} /> },
    { name: 'signed', label: 'dnssec', width: 310, render: row => <Signed row={row} /> },
    { name: 'isOffered', label: 'cnameUse', width: 150, render: row => <Use row={row} /> },
    { name: 'driver', label: 'dnsSettingID', width: 240, render: row => <Answering row={row} /> },
    { name: 'domainCount', kind: 'number' },
    {
      name: 'nameServers',
      width: 280,
      render: row =>
        row.driver !== 'knot' ? (
          <span className="ink-3">{t('cnameZone.ownServers')}</span>
        ) : (
          <span className="address-list">
            {(row.nameServers.length ? row.nameServers : [`ns1.${row.domainName}`]).map(one => (
              <span key={one} className="address">
                <span className="mono">{one}</span>
                <CopyButton text={one.split(' ')[0]!} />
              </span>
            ))}
          </span>
        ),
    },
    { name: 'memo' },
    { name: 'createdAt', kind: 'time', sort: true },
    { name: 'updatedAt', kind: 'time', sort: true, isOptional: true },
  ],
  filters: [{ name: 'disabled', kind: 'select', values: [1, 0], texts: 'cnameDisabled', isSaid: true }],
  create: 'POST /client/setting/dns/cname',
  errors: { fields: { duplicated: 'domainName', invalidDNSSetting: 'domainName' } },
  update: 'PUT /client/setting/dns/cname',
  remove: 'DELETE /client/setting/dns/cname',
  removal: 'destructive',
  removalAsks: {
    warning: rows => (dsOf(rows).length ? t('warning.removeSigned') : undefined),
    toCopy: dsOf,
  },
  fields: [
    {
      name: 'domainName',
      label: 'cnameZone',
      kind: 'mono',
      placeholder: 'cdn.example.com',
      help: 'cnameZone',
      only: 'create',
      mend: typed => ({ domainName: mendDomainName(typed) }),
    },
    {
      name: 'dnsSettingID',
      kind: 'remote',
      from: 'GET /client/setting/dns',
      text: row =>
        [tOf('dnsType', String(row['driver'])), row['server'], row['keyName'], row['memo']].filter(Boolean).join(' · '),
      isOptional: false,
    },
    { name: 'nameServers', kind: 'lines', help: 'nameServers', initial: [], isOptional: true, mendLine: mendNameServer },
    { name: 'memo', kind: 'text', initial: '', isOptional: true },
  ],
  actions: [
    {
      name: 'previewCname',
      call: previewing,
      run: ([row]) => overlay(close => <DryRun id={row!.id} name={row!.domainName} onClose={() => close()} />),
    },
    {
      name: 'dsRecords',
      when: row => row.ds.length + above(row).length > 0,
      run: ([row]) =>
        overlay(close => (
          <DsRecords name={row!.domainName} ds={row!.ds} before={above(row!)} state={stateOf(row!)} onClose={() => close()} />
        )),
    },
    act('PUT /client/setting/dns/cname', {
      name: 'signZone',
      level: 'disruptive',
      warning: 'signZone',
      when: row => row.driver === 'knot' && !row.signed,
      body: ([row]) => ({ id: row!.id, signed: true }),
    }),
    act('PUT /client/setting/dns/cname', {
      name: 'newKey',
      level: 'disruptive',
      warning: 'newKey',
      when: row => row.ds.length === 1 && row.newKeyAt === null && !row.dsBefore.length && !isStrange(row),
      body: ([row]) => ({ id: row!.id, newKey: true }),
    }),
    act('PUT /client/setting/dns/cname', {
      name: 'dsReplaced',
      level: 'disruptive',
      warning: 'dsReplaced',
      toCopy: rows => rows.flatMap(row => row.ds),
      when: row => row.dsBefore.length > 0,
      body: ([row]) => ({ id: row!.id, dsReplaced: true }),
    }),
    act('PUT /client/setting/dns/cname', {
      name: 'enable',
      when: row => row.disabled,
      body: ([row]) => ({ id: row!.id, disabled: false }),
    }),
    act('PUT /client/setting/dns/cname', {
      name: 'disable',
      level: 'disruptive',
      warning: ([row]) => [t('warning.disableCname'), row!.signed && t('warning.disableSigned')].filter(Boolean).join(' '),
      when: row => !row.disabled,
      body: ([row]) => ({ id: row!.id, disabled: true }),
    }),
  ],
});

export default function Cnames() {
  return <ResourcePage resource={cnames} />;
}
