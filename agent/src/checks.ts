/** What a node finds out about itself; its heartbeat carries what is not well, its own `/readyz?verbose` everything. */
import { statfs } from 'node:fs/promises';
import {
  type Check,
  Counted,
  type Finding,
  Tracker,
  fails,
  healthTimes,
  sentenceOf,
  warns,
  well,
} from '#contract/system/health.ts';
import { nodeLogHoursMax } from '#contract/limits.ts';
import { type Disk, diskFinding, diskFrom, sizes } from '#contract/system/room.ts';
import { type Fault, isWithoutRoom } from './control.ts';
import type { Verbose } from './node-log.ts';
import type { ShipperStats } from './ship/types.ts';

export interface NodeFacts {
  /** why nginx does not serve */
  nginx: string | null;
  /** why what arrives cannot be applied */
  sync: string | null;
  /** ports of the zone that are not open here */
  ports: string | null;
  /** why it speaks no HTTP/3 though its zone wants it */
  http3: string | null;
  /** addresses of its sub-nodes on which it does not listen, and why */
  addresses: string | null;
  /** why the first windows of connections are not as they are set */
  geneva: string | null;
  /** nginx is to write down more than usual */
  verbose: Verbose | null;
  /** parts of the node's own store that could not be read and are not known again */
  damaged: number;
  /** why no configuration arrives */
  feed: string | null;
  shipping: ShipperStats | undefined;
}

/** Of what should never happen, as far as it is known. */
export interface Counts {
  /** requests that nginx could not log */
  unlogged: number;
  /** workers of nginx that stood still and were killed */
  hungWorkers: number;
  /** rules that nginx cannot read */
  faults: readonly Fault[];
  /** why workers of nginx run on cores that are not theirs; null: they do not */
  unbound: string | null;
}

/** As many are named; the others are counted. */
const faultsNamed = 3;
function faultFindings(all: readonly Fault[]): Finding[] {
  const faults = all.filter(fault => !isWithoutRoom(fault));
  const left = all.length - faults.length;
  return [
    ...(left ? [warns('configuration.certificatesWithoutRoom', { count: left }, { value: left, key: 'certificates' })] : []),
    ...(faults.length ? [unread(faults)] : []),
  ];
}
function unread(faults: readonly Fault[]): Finding {
  const named = faults
    .slice(0, faultsNamed)
    .map(({ site, list, id, error }) => `site ${site}, ${list} ${id}: ${error.slice(0, 100)}`);
  return warns(
    'configuration.unreadRules',
    { count: faults.length, detail: named.join('; ') },
    { value: faults.length, key: 'rules' },
  );
}

/** Reminds of what somebody switched on to look for a fault. */
function verboseFinding({ level, sampling, over }: Verbose): Finding {
  const reasons = { time: 'logsTimeOver', disk: 'logsDiskShort', flood: 'logsFlood' } as const;
  const params = { level, sampling, hours: nodeLogHoursMax };
  return warns(`configuration.${over === null ? 'logsMore' : reasons[over]}`, params, { key: 'logs' });
}

export const diskOf = async (folder: string): Promise<Disk> => diskFrom(await statfs(folder));

/**
 * Why the node does not serve as it should, which puts its status to `error`. Lines that wait are told as a check alone: it serves
 * meanwhile, and one fault of the control plane would put every node into error.
 */
export function servingProblem(found: readonly Check[]): string | null {
  const failing = found.find(check => check.state === 'fail' && check.id !== 'shipping');
  return failing ? sentenceOf(failing, 'en_US') : null;
}

const MB = 1e6;
const lookEveryMs = 3000;

export class NodeChecks {
  readonly #folder: string;
  readonly #facts: () => NodeFacts;
  readonly #counts: () => Promise<Counts>;
  readonly #tracker = new Tracker();
  readonly #unlogged = new Counted('unlogged.counted');
  readonly #hung = new Counted('nginx.hung');
  #unloggedNow: Finding = well('unlogged');
  #hungNow: Finding = well('nginx');
  #faults: readonly Fault[] = [];
  #unbound: string | null = null;
  #disk: Disk | undefined;
  #diskTrouble = '';
  #timer: NodeJS.Timeout | undefined;
  /** the stored position moved last, or nothing waited */
  #movedAt = performance.now();
  #waited = 0;
  #troubledAt: number | undefined;
  #lateAt: number | undefined;

  constructor(folder: string, facts: () => NodeFacts, counts: () => Promise<Counts>) {
    this.#folder = folder;
    this.#facts = facts;
    this.#counts = counts;
  }

