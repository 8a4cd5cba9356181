/** An API of the page's own: what a piece asks for is answered here, by the number of the site it is asked about. */
import permissions from 'virtual:permissions';
import { language } from '../src/kit/text.ts';
import { long, say, unbroken } from './words.ts';

/** `{siteID: site.many}`: how the calls of that site go. */
export const site = { some: 1, none: 2, never: 3, broken: 4, many: 5, long: 6, forbidden: 7 } as const;
const manyRows = 500;
const at = (minutes: number) => new Date(Date.UTC(2026, 10, 20, 8) - minutes * 60_000).toISOString();

/** So far from now. */
export const hours = (count: number) => new Date(Date.now() + count * 3_600_000).toISOString();
const isShort = (id: number) => id !== site.long;
const row = (id: number, siteID: number) => ({
  id,
  version: 1,
  createdAt: at(id * 7),
  updatedAt: at(id * 3),
  deletedAt: null,
  ips: id % 4 ? [`203.0.113.${id % 250}`] : [`203.0.113.${id % 250}`, '2001:db8::/32', '198.51.100.7-198.51.100.9'],
  blockType: id % 3 ? 'deny' : 'drop',
  enabled: id % 5 !== 0,
  expiredAt: id % 3 ? null : hours(id),
  memo: isShort(siteID) ? (id % 2 ? '' : `memo ${id}`) : `${say(long)} ${unbroken}`,
});

const self = () => ({
  id: 7,
  email: 'gallery@breakwater.test',
  username: 'gallery',
  auth: 'user',
  state: 'normal',
  isRoot: true,
  selfPerms: permissions.flatMap(([, permission]) => permission ?? []),
  permissionKeys: [],
  dnsType: null,
  proxyName: null,
  maxLogExportTimes: 3,
  language,
});

const task = (id: number, part: object) => ({
  id,
  kind: 'copyModule',
  resource: 'logs',
  siteID: null,
  siteName: null,
  about: { name: 'www.example.com', count: 1200 },
  state: 'running',
  done: 0,
  total: 0,
  failed: 0,
  attempts: 0,
  runAt: at(0),
  error: null,
  startedBy: 'ops@example.com',
  createdAt: at(id * 5),
  startedAt: at(id * 5),
  endedAt: null,
  mayEdit: true,
  ...part,
});

const entry = (id: number, siteID: number) => ({
  reqID: `req-${id}`,
  at: at(id * 90),
  by: id === 2 ? null : isShort(siteID) ? 'ops@example.com' : `${'a-very-long-address-of-a-person'.repeat(4)}@example.com`,
  isProxy: id === 1,
  proxy: id === 1 ? 'support@example.com' : null,
  kind: id === 3 ? 'added' : 'changed',
  isWhole: id !== 2,
  fields: [
    { name: 'memo', before: id === 3 ? null : 'old', after: isShort(siteID) ? 'new' : `${say(long)} ${unbroken}` },
    { name: 'ips', before: ['203.0.113.1', '203.0.113.2', '203.0.113.3'], after: ['203.0.113.1', '203.0.113.3', '203.0.113.9'] },
    { name: 'enabled', before: false, after: true },
  ],
});

function answerOf(method: string, path: string, query: URLSearchParams): unknown {
  const siteID = Number(
    /\/site\/(\d+)/.exec(path)?.[1] ?? query.get('siteID') ?? query.get('id') ?? query.get('parentID') ?? site.some,
  );
  const count = siteID === site.none ? 0 : siteID === site.many ? manyRows : 4;
  const ids = query.getAll('ids').map(Number);
  const paged = <T extends object>(all: T[]) => {
    const rows = ids.length ? all.filter(row => 'id' in row && ids.includes(Number(row.id))) : all;
    const size = Number(query.get('pageSize') ?? 25);
    const from = (Number(query.get('page') ?? 1) - 1) * size;
    return { data: rows.slice(from, from + size), total: rows.length };
  };
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  if (siteID === site.never) return new Promise(() => {});
  if (siteID === site.broken) throw Object.assign(new Error('broken'), { status: 500, code: 101001 });
  if (siteID === site.forbidden) throw Object.assign(new Error('forbidden'), { status: 403, code: 101018 });
  if (path.endsWith('/setting/tg/test')) throw Object.assign(new Error(say(long)), { status: 502, code: 101001 });
  if (method !== 'GET') return {};
  if (path.endsWith('/account/self')) return self();
  if (path.endsWith('/blacklists')) return paged(numbers.map(id => row(id, siteID)));
  if (path.endsWith('/setting/gzip'))
    return {
      enabled: true,
      types:
        siteID === site.long
          ? Array.from({ length: 40 }, (_, index) => `application/x-very-long-name-${index}`)
          : ['text/html', 'text/css'],
      minLength: 1000,
      level: 5,
      version: 3,
      from: siteID === site.many ? 'default' : 'site',
      above: {
        from: 'default',
        value: { enabled: true, types: ['text/html', 'text/css'], minLength: siteID === site.many ? 1000 : 200, level: 5 },
      },
    };
  if (path.endsWith('/history/removed'))
    return paged(numbers.slice(0, 3).map(id => ({ id, at: at(id * 60), by: 'ops@example.com', values: row(id, siteID) })));
  if (path.endsWith('/history')) return paged(numbers.slice(0, 3).map(id => entry(id, siteID)));
  if (path.endsWith('/tasks'))
    return paged(
      count
        ? [
            task(1, { done: 300, total: 1200, about: { name: isShort(siteID) ? 'www.example.com' : unbroken, count: 1200 } }),
            task(2, { state: 'waiting', attempts: 2, error: isShort(siteID) ? 'timeout' : say(long) }),
            task(3, { state: 'succeeded', done: 40, total: 40, endedAt: at(1) }),
            task(4, { state: 'failed', done: 40, total: 90, failed: 12, endedAt: at(1), error: 'refused' }),
          ]
        : [],
    );
  const one = /\/task\/(\d+)$/.exec(path);
  if (one)
    return {
      task: task(Number(one[1]), {}),
      lines: [{ n: 1, at: at(4), level: 'info', code: 'started', values: {}, error: null }],
    };
  if (/\/meta\w+$/.test(path)) return numbers.map(id => ({ id, name: `name-${id}` }));
  return { data: [], total: 0 };
}

/** From now on no call of this page leaves it. */
export function fakeApi(): void {
  const real = globalThis.fetch;
  globalThis.fetch = async (target, init) => {
    const url = new URL(target instanceof Request ? target.url : String(target), location.href);
    if (!url.pathname.startsWith('/api/')) return real(target, init);
    try {
      const answer = await Promise.race([answerOf(init?.method ?? 'GET', url.pathname, url.searchParams), given(init?.signal)]);
      return Response.json(answer);
    } catch (error) {
      if (!(error instanceof Error) || !('status' in error)) throw error;
      return Response.json({ code: (error as { code?: number }).code, message: error.message }, { status: Number(error.status) });
    }
  };
}
const given = (signal: AbortSignal | null | undefined) =>
  new Promise<never>((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error)));
