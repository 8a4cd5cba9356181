/** Cloudflare: a batch is made whole or not at all, in the order deletes, patches, posts. */
import { type Answer, type Asked, drop, type FakeRecord, isBeside, isDouble, nextID, secret, zones } from './kind.ts';

const zoneNames: Record<string, string> = {
  get Zone1() {
    return zones.one;
  },
  get Zone2() {
    return zones.deep;
  },
};
const batchMost = 200;
type Given = Pick<FakeRecord, 'type' | 'name' | 'ttl'> & { id: string; content: string; proxied: boolean };

const bad = (status: number, code: number, message: string): Answer => ({
  status,
  body: { success: false, errors: [{ code, message }], result: null },
});
const good = (result: unknown, more = {}): Answer => ({ body: { success: true, errors: [], messages: [], result, ...more } });
const valueOf = (type: string, content: string) => (type === 'TXT' ? content.slice(1, -1) : content);

export function cloudflare({ method, url, headers, body, records, pageMost, isReadOnly }: Asked): Answer {
  if (headers['authorization'] !== `Bearer ${secret}`) return bad(403, 9109, 'Invalid access token');
  const page = Number(url.searchParams.get('page'));
  if (url.pathname === '/client/v4/zones') {
    // one of each page
    const all = Object.entries(zoneNames).map(([id, name]) => ({
      id,
      name,
      status: 'active',
      type: 'full',
      name_servers: ['a.ns.test', 'b.ns.test'],
    }));
    return good([all[page - 1]], { result_info: { page, total_pages: all.length, total_count: all.length } });
  }
  const [, id, record] = /^\/client\/v4\/zones\/(\w+)\/dns_records(?:\/(\w+))?$/.exec(url.pathname) ?? [];
  const zone = zoneNames[id!];
  if (!zone) return bad(404, 7003, 'Could not route to the zone');
  if (method === 'GET') {
    if (!(page >= 1)) return bad(400, 1004, 'page is missing');
    const name = url.searchParams.get('name');
    const all = records.filter(one => one.zone === zone && (name === null || one.name === name));
    const size = Math.min(pageMost, Number(url.searchParams.get('per_page')));
    const found = all.slice((page - 1) * size, page * size).map(one => ({
      id: one.id,
      name: one.name,
      type: one.type,
      content: one.type === 'TXT' ? `"${one.value}"` : one.value,
      ttl: one.ttl,
      proxied: one.proxied ?? false,
    }));
    const info = {
      page,
      per_page: size,
      count: found.length,
      total_count: all.length,
      total_pages: Math.ceil(all.length / size),
    };
    return good(found, { result_info: info });
  }
  if (isReadOnly) return bad(403, 10000, 'Authentication error');
  if (method === 'DELETE') return drop(records, record!) ? good({ id: record }) : bad(404, 81044, 'Record does not exist.');
  if (method !== 'POST' || record !== 'batch') return bad(405, 7001, 'Method not allowed');
  const batch = JSON.parse(body) as { deletes: { id: string }[]; patches: Partial<Given>[]; posts: Given[] };
  if (batch.deletes.length + batch.patches.length + batch.posts.length > batchMost) return bad(400, 9207, 'too many records');
  const now = records.map(one => ({ ...one }));
  for (const one of batch.deletes) if (!drop(now, one.id)) return bad(404, 81044, 'Record does not exist.');
  for (const { id: at, content, ttl } of batch.patches) {
    const one = now.find(held => held.id === at);
    if (!one) return bad(404, 81044, 'Record does not exist.');
    Object.assign(one, { value: valueOf(one.type, content!), ttl });
    if (isDouble(now, one)) return bad(400, 81058, 'An identical record already exists.');
  }
  for (const { type, name, content, ttl, proxied } of batch.posts) {
    if (name !== zone && !name.endsWith(`.${zone}`)) return bad(400, 9000, 'DNS name is invalid.');
    if (ttl !== 1 && ttl < 60) return bad(400, 9021, 'Invalid TTL.');
    const one = { id: nextID(), zone, name, type, value: valueOf(type, content), ttl, proxied };
    if (isDouble(now, one)) return bad(400, 81058, 'An identical record already exists.');
    if (isBeside(now, one)) return bad(400, 81053, 'An A, AAAA, or CNAME record with that host already exists.');
    now.push(one);
  }
  records.splice(0, records.length, ...now);
  return good({ ...batch, puts: null });
}
