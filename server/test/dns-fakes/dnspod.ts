/** DNSPod: always 200, what went wrong is a number in words. One that is told to become what it is, is a mistake of whoever tells it. */
import { type Answer, type Asked, drop, isBeside, isDouble, keyID, labelOf, nextID, secret, whole, zones } from './kind.ts';

const zoneNames: Record<string, string> = {
  get 1() {
    return zones.one;
  },
  get 2() {
    return zones.deep;
  },
};
const said = (code: string, message: string, more = {}): Answer => ({ body: { status: { code, message }, ...more } });

export function dnspod({ url, body, records, pageMost, isReadOnly }: Asked): Answer {
  const form = Object.fromEntries(new URLSearchParams(body));
  if (form['login_token'] !== `${keyID},${secret}`) return said('-1', 'Login failed, please check');
  if (url.pathname === '/Domain.List')
    return said('1', 'ok', {
      info: { domain_total: 2, all_total: 2 },
      domains: Object.entries(zoneNames)
        .map(([id, name]) => ({ id: Number(id), name, status: 'enable' }))
        .slice(Number(form['offset'])),
    });
  const zone = zoneNames[form['domain_id']!];
  if (!zone) return said('9', 'Not the owner of the domain');
  const name = whole(form['sub_domain'] ?? '@', zone);
  const held = records.find(one => one.id === form['record_id'] && one.zone === zone);
  if (url.pathname === '/Record.List') {
    const all = records.filter(one => one.zone === zone && (form['sub_domain'] === undefined || one.name === name));
    const offset = Number(form['offset'] ?? 0);
    // who asks for all of them gets no more than a page either
    const found = all.slice(offset, offset + Math.min(pageMost, Number(form['length'] ?? 3000)));
    if (!found.length) return said('10', 'No records');
    return said('1', 'ok', {
      // of the zone, whatever is asked for
      info: { sub_domains: String(all.length), record_total: String(records.filter(one => one.zone === zone).length) },
      records: found.map(one => ({
        id: one.id,
        name: labelOf(one),
        line: one.line ? 'Telecom' : 'Default',
        line_id: one.line ?? '0',
        type: one.type,
        ttl: String(one.ttl),
        weight: one.weight ?? null,
        value: one.type === 'CNAME' ? `${one.value}.` : one.value,
        enabled: one.isOff ? '0' : '1',
      })),
    });
  }
  if (isReadOnly) return said('7', 'No permission');
  if (url.pathname === '/Record.Remove') return held ? (drop(records, held.id), said('1', 'ok')) : said('8', 'Record id invalid');
  if (url.pathname !== '/Record.Create' && url.pathname !== '/Record.Modify') return said('3', 'Unknown action');
  const type = form['record_type']!;
  const ttl = Number(form['ttl']);
  if (form['record_line_id'] !== '0') return said('26', 'Record line invalid');
  if (ttl < 600) return said('29', 'TTL too small');
  if (type === 'CNAME' && !form['value']!.endsWith('.')) return said('34', 'Record value invalid');
  const value = type === 'CNAME' ? form['value']!.slice(0, -1) : form['value']!;
  const given = { zone, name, type, value, ttl };
  if (url.pathname === '/Record.Modify') {
    if (!held) return said('8', 'Record id invalid');
    if (held.value === value && held.ttl === ttl) return said('500', 'Nothing was changed');
    if (isDouble(records, { ...given, id: held.id })) return said('104', 'Record already exists');
    if (isBeside(records, { ...given, id: held.id })) return said('31', 'Conflicting record');
    Object.assign(held, given);
    return said('1', 'ok', { record: { id: Number(held.id) } });
  }
  if (isDouble(records, given)) return said('104', 'Record already exists');
  if (isBeside(records, given)) return said('31', 'Conflicting record');
  const id = nextID();
  records.push({ id, ...given });
  return said('1', 'ok', { record: { id } });
}
