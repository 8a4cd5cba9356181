/** How well one colour stands out from another (WCAG 2.2, relative luminance). Pure. */
export interface Rgb {
  r: number;
  g: number;
  b: number;
}

/** `#0b6168`, `0B6168`, `#fff`; undefined for what is no colour. */
export function rgbOf(text: string): Rgb | undefined {
  const hex = /^\s*#?([0-9a-f]{3}|[0-9a-f]{6})\s*$/i.exec(text)?.[1];
  if (hex === undefined) return undefined;
  const long = hex.length === 3 ? [...hex].map(one => one + one).join('') : hex;
  const [r, g, b] = [0, 2, 4].map(at => Number.parseInt(long.slice(at, at + 2), 16));
  return { r: r!, g: g!, b: b! };
}
export const hexOfRgb = ({ r, g, b }: Rgb) => `#${[r, g, b].map(one => one.toString(16).padStart(2, '0')).join('')}`;

const linear = (value: number) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
const luminance = ({ r, g, b }: Rgb) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);

/** From 1 (the same) to 21 (black on white). */
export function contrast(one: Rgb, other: Rgb): number {
  const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

/** Text needs 4.5; large text and the outline of a control 3. */
export const verdict = (ratio: number): 'good' | 'large' | 'bad' => (ratio >= 4.5 ? 'good' : ratio >= 3 ? 'large' : 'bad');