  start(): void {
    this.#timer = setInterval(() => void this.look(), lookEveryMs);
    this.#timer.unref();
    void this.look();
  }
  stop(): void {
    clearInterval(this.#timer);
  }

  /** What must be asked for; everything else is at hand. */
  async look(): Promise<void> {
    try {
      this.#disk = await diskOf(this.#folder);
      this.#diskTrouble = '';
    } catch (error) {
      this.#diskTrouble = (error as Error).message;
    }
    const counts = await this.#counts().catch(() => undefined);
    if (!counts) return;
    this.#unloggedNow = this.#unlogged.look(counts.unlogged);
    this.#hungNow = this.#hung.look(counts.hungWorkers);
    this.#faults = counts.faults;
    this.#unbound = counts.unbound;
  }

  /** For the heartbeat: what is not well, and the disk as it was last looked at; undefined while it cannot be asked. */
  told(): { checks: Check[]; disk: Pick<Disk, 'freeBytes' | 'totalBytes'> | undefined } {
    const { freeBytes, totalBytes } = this.#disk ?? {};
    const isKnown = !this.#diskTrouble && freeBytes !== undefined && totalBytes !== undefined;
    return { checks: this.now().filter(check => check.state !== 'ok'), disk: isKnown ? { freeBytes, totalBytes } : undefined };
  }

  /** There is less room on the disk than is wanted. */
  get isShort(): boolean {
    return this.#disk !== undefined && diskFinding(this.#folder, this.#disk).state !== 'ok';
  }

  /** Room for log files that wait; undefined while the disk cannot be asked. */
  logBytes(): number | undefined {
    return this.#disk && sizes.nodeLogBytes(this.#disk, this.#facts().shipping?.waitingBytes ?? 0);
  }

  /** @param at the clock of spans of time, which no step of the wall clock moves */
  now(at = performance.now()): Check[] {
    const { nginx, sync, ports, http3, addresses, geneva, verbose, damaged, feed, shipping } = this.#facts();
    const found: Finding[] = [
      nginx === null ? well('nginx') : fails('nginx.away', { detail: nginx }),
      this.#configuration({ sync, damaged, feed }, at),
      ...(ports === null ? [] : [warns('configuration.portsTaken', { detail: ports }, { key: 'ports' })]),
      ...(http3 === null ? [] : [warns('configuration.noHTTP3', { detail: http3 }, { key: 'http3' })]),
      ...(addresses === null ? [] : [warns('configuration.addressesAway', { detail: addresses }, { key: 'addresses' })]),
      ...(verbose === null ? [] : [verboseFinding(verbose)]),
      ...(geneva === null ? [] : [warns('configuration.noGeneva', { detail: geneva }, { key: 'geneva' })]),
      ...(this.#unbound === null ? [] : [warns('configuration.notBound', { detail: this.#unbound }, { key: 'cpus' })]),
      this.#diskTrouble
        ? fails('disk.unknown', { folder: this.#folder, detail: this.#diskTrouble })
        : this.#disk
          ? diskFinding(this.#folder, this.#disk)
          : well('disk'),
      ...this.#shipping(shipping, at),
      this.#unloggedNow,
      ...(this.#hungNow.state === 'ok' ? [] : [{ ...this.#hungNow, key: 'workers' }]),
      ...faultFindings(this.#faults),
    ];
    return this.#tracker.track(found);
  }

  #configuration({ sync, damaged, feed }: Pick<NodeFacts, 'sync' | 'damaged' | 'feed'>, at: number): Finding {
    // a moment without a stream is a restart somewhere
    this.#lateAt = feed === null ? undefined : (this.#lateAt ?? at);
    if (sync !== null) return fails('configuration.notTaken', { detail: sync });
    if (damaged > 0) return fails('configuration.damaged', { count: damaged });
    return feed !== null && at - this.#lateAt! > 5000 ? fails('configuration.late', { detail: feed }) : well('configuration');
  }

  #shipping(stats: ShipperStats | undefined, at: number): Finding[] {
    if (!stats) return [];
    if (stats.waitingBytes === 0 || stats.waitingBytes < this.#waited) this.#movedAt = at;
    this.#waited = stats.waitingBytes;
    this.#troubledAt = stats.problem === null ? undefined : (this.#troubledAt ?? at);
    const mb = Math.ceil(stats.waitingBytes / MB);
    const seconds = Math.round((at - this.#movedAt) / 1000);
    const value = stats.waitingBytes;
    const found: Finding[] = [];
    if (stats.lostBytes > 0)
      found.push(warns('shipping.lost', { mb: Math.ceil(stats.lostBytes / MB) }, { value: stats.lostBytes, key: 'lost' }));
    if (stats.cutBytes > 0)
      found.push(warns('shipping.cut', { kb: Math.ceil(stats.cutBytes / 1000) }, { value: stats.cutBytes, key: 'cut' }));
    if (stats.unread !== null) found.push(fails('shipping.unread', { detail: stats.unread }, { key: 'unread' }));
    if (stats.problem !== null && at - this.#troubledAt! > 5000)
      found.push(fails('shipping.stuck', { detail: stats.problem }, { value }));
    else if (seconds > healthTimes.shippingLateSeconds) found.push(warns('shipping.waiting', { mb, seconds }, { value }));
    else found.push(well('shipping', value));
    return found;
  }
}
