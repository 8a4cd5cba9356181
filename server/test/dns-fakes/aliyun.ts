/** Alibaba Cloud DNS. */
import { aliyunSignature } from '#server/domain/dns/aliyun.ts';
import { type Answer, type Asked, drop, isBeside, isDouble, keyID, labelOf, nextID, secret, whole, zones } from './kind.ts';

const bad = (status: number, Code: string, Message: string): Answer => ({ status, body: { Code, Message, RequestId: 'x' } });

export function aliyun({ method, url, headers, records, pageMost, isReadOnly }: Asked): Answer {
  const query = Object.fromEntries(url.searchParams);
  const names = ['host', ...Object.keys(headers).filter(name => name.startsWith('x-acs-'))];
  const signed = Object.fromEntries(names.map(name => [name, headers[name]!]));
  if (headers['authorization'] !== aliyunSignature(method, query, signed, { id: keyID, secret }))
    return bad(400, 'SignatureDoesNotMatch', 'Specified signature is not matched with our calculation.');
  const action = headers['x-acs-action']!;
  const page = Number(query['PageNumber']);
  if (action === 'DescribeDomains') {
    const all = Object.values(zones).map(DomainName => ({ DomainName }));
    return { body: { TotalCount: all.length, Domains: { Domain: [all[page - 1]] } } };
  }
  if (action === 'DescribeDomainRecords' || action === 'DescribeSubDomainRecords') {
    if (Number(query['PageSize']) > 500) return bad(400, 'InvalidPageSize', 'at most 500');
    const at = query['SubDomain']?.replace(/^@\./, '');
    const all = records.filter(one => one.zone === query['DomainName'] && (at === undefined || one.name === at));
    const size = Math.min(pageMost, Number(query['PageSize']));
    const Record = all.slice((page - 1) * size, page * size).map(one => ({
      RecordId: one.id,
      DomainName: one.zone,
      RR: labelOf(one),
      Type: one.type,
      Value: one.value,
      TTL: one.ttl,
      Line: one.line ?? 'default',
      Status: one.isOff ? 'DISABLE' : 'ENABLE',
      Locked: false,
    }));
    return { body: { TotalCount: all.length, PageNumber: page, PageSize: size, DomainRecords: { Record } } };
  }
  if (isReadOnly) return bad(403, 'Forbidden.RAM', 'User not authorized to operate on the specified resource.');
  const held = records.find(one => one.id === query['RecordId']);
  if (action === 'DeleteDomainRecord')
    return held ? (drop(records, held.id), { body: { RecordId: held.id } }) : bad(400, 'DomainRecordNotBelongToUser', 'gone');
  if (action !== 'AddDomainRecord' && action !== 'UpdateDomainRecord') return bad(404, 'InvalidAction.NotFound', action);
  const zone = action === 'AddDomainRecord' ? query['DomainName']! : held?.zone;
  if (zone === undefined) return bad(400, 'DomainRecordNotBelongToUser', 'gone');
  const [type, value, ttl] = [query['Type']!, query['Value']!, Number(query['TTL'])];
  if (ttl < 600) return bad(400, 'QuotaExceeded.TTL', 'The TTL is too small.');
  const given = { zone, name: whole(query['RR']!, zone), type, value, ttl };
  if (isDouble(records, given)) {
    // the same record with another time is no double
    const isSame = held && held.value === value && held.name === given.name && held.ttl !== ttl;
    if (!isSame) return bad(400, 'DomainRecordDuplicate', 'The DNS record already exists.');
  }
  if (isBeside(records, { ...given, ...(held ? { id: held.id } : {}) }))
    return bad(400, 'DomainRecordConflict', 'The DNS record conflicts with others.');
  if (held) {
    Object.assign(held, given);
    return { body: { RecordId: held.id } };
  }
  const id = nextID();
  records.push({ id, ...given });
  return { body: { RecordId: id } };
}
