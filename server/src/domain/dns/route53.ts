/**
 * Amazon Route 53, API 2013-04-01, signed with Signature Version 4. All records of one name and type are one set there: it is replaced only
 * as it was read (its deletion names what is in it), so that two who change it side by side lose nothing. A change is made as a whole or not.
 */
import type { OutboundAnswer } from '../../kit/outbound.ts';
import { DnsProblem, type Zone } from './driver.ts';
import {
  type Api,
  canonicalQuery,
  hmac256,
  pagesMost,
  patiently,
  recordPagesMost,
  retryAfter,
  sha256,
  strange,
  troubleOfStatus,
  without,
} from './http.ts';
import {
  bareName,
  changeApart,
  chunksOf,
  Conflict,
  type HeldRecord,
  pagesOf,
  type RecordApi,
  type SetChange,
  typeOf,
  valueOf,
} from './records.ts';

const base = 'https://route53.amazonaws.com';
const version = '/2013-04-01';
/** Sets of one answer, and what one change may have: 1,000 records, 32,000 characters of their values. */
const together = 300;
const charactersMost = 30_000;
/** A record as so many characters: neither bound is reached before the other is counted. */
const recordCharacters = 32;

export interface AwsRequest {
  method: string;
  /** path as it is asked for */
  path: string;
  query: Readonly<Record<string, string>>;
  headers: Readonly<Record<string, string>>;
  body: string;
}
/** The Authorization header. @param headers in lower case; all of them are signed */
export function awsSignature(
  { method, path, query, headers, body }: AwsRequest,
  key: { id: string; secret: string },
  { region, service, stamp }: { region: string; service: string; stamp: string },
): string {
  const names = Object.keys(headers).sort();
  const canonical = [
    method,
    path,
    canonicalQuery(query),
    ...names.map(name => `${name}:${headers[name]!.trim().replace(/ +/g, ' ')}`),
    '',
    names.join(';'),
    sha256(body),
  ].join('\n');
  const day = stamp.slice(0, 8);
  const scope = `${day}/${region}/${service}/aws4_request`;
  const toSign = ['AWS4-HMAC-SHA256', stamp, scope, sha256(canonical)].join('\n');
  const signing = [region, service, 'aws4_request'].reduce(
    (last: Buffer, part) => hmac256(last, part),
    hmac256(`AWS4${key.secret}`, day),
  );
  const signature = hmac256(signing, toSign).toString('hex');
  return `AWS4-HMAC-SHA256 Credential=${key.id}/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`;
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const plain = (xml: string) =>
  xml.replace(/&(?:#(\d{1,6})|#x([\da-f]{1,6})|(\w+));/gi, (whole, number, hex, name: string) =>
    name
      ? (entities[name] ?? whole)
      : String.fromCodePoint(Math.min(0x10ffff, number ? Number(number) : parseInt(String(hex), 16))),
  );
const escaped = (text: string) => text.replace(/[&<>"']/g, c => `&#${c.charCodeAt(0)};`);
/** What stands in elements of this name: its answers nest none in itself, and give attributes to the outermost alone. */
const all = (xml: string, name: string) =>
  xml
    .split(`<${name}>`)
    .slice(1)
    .map(part => part.split(`</${name}>`, 1)[0]!);
const first = (xml: string, name: string) => plain(all(xml, name)[0] ?? '');
const octal = /\\([0-3][0-7]{2})/g;
/** What is no letter, digit or hyphen of a name is written in octal: `\\052.example.com.` */
const nameOf = (said: string) => bareName(said.replace(octal, (_, code) => String.fromCodePoint(parseInt(String(code), 8))));
/** Whether there is more of a list. @throws DnsProblem: what is not said to be all of it is not */
function isCut(xml: string, root: string): boolean {
  const said = first(xml, 'IsTruncated');
  if (!xml.includes(`</${root}>`) || (said !== 'true' && said !== 'false')) throw part();
  return said === 'true';
}
const part = () => new DnsProblem('away', 'Route 53 answered a part of a list');

const keyCodes =
  /^(InvalidClientTokenId|SignatureDoesNotMatch|AccessDenied|UnrecognizedClient|ExpiredToken|MissingAuthentication|IncompleteSignature|RequestExpired|OptInRequired|NotAuthorized)/;
const limitCodes = /^(Throttling|PriorRequestNotComplete|TooManyRequests|RequestLimitExceeded)/;
const conflictCode = 'InvalidChangeBatch';
const bareID = (id: string) => id.replace(/^\/hostedzone\//, '');
const stampOf = (now: number) => new Date(now).toISOString().replace(/[-:]|\.\d+/g, '');

export class Route53 implements RecordApi {
  readonly provider = 'Route 53';
  readonly minTTL = 1;
  readonly #api: Api;
  readonly #key: { id: string; secret: string };

  constructor(api: Api, id: string, secret: string) {
    this.#api = api;
    this.#key = { id, secret };
  }

  allZones(): Promise<Zone[]> {
    let marker = '';
    return pagesOf('Route 53', pagesMost, async page => {
      const found: Zone[] = [];
      const xml = await this.#ask('GET', '/hostedzone', { maxitems: '100', ...(page ? { marker } : {}) });
      // a name would be written into the zone above its own
      const isLast = !isCut(xml, 'ListHostedZonesResponse');
      const before = marker;
      marker = first(xml, 'NextMarker');
      if (!isLast && (!marker || (page > 0 && marker === before))) throw part();
      for (const zone of all(xml, 'HostedZone')) {
        const [id, name] = [bareID(first(zone, 'Id')), nameOf(first(zone, 'Name'))];
        if (!/^[A-Z0-9]{1,40}$/.test(id) || !name) throw part();
        // an authority sees public zones alone
        if (first(zone, 'PrivateZone') !== 'true') found.push({ id, name });
      }
      return { found, count: found.length, total: undefined, isLast };
    });
  }

  /** It begins at a name and goes on behind it. */
  list(zone: Zone, name?: string): Promise<HeldRecord[]> {
    const begin: Record<string, string> = name ? { name: `${name}.` } : {};
    let next = begin;
    return pagesOf('Route 53', recordPagesMost, async page => {
      if (!page) next = begin;
      const xml = await this.#ask('GET', `/hostedzone/${zone.id}/rrset`, { maxitems: name ? '20' : String(together), ...next });
      const hasMore = isCut(xml, 'ListResourceRecordSetsResponse');
      const sets = all(xml, 'ResourceRecordSet').map(recordsOf);
      const [at, type, identifier] = ['NextRecordName', 'NextRecordType', 'NextRecordIdentifier'].map(one => first(xml, one));
      const asked = next;
      next = { name: at!, type: type!, ...(identifier ? { identifier } : {}) };
      // it would go on for ever where it began
      if (hasMore && (!at || !type || canonicalQuery(next) === canonicalQuery(asked)))
        throw new DnsProblem('away', 'Route 53 does not say where its list goes on');
      const isLast = !hasMore || (name !== undefined && nameOf(at!) !== name);
      const found = sets.flat().filter(one => name === undefined || one.name === name);
      return { found, count: sets.length, total: undefined, isLast };
    });
  }

  async change(zone: Zone, sets: readonly SetChange[]): Promise<void> {
    const sizeOf = ({ held, keep, add }: SetChange) =>
      [...held.map(one => one.value), ...keep.map(one => one.value), ...add].reduce(
        (sum, value) => sum + Math.max(recordCharacters, value.length + 2),
        0,
      );
    await changeApart(chunksOf(sets, sizeOf, charactersMost), async part => {
      const gone = part.flatMap(({ name, held, keep }) => {
        // a site's texts leave it as it is; of an operator's own names nothing is kept of it
        if (keep.some(one => one.isOther))
          throw new DnsProblem('refused', `Route 53: the texts of ${name} have a routing policy, which is left as it is`);
        return [...new Set(held.map(one => one.rawSet!))].map(set => changeOf('DELETE', set));
      });
      const come = part.flatMap(set => {
        const values = [...set.keep.map(one => one.raw!), ...set.add.map(value => written(set.type, value))];
        return values.length ? [changeOf('CREATE', setOf(set, values))] : [];
      });
      await this.#submit(zone, [...gone, ...come]);
    });
  }

  async probe(zone: Zone): Promise<void> {
    const set = setOf({ name: `breakwater-probe.${zone.name}`, type: 'TXT', keep: [], seconds: 60 }, ['"none"']);
    try {
      // what may not be deleted is refused before it is found not to be there
      await this.#submit(zone, [changeOf('DELETE', set)]);
    } catch (error) {
      if (!(error instanceof Conflict)) throw error;
    }
  }

  async #submit(zone: Zone, changes: readonly string[]): Promise<void> {
    const body = `<?xml version="1.0" encoding="UTF-8"?><ChangeResourceRecordSetsRequest xmlns="https://route53.amazonaws.com/doc/2013-04-01/"><ChangeBatch><Changes>${changes.join('')}</Changes></ChangeBatch></ChangeResourceRecordSetsRequest>`;
    const xml = await this.#ask('POST', `/hostedzone/${zone.id}/rrset`, {}, body);
    // all its lists say what is pending as well: nobody waits until its name servers do
    if (!xml.includes('</ChangeResourceRecordSetsResponse>') || !/^(PENDING|INSYNC)$/.test(first(xml, 'Status')))
      throw new DnsProblem('away', 'Route 53 does not say that it made the change');
  }

  #ask(method: 'GET' | 'POST', path: string, query: Record<string, string>, body = ''): Promise<string> {
    return patiently(this.#api, () => this.#askOnce(method, path, query, body));
  }

  async #askOnce(method: 'GET' | 'POST', path: string, query: Record<string, string>, body: string): Promise<string> {
    const own = this.#api.base ?? base;
    const stamp = stampOf(this.#api.now());
    const whole = new URL(own).pathname.replace(/\/$/, '') + version + path;
    const headers = { host: new URL(own).host, 'x-amz-date': stamp };
    const authorization = awsSignature({ method, path: whole, query, headers, body }, this.#key, {
      region: 'us-east-1',
      service: 'route53',
      stamp,
    });
    const { host: _, ...sent } = headers;
    const search = canonicalQuery(query);
    const answer = await this.#api.fetch(`${new URL(own).origin}${whole}${search ? `?${search}` : ''}`, {
      method,
      headers: { ...sent, authorization, ...(body ? { 'content-type': 'application/xml' } : {}) },
      ...(body ? { body } : {}),
    });
    return this.#read(answer);
  }

  #read(answer: OutboundAnswer): string {
    const xml = answer.body.toString('utf8');
    const code = xml.includes('</ErrorResponse>') ? first(xml, 'Code') : xml.includes(`</${conflictCode}>`) ? conflictCode : '';
    if (!code) {
      if (answer.status >= 200 && answer.status < 300) return xml;
      throw strange('Route 53', answer);
    }
    const said = `Route 53: ${without(this.#key.secret, first(xml, 'Message'))} (${code})`;
    if (code === conflictCode) throw new Conflict('refused', said);
    const trouble = keyCodes.test(code) ? 'credentials' : limitCodes.test(code) ? 'limited' : troubleOfStatus(answer.status);
    throw new DnsProblem(trouble, said, retryAfter(answer));
  }
}

