/** What the fleet's view reckons. Pure, but for words. */
import type { AnswerOf } from '../kit/client.ts';
import type { Pin, Tone } from '../kit/pin-parts.ts';
import { t } from '../kit/text.ts';
import { bitRate, number } from '../kit/units.ts';

export type FleetNode = AnswerOf<'GET /client/nodes/fleet'>['nodes'][number];

const away = ['offline', 'error', 'natsError'];
/** The worst first, where states are sorted. */
const order = ['error', 'natsError', 'offline', 'reconnect', 'unknown', 'paused', 'normal'];

/** Of a point of the map: what does not serve as it should, what wants to be looked at, what is not in use. */
export function toneOf(node: Pick<FleetNode, 'status' | 'silentSince' | 'troubles' | 'behind' | 'refused'>): Tone {
  if (away.includes(node.status) || node.silentSince !== null) return 'bad';
  if (node.status === 'paused' || node.status === 'unknown') return 'idle';
  return node.status !== 'normal' || node.troubles.length > 0 || node.refused > 0 ? 'warn' : 'good';
}

export const pinsOf = (nodes: readonly FleetNode[]): Pin[] =>
  nodes.flatMap(node => {
    const { id, name, place } = node;
    return place
      ? [{ id, name, place: place.name, latitude: place.latitude, longitude: place.longitude, tone: toneOf(node) }]
      : [];
  });

/** Of the nodes at a place: how many are not well; one alone by its name. */
export function saidOf(pins: readonly Pin[]): string {
  const count = (tone: Tone) => pins.filter(pin => pin.tone === tone).length;
  const [bad, warn] = [count('bad'), count('warn')];
  const parts = [
    ...(pins.length === 1 ? [pins[0]!.name] : []),
    ...(bad ? [t('fleet.bad', { count: number(bad) })] : []),
    ...(warn ? [t('fleet.warn', { count: number(warn) })] : []),
  ];
  return parts.join(' · ');
}

/** "12 nodes, 11 normal · 3.4 Gbps" */
export function fleetSums(nodes: readonly FleetNode[]): string {
  const normal = nodes.filter(node => node.status === 'normal').length;
  const known = nodes.flatMap(node => (node.traffic ? [node.traffic.bitsPerSecond] : []));
  const sum = known.reduce((all, one) => all + one, 0);
  const nodesText = t('zone.normal', { normal: number(normal), nodes: number(nodes.length) });
  return known.length ? `${nodesText} · ${bitRate(sum)}` : nodesText;
}

export type SortName = 'name' | 'status' | 'zone' | 'version' | 'behind' | 'traffic' | 'hits' | 'errors' | 'disk';
type Sorted = Pick<FleetNode, 'name' | 'zoneName' | 'status' | 'version' | 'behind' | 'traffic' | 'disk'>;

/** What is not known comes before everything that is. */
const known = (value: number | null | undefined) => value ?? -1;
const usedOf = ({ disk }: Sorted) => (disk && disk.totalBytes > 0 ? 1 - disk.freeBytes / disk.totalBytes : null);
const numbers: Partial<Record<SortName, (node: Sorted) => number>> = {
  // turned round: the worst first when sorted downwards
  status: node => -order.indexOf(node.status),
  behind: node => node.behind,
  traffic: node => known(node.traffic?.bitsPerSecond),
  hits: node => known(node.traffic?.hitShare),
  errors: node => known(node.traffic?.errorShare),
  disk: node => known(usedOf(node)),
};
/** `edge-2` before `edge-10`. */
const collator = new Intl.Collator('en', { numeric: true });

/** Upwards; of equals by name. */
export function compare(by: SortName, a: Sorted, b: Sorted): number {
  const value = numbers[by];
  const text = (node: Sorted) => (by === 'zone' ? node.zoneName : by === 'version' ? node.version : node.name);
  return (value ? value(a) - value(b) : collator.compare(text(a), text(b))) || collator.compare(a.name, b.name);
}
