/** Every request, newest first. */
import { Drawer } from 'antd';
import { blockReasons } from '#contract/limits.ts';
import { Facts } from '../kit/bits.tsx';
import type { CallKey, RowOf } from '../kit/client.ts';
import { CopyButton } from '../kit/copy.tsx';
import { overlay } from '../kit/overlay.ts';
import { type Resource, resource } from '../kit/resource.ts';
import { ResourcePage } from '../kit/resource-page.tsx';
import { t, tOf } from '../kit/text.ts';
import { dateTime } from '../kit/time.ts';
import { bytes, milliseconds } from '../kit/units.ts';
import { logBody, logRanges, rangeDefault } from './log-query.ts';

type Line = RowOf<'POST /{area}/logs/access'>;

const refreshMs = 5000;
const cacheStatuses = ['HIT', 'MISS', 'EXPIRED', 'STALE', 'UPDATING', 'REVALIDATED', 'BYPASS', '-'];

const causes = new Map(Object.entries(blockReasons).map(([name, number]) => [number as number, name]));
const causeOf = (line: Line) =>
  line.reason ? `${tOf('reason', causes.get(line.reason) ?? line.reason)}${line.ruleID ? ` #${line.ruleID}` : ''}` : '';

function StatusCode({ value }: { value: number }) {
  const tone = value >= 500 ? 'bad' : value >= 400 ? 'warn' : value >= 300 ? 'idle' : 'good';
  return (
    <span className="status numbers">
      <span className={`status-dot ${tone}`} aria-hidden />
      {value}
    </span>
  );
}

const log = (metaSites: CallKey) =>
  resource<'POST /{area}/logs/access'>({
    name: 'logger',
    list: 'POST /{area}/logs/access',
    rowKey: 'requestID',
    pollMs: refreshMs,
    input: state => ({ query: { page: state.page, pageSize: state.pageSize }, body: logBody(state, new Date()) }),
    columns: [
      { name: 'time', kind: 'time', link: 'detail' },
      { name: 'status', width: 84, render: line => <StatusCode value={line.status} /> },
      { name: 'method', width: 80 },
      { name: 'domain', kind: 'mono', width: 190 },
      { name: 'uri', kind: 'mono', width: 320 },
      { name: 'remoteIP', kind: 'mono', width: 140 },
      { name: 'cacheStatus', width: 110 },
      { name: 'bytes', kind: 'bytes' },
      { name: 'requestTimeMs', width: 110, render: line => milliseconds(line.requestTimeMs) },
      { name: 'reason', width: 130, render: causeOf },
      { name: 'userAgent', width: 260, isOptional: true },
      { name: 'referer', width: 220, isOptional: true },
    ],
    filters: [
      {
        name: 'timeRange',
        kind: 'segments',
        values: [...Object.keys(logRanges), 'custom'],
        texts: 'log',
        otherwise: rangeDefault,
      },
      { name: 'startTime', kind: 'range', when: filters => filters['timeRange'] === 'custom' },
      { name: 'siteIDs', kind: 'select', from: metaSites },
      { name: 'domains', kind: 'text' },
      { name: 'uri', kind: 'text' },
      { name: 'status', kind: 'text', width: 100 },
      { name: 'remoteIP', kind: 'text' },
      { name: 'cacheStatus', kind: 'select', values: cacheStatuses },
    ],
    actions: [
      {
        name: 'detail',
        run: async ([line]) => {
          await overlay(close => <Detail line={line!} onClose={() => close()} />);
        },
      },
    ],
  } as Resource<'POST /{area}/logs/access', Line & { id: number }>);

function Detail({ line, onClose }: { line: Line; onClose: () => void }) {
  const shown: Partial<Record<keyof Line, string>> = {
    time: dateTime(line.time),
    bytes: bytes(line.bytes),
    upstreamBytes: bytes(line.upstreamBytes),
    upstreamTimeMs: milliseconds(line.upstreamTimeMs),
    requestTimeMs: milliseconds(line.requestTimeMs),
    reason: causeOf(line),
  };
  const facts = (Object.keys(line) as (keyof Line)[]).map(name => {
    const text = shown[name] ?? String(line[name]);
    return [
      tOf('field', name),
      <>
        <span className="mono">{text || '–'}</span>
        {text && <CopyButton text={text} />}
      </>,
    ] as const;
  });
  return (
    <Drawer
      open
      size={640}
      title={t('log.detail')}
      mask={{ blur: false }}
      onClose={onClose}
      extra={<CopyButton text={JSON.stringify(line, null, 2)} label={t('action.copyText')} />}
    >
      <Facts facts={facts} />
    </Drawer>
  );
}

const userLog = log('GET /user/metaSites');
const clientLog = log('GET /client/metaSites');
export const UserLog = () => <ResourcePage resource={userLog} />;
export const ClientLog = () => <ResourcePage resource={clientLog} />;
