/** Route 53: sets in the order of their names from behind; a change is all or nothing, and what is taken away is named as it stands. */
import { awsSignature } from '#server/domain/dns/route53.ts';
import { type Answer, type Asked, drop, type FakeRecord, isBeside, keyID, nextID, secret, zones } from './kind.ts';

const bad = (status: number, code: string, message: string): Answer => ({
  status,
  body: `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`,
});
const values = (inner: string) =>
  [...inner.matchAll(/<Value>(.*?)<\/Value>/g)].map(([, value]) => value!.replace(/&#34;|&quot;/g, '"'));
const said = ({ type, value }: FakeRecord) => (type === 'TXT' ? `"${value}"` : type === 'CNAME' ? `${value}.` : value);
const plain = (type: string, value: string) =>
  type === 'TXT' ? value.slice(1, -1) : type === 'CNAME' ? value.replace(/\.$/, '') : value;
const part = (inner: string, name: string) => new RegExp(`<${name}>(.*?)</${name}>`).exec(inner)?.[1];
const keyOf = ({ name, type, set = '' }: Pick<FakeRecord, 'name' | 'type' | 'set'>) =>
  `${name.split('.').toReversed().join(' ')} ${type} ${set}`;

export function route53({ method, url, headers, body, records, pageMost, isReadOnly }: Asked): Answer {
  const stamp = headers['x-amz-date']!;
  const signed = { host: headers['host']!, 'x-amz-date': stamp };
  const query = Object.fromEntries(url.searchParams);
  const wanted = awsSignature(
    { method, path: url.pathname, query, headers: signed, body },
    { id: keyID, secret },
    { region: 'us-east-1', service: 'route53', stamp },
  );
  if (headers['authorization'] !== wanted)
    return bad(403, 'SignatureDoesNotMatch', 'The request signature we calculated does not match');
  if (url.pathname === '/2013-04-01/hostedzone') {
    const zone = (id: string, name: string, isPrivate = false) =>
      `<HostedZone><Id>/hostedzone/${id}</Id><Name>${name}.</Name><Config><PrivateZone>${isPrivate}</PrivateZone></Config></HostedZone>`;
    // a page each, and one that the world does not see
    return url.searchParams.has('marker')
      ? {
          body: `<ListHostedZonesResponse><HostedZones>${zone('Z2', zones.deep)}${zone('Z3', 'deeper.deep.one.test', true)}</HostedZones><IsTruncated>false</IsTruncated></ListHostedZonesResponse>`,
        }
      : {
          body: `<ListHostedZonesResponse><HostedZones>${zone('Z1', zones.one)}</HostedZones><IsTruncated>true</IsTruncated><NextMarker>Z2</NextMarker></ListHostedZonesResponse>`,
        };
  }
  const zone = url.pathname.includes('/Z1/') ? zones.one : zones.deep;
  const setsOf = (all: readonly FakeRecord[]) =>
    [
      ...Map.groupBy(
        all.filter(one => one.zone === zone),
        keyOf,
      ),
    ].sort(([one], [other]) => (one < other ? -1 : 1));
  if (method === 'GET') {
    const from = query['name']
      ? keyOf({ name: query['name'].replace(/\.$/, ''), type: query['type'] ?? '', set: query['identifier'] ?? '' }).trimEnd()
      : '';
    const all = setsOf(records).filter(([key]) => key >= from);
    const most = Math.min(pageMost, Number(query['maxitems']));
    const inner = all.slice(0, most).map(([, set]) => {
      const { name, type, ttl, set: identifier } = set[0]!;
      const policy = identifier ? `<SetIdentifier>${identifier}</SetIdentifier><Weight>1</Weight>` : '';
      const list = set
        .map(one => `<ResourceRecord><Value>${said(one).replaceAll('"', '&quot;')}</Value></ResourceRecord>`)
        .join('');
      return `<ResourceRecordSet><Name>${name}.</Name><Type>${type}</Type>${policy}<TTL>${ttl}</TTL><ResourceRecords>${list}</ResourceRecords></ResourceRecordSet>`;
    });
    const next = all[most]?.[1][0];
    const more = next
      ? `<IsTruncated>true</IsTruncated><NextRecordName>${next.name}.</NextRecordName><NextRecordType>${next.type}</NextRecordType>${next.set ? `<NextRecordIdentifier>${next.set}</NextRecordIdentifier>` : ''}`
      : '<IsTruncated>false</IsTruncated>';
    return {
      body: `<ListResourceRecordSetsResponse><ResourceRecordSets>${inner.join('')}</ResourceRecordSets>${more}</ListResourceRecordSetsResponse>`,
    };
  }
  if (isReadOnly) return bad(403, 'AccessDenied', 'User is not authorized to perform route53:ChangeResourceRecordSets');
  const now = records.map(one => ({ ...one }));
  for (const [, action, inner] of body.matchAll(
    /<Change><Action>(\w+)<\/Action><ResourceRecordSet>(.*?)<\/ResourceRecordSet>/g,
  )) {
    const name = part(inner!, 'Name')!.replace(/\.$/, '');
    const [type, ttl, set] = [part(inner!, 'Type')!, Number(part(inner!, 'TTL')), part(inner!, 'SetIdentifier')];
    const given = values(inner!).map(value => plain(type, value));
    const there = now.filter(one => one.name === name && one.type === type && one.set === set);
    if (action === 'DELETE') {
      if (!there.length || String(there.map(one => one.value)) !== String(given) || there[0]!.ttl !== ttl)
        return bad(400, 'InvalidChangeBatch', 'values provided do not match');
      for (const one of there) drop(now, one.id);
      continue;
    }
    if (there.length || now.some(one => one.name === name && one.type === type && one.set))
      return bad(400, 'InvalidChangeBatch', 'it already exists');
    if (isBeside(now, { name, type })) return bad(400, 'InvalidChangeBatch', 'a CNAME with other records of that name');
    now.push(...given.map(value => ({ id: nextID(), zone, name, type, value, ttl, ...(set ? { set } : {}) })));
  }
  records.splice(0, records.length, ...now);
  return {
    body: '<ChangeResourceRecordSetsResponse><ChangeInfo><Status>PENDING</Status></ChangeInfo></ChangeResourceRecordSetsResponse>',
  };
}
