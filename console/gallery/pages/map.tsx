import { WorldMap } from '../../src/kit/pieces.ts';
import { ApiError } from '../../src/kit/transport.ts';
import { count } from '../../src/kit/units.ts';
import { shapes } from '../../src/kit/world-shapes.ts';
import type { Example } from '../pieces.ts';
import { long, say } from '../words.ts';

const title = { zh_TW: '各國請求數', zh_CN: '各国请求数', en_US: 'Requests by country' };
const some = ['TW', 'JP', 'US', 'SG', 'HK', 'DE', 'CN', 'BR', 'AU', 'ZA', ''].map((code, index) => ({
  code,
  value: Math.round(420_000 / (index + 1) ** 2.2),
}));
const every = Object.keys(shapes).map((code, index) => ({ code, value: ((index * 7919) % 1000) ** 2 }));
const error = new ApiError({ code: 101001, message: '', status: 500 });
const behind = () => ({ to: '/', search: {} });

export default [
  { state: 'normal', show: () => <WorldMap title={say(title)} items={some} format={count} requests={behind} /> },
  { state: 'empty', show: () => <WorldMap title={say(title)} items={[]} format={count} /> },
  { state: 'loading', show: () => <WorldMap title={say(title)} format={count} /> },
  { state: 'failed', show: () => <WorldMap title={say(title)} format={count} error={error} onRetry={() => {}} /> },
  { state: 'long', show: () => <WorldMap title={say(long)} summary={say(long)} items={some.slice(0, 2)} format={count} /> },
  { state: 'many', show: () => <WorldMap title={say(title)} items={every} format={count} /> },
] satisfies Example[];
