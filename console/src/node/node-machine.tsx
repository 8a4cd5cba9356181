/** What machine a node is, and how busy it is: the figures of its last heartbeat, asked every two seconds (§9). */
import { useQuery } from '@tanstack/react-query';
import { Progress } from 'antd';
import { polling } from '#contract/limits.ts';
import { nodeInfoKeys, type NodeInfoKey } from '#contract/node/info-keys.ts';
import { Facts } from '../kit/bits.tsx';
import { query } from '../kit/query.ts';
import { t } from '../kit/text.ts';
import { bitRate, bytes, number } from '../kit/units.ts';
import type { Node } from './state.ts';

type Figures = Partial<Record<NodeInfoKey, number>>;

/** `key=value`, one a line; what is no figure is left out. */
export function figuresOf(text: string): Figures {
  const said = new Map(text.split('\n').map(line => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]));
  return Object.fromEntries(
    nodeInfoKeys.flatMap(key => {
      const value = said.get(key);
      return value !== undefined && value !== '' && Number.isFinite(Number(value)) ? [[key, Number(value)]] : [];
    }),
  );
}

const none = '–';
const or = (value: number | undefined, text: (value: number) => string) => (value === undefined ? none : text(value));
const days = 86_400;
const uptime = (seconds: number) =>
  seconds >= days
    ? t('node.days', { days: Math.floor(seconds / days), hours: Math.floor((seconds % days) / 3600) })
    : t('node.hours', { hours: Math.floor(seconds / 3600), minutes: Math.floor((seconds % 3600) / 60) });

const tone = (share: number | undefined) => (share !== undefined && share >= 95 ? 'exception' : 'normal');

/** Used of all there is, as a bar with its figures. */
function Share({ label, used, all }: { label: string; used: number | undefined; all: number | undefined }) {
  const share = used === undefined || !all ? undefined : Math.min(100, Math.round((used / all) * 100));
  return (
    <div className="node-share">
      <span>{label}</span>
      <Progress percent={share ?? 0} showInfo={false} size="small" status={tone(share)} aria-label={label} />
      <span className="node-figure">{share === undefined ? none : `${share}%`}</span>
      <span className="ink-3">{used === undefined || !all ? '' : t('node.of', { used: bytes(used), all: bytes(all) })}</span>
    </div>
  );
}

const minus = (all: number | undefined, free: number | undefined) =>
  all === undefined || free === undefined ? undefined : all - free;
function Live({ now }: { now: Figures }) {
  const load = [now.load1, now.load5, now.load15];
  return (
    <>
      <div className="node-shares">
        <div className="node-share">
          <span>{t('node.cpu')}</span>
          <Progress
            percent={Math.round(now.cpuPercent ?? 0)}
            showInfo={false}
            size="small"
            status={tone(now.cpuPercent)}
            aria-label={t('node.cpu')}
          />
          <span className="node-figure">{or(now.cpuPercent, one => `${one.toFixed(1)}%`)}</span>
          <span className="ink-3">{or(now.cores, one => t('node.cores', { count: one }))}</span>
        </div>
        <Share label={t('node.memory')} used={minus(now.memoryBytes, now.memoryFreeBytes)} all={now.memoryBytes} />
        <Share label={t('node.disk')} used={minus(now.diskBytes, now.diskFreeBytes)} all={now.diskBytes} />
        <Share label={t('node.cache')} used={now.cacheBytes} all={now.cacheMaxBytes} />
      </div>
      <Facts
        facts={[
          [t('node.load'), load.every(one => one !== undefined) ? load.map(one => one!.toFixed(2)).join(' · ') : none],
          [t('node.connections'), or(now.connections, number)],
          [
            t('node.requests'),
            now.requests === undefined
              ? none
              : t('node.perSecond', { rate: number(now.requestsPerSecond ?? 0), sum: number(now.requests) }),
          ],
          [
            t('node.network'),
            now.inBitsPerSecond === undefined
              ? none
              : `↓ ${bitRate(now.inBitsPerSecond)} · ↑ ${or(now.outBitsPerSecond, bitRate)}`,
          ],
          [t('node.cacheFiles'), or(now.cacheFiles, number)],
          [t('node.uptime'), or(now.uptimeSeconds, uptime)],
        ]}
      />
    </>
  );
}

export function NodeMachine({ node }: { node: Node }) {
  const { id } = node;
  const system = useQuery({ ...query('GET /client/node/{id}/system', { id }), staleTime: 0 });
  const info = useQuery({
    ...query('GET /client/node/{id}/node-info', { id }),
    staleTime: 0,
    retry: false,
    refetchInterval: polling.nodeInformationPollMs,
  });
  const now = typeof info.data === 'string' ? figuresOf(info.data) : {};
  const machine = system.data;
  return (
    <>
      <h2 className="section-title">{t('node.live')}</h2>
      {/* a node that is away answers nothing: figures of before would be taken for those of now */}
      {info.isError ? <p className="ink-3">{t('node.notLive')}</p> : <Live now={now} />}
      <h2 className="section-title">{t('node.system')}</h2>
      <Facts
        facts={[
          [t('node.processor'), machine?.cpu ? `${machine.cpu} × ${machine.cores ?? '?'}` : none],
          [t('node.memory'), or(machine?.memoryBytes ?? undefined, bytes)],
          [t('node.disk'), or(machine?.diskBytes ?? undefined, bytes)],
          [t('node.kernel'), machine?.kernel ?? none],
          ['nginx', machine?.nginx || none],
          ['Node.js', machine?.node ?? none],
          [
            t('node.clock'),
            or(machine?.clockMs ?? undefined, ms => t('node.clockOff', { seconds: (Math.round(ms / 100) / 10 || 0).toFixed(1) })),
          ],
        ]}
      />
    </>
  );
}