/** Those of our types; an alias, which has no records of its own, counts as one that is not answered as it stands. */
function recordsOf(set: string): HeldRecord[] {
  const name = nameOf(first(set, 'Name'));
  const said = first(set, 'Type');
  const values = all(set, 'Value').map(plain);
  const leadsOn = all(set, 'AliasTarget').length > 0 || all(set, 'TrafficPolicyInstanceId').length > 0;
  const seconds = leadsOn ? 0 : Number(first(set, 'TTL') || NaN);
  if (!name || !said || (!values.length && !leadsOn) || Number.isNaN(seconds)) throw part();
  const type = typeOf(said);
  if (!type) return [];
  const isOther = all(set, 'SetIdentifier').length > 0 || leadsOn;
  return (values.length ? values : ['']).map(raw => ({
    id: '',
    name,
    type,
    value: valueOf(type, raw),
    seconds,
    isOther,
    raw,
    rawSet: set,
  }));
}
const written = (type: SetChange['type'], value: string) =>
  type === 'TXT' ? `"${value}"` : type === 'CNAME' ? `${value}.` : value;
const changeOf = (action: 'CREATE' | 'DELETE', set: string) =>
  `<Change><Action>${action}</Action><ResourceRecordSet>${set}</ResourceRecordSet></Change>`;
function setOf(
  { name, type, keep, seconds }: Pick<SetChange, 'name' | 'type' | 'keep' | 'seconds'>,
  values: readonly string[],
): string {
  const records = values.map(value => `<ResourceRecord><Value>${escaped(value)}</Value></ResourceRecord>`).join('');
  // a set has one time for all that is in it
  return `<Name>${escaped(name)}.</Name><Type>${type}</Type><TTL>${keep[0]?.seconds ?? seconds}</TTL><ResourceRecords>${records}</ResourceRecords>`;
}
