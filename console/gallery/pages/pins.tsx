import { useState } from 'react';
import { PinMap } from '../../src/kit/pieces.ts';
import { type Pin, tones } from '../../src/kit/pin-parts.ts';
import { ApiError } from '../../src/kit/transport.ts';
import type { Example } from '../pieces.ts';
import { long, say, unbroken } from '../words.ts';

const title = { zh_TW: '節點所在地', zh_CN: '节点所在地', en_US: 'Where nodes stand' };
const at = [
  ['Taipei', 25.03, 121.56],
  ['Tokyo', 35.68, 139.69],
  ['Frankfurt', 50.11, 8.68],
  ['Ashburn', 39.04, -77.49],
  ['São Paulo', -23.55, -46.63],
  ['Sydney', -33.87, 151.21],
] as const;
const pins = (count: number, place?: string): Pin[] =>
  Array.from({ length: count }, (_, index) => {
    const [name, latitude, longitude] = at[index % at.length]!;
    const tone = tones[index % 7 === 3 ? 3 : index % 5 === 2 ? 2 : 1]!;
    return { id: index + 1, name: `edge-${index + 1}`, place: place ?? name, latitude, longitude, tone };
  });
/** All over the world, in a spiral. */
const every: Pin[] = Array.from({ length: 400 }, (_, index) => ({
  ...{ id: index + 1, name: `edge-${index + 1}`, place: `site ${index + 1}`, tone: tones[index % 4]! },
  latitude: 65 - index * 0.27,
  longitude: ((index * 137.5) % 360) - 180,
}));
const said = (some: readonly Pin[]) => {
  const bad = some.filter(pin => pin.tone === 'bad').length;
  return bad ? say({ zh_TW: `${bad} 個異常`, zh_CN: `${bad} 个异常`, en_US: `${bad} not well` }) : '';
};
function Map({ all }: { all: readonly Pin[] }) {
  const [chosen, choose] = useState<readonly Pin[]>([]);
  return <PinMap title={say(title)} pins={all} said={said} chosen={chosen.map(pin => pin.id)} onChoose={choose} />;
}
const error = new ApiError({ code: 101001, message: '', status: 500 });
const nothing = () => {};

export default [
  { state: 'normal', show: () => <Map all={pins(17)} /> },
  { state: 'empty', show: () => <Map all={[]} /> },
  { state: 'loading', show: () => <PinMap title={say(title)} said={said} onChoose={nothing} /> },
  { state: 'failed', show: () => <PinMap title={say(title)} said={said} onChoose={nothing} error={error} onRetry={nothing} /> },
  {
    state: 'long',
    show: () => (
      <PinMap
        title={say(long)}
        summary={say(long)}
        pins={pins(3, `${say(long)} ${unbroken}`)}
        said={() => say(long)}
        onChoose={nothing}
      />
    ),
  },
  { state: 'many', show: () => <Map all={every} /> },
] satisfies Example[];
