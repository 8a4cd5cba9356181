/** What the map of places reckons. Pure. */
import { worldSize } from './world-shapes.ts';

/** Of a place: the worst of what stands there says how it looks. */
export const tones = ['idle', 'good', 'warn', 'bad'] as const;
export type Tone = (typeof tones)[number];

export interface Pin {
  id: number;
  name: string;
  /** what the place is called */
  place: string;
  /** degrees of WGS 84 */
  latitude: number;
  longitude: number;
  tone: Tone;
}

export interface Cluster {
  x: number;
  y: number;
  /** the names of its places, the one with the most first */
  places: string[];
  pins: Pin[];
  tone: Tone;
}

/** The shapes are Equal Earth (Šavrič, Patterson, Jenny 2018) around 11° E; scale and middle are those by which they were drawn. */
const drawn = { meridian: 11, scale: 191.15, x: 489.04, y: 249.4 };
const [A1, A2, A3, A4] = [1.340264, -0.081106, 0.000893, 0.003796];
const half3 = Math.sqrt(3) / 2;
const radians = Math.PI / 180;

/** Where on the map; within it, whatever is given. */
export function projected(latitude: number, longitude: number): [x: number, y: number] {
  const turned = ((((longitude - drawn.meridian + 180) % 360) + 360) % 360) - 180;
  const theta = Math.asin(half3 * Math.sin(Math.max(-90, Math.min(90, latitude)) * radians));
  const square = theta * theta;
  const sixth = square * square * square;
  const x = (turned * radians * Math.cos(theta)) / (half3 * (A1 + 3 * A2 * square + sixth * (7 * A3 + 9 * A4 * square)));
  const y = theta * (A1 + A2 * square + sixth * (A3 + A4 * square));
  const within = (value: number, most: number) => Math.round(10 * Math.max(0, Math.min(most, value))) / 10;
  return [within(drawn.x + drawn.scale * x, worldSize.width), within(drawn.y - drawn.scale * y, worldSize.height)];
}

const worst = (pins: readonly Pin[]): Tone => tones[Math.max(...pins.map(pin => tones.indexOf(pin.tone)))]!;

/** Pins nearer to each other than `apart` (units of the map) are one; the place with the most draws the others to it. */
export function clustered(pins: readonly Pin[], apart: number): Cluster[] {
  const byPlace = new Map<string, { x: number; y: number; pins: Pin[] }>();
  for (const pin of pins) {
    const [x, y] = projected(pin.latitude, pin.longitude);
    const there = byPlace.get(`${x} ${y}`);
    if (there) there.pins.push(pin);
    else byPlace.set(`${x} ${y}`, { x, y, pins: [pin] });
  }
  const clusters: { x: number; y: number; pins: Pin[] }[] = [];
  for (const one of [...byPlace.values()].sort((a, b) => b.pins.length - a.pins.length || a.x - b.x)) {
    const near = clusters.find(other => Math.hypot(other.x - one.x, other.y - one.y) < apart);
    if (near) near.pins.push(...one.pins);
    else clusters.push({ ...one, pins: [...one.pins] });
  }
  return clusters.map(({ x, y, pins: all }) => {
    const counts = new Map<string, number>();
    for (const { place } of all) counts.set(place, (counts.get(place) ?? 0) + 1);
    const places = [...counts].sort((a, b) => b[1] - a[1]).map(([place]) => place);
    return { x, y, places, pins: all, tone: worst(all) };
  });
}

/** Of a point, by how many it stands for; units of the map. */
export const radiusOf = (count: number) => (count === 1 ? 6 : 9 + Math.min(7, 2.2 * Math.log2(count)));
