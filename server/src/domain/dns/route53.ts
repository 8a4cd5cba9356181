/**
 * Amazon Route 53, API 2013-04-01, signed with Signature Version 4. All texts of one name are one set there: it is replaced only as it was
 * read (its deletion names what is in it), so that two who change it side by side lose nothing.
 */
import { type DnsDriver, DnsProblem, recordSeconds, type Zone, zonesFor } from './driver.ts';
import { type Api, canonicalQuery, hmac256, pagesMost, retryAfter, sha256, troubleOfStatus } from './http.ts';

const base = 'https://route53.amazonaws.com';
const version = '/2013-04-01';
const setTries = 5;

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

const keyCodes =
  /^(InvalidClientTokenId|SignatureDoesNotMatch|AccessDenied|UnrecognizedClient|ExpiredToken|MissingAuthentication|IncompleteSignature|RequestExpired|OptInRequired|NotAuthorized)/;
const limitCodes = /^(Throttling|PriorRequestNotComplete|TooManyRequests|RequestLimitExceeded)/;
const conflictCode = 'InvalidChangeBatch';
const bareID = (id: string) => id.replace(/^\/hostedzone\//, '');
const stampOf = (now: number) => new Date(now).toISOString().replace(/[-:]|\.\d+/g, '');

class Conflict extends DnsProblem {}
interface TextSet {
  seconds: string;
  /** as they stand there, in quotation marks */
  values: string[];
}

export class Route53 implements DnsDriver {
  readonly #api: Api;
  readonly #key: { id: string; secret: string };

  constructor(api: Api, id: string, secret: string) {
    this.#api = api;
    this.#key = { id, secret };
  }

  async zones(names: readonly string[]): Promise<Map<string, Zone>> {
    const found: Zone[] = [];
    let marker = '';
    for (let page = 0; page < pagesMost; page++) {
      const xml = await this.#ask('GET', '/hostedzone', { maxitems: '100', ...(marker ? { marker } : {}) });
      for (const zone of all(xml, 'HostedZone'))
        // an authority sees public zones alone
        if (first(zone, 'PrivateZone') !== 'true' && /^[A-Z0-9]{1,40}$/.test(bareID(first(zone, 'Id'))))
          found.push({ id: bareID(first(zone, 'Id')), name: first(zone, 'Name').replace(/\.$/, '').toLowerCase() });
      marker = first(xml, 'NextMarker');
      if (first(xml, 'IsTruncated') !== 'true' || !marker) break;
    }
    return zonesFor(names, found);
  }

  put(zone: Zone, name: string, value: string): Promise<void> {
    return this.#change(zone, name, values => (values.includes(`"${value}"`) ? values : [...values, `"${value}"`]));
  }
  take(zone: Zone, name: string, value: string): Promise<void> {
    return this.#change(zone, name, values => values.filter(one => one !== `"${value}"`));
  }

  async #change(zone: Zone, name: string, changed: (values: string[]) => string[]): Promise<void> {
    for (let tries = 1; ; tries++) {
      const now = await this.#textsOf(zone, name);
      const values = changed(now?.values ?? []);
      if (values.length === (now?.values.length ?? 0)) return;
      const changes = [
        ...(now ? [change('DELETE', name, now)] : []),
        ...(values.length ? [change('CREATE', name, { seconds: now?.seconds ?? String(recordSeconds), values })] : []),
      ];
      const body = `<?xml version="1.0" encoding="UTF-8"?><ChangeResourceRecordSetsRequest xmlns="https://route53.amazonaws.com/doc/2013-04-01/"><ChangeBatch><Changes>${changes.join('')}</Changes></ChangeBatch></ChangeResourceRecordSetsRequest>`;
      try {
        await this.#ask('POST', `/hostedzone/${zone.id}/rrset`, {}, body);
        return;
      } catch (error) {
        // another changed it meanwhile
        if (!(error instanceof Conflict) || tries >= setTries) throw error;
      }
    }
  }

  async #textsOf(zone: Zone, name: string): Promise<TextSet | undefined> {
    const xml = await this.#ask('GET', `/hostedzone/${zone.id}/rrset`, { name: `${name}.`, type: 'TXT', maxitems: '1' });
    const [set] = all(xml, 'ResourceRecordSet');
    // it answers what comes next where there is none
    if (set === undefined || first(set, 'Name').replace(/\.$/, '') !== name || first(set, 'Type') !== 'TXT') return undefined;
    if (all(set, 'SetIdentifier').length)
      throw new DnsProblem('refused', `Route 53: the texts of ${name} have a routing policy, which is left as it is`);
    return { seconds: first(set, 'TTL') || String(recordSeconds), values: all(set, 'Value').map(plain) };
  }

  async #ask(method: 'GET' | 'POST', path: string, query: Record<string, string>, body = ''): Promise<string> {
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
    const xml = answer.body.toString('utf8');
    if (answer.status >= 200 && answer.status < 300) return xml;
    const code = first(xml, 'Code') || (xml.includes(`<${conflictCode}`) ? conflictCode : '');
    const said = `Route 53: ${first(xml, 'Message') || `it answered ${answer.status}`}${code ? ` (${code})` : ''}`;
    if (code === conflictCode) throw new Conflict('refused', said);
    const trouble = keyCodes.test(code) ? 'credentials' : limitCodes.test(code) ? 'limited' : troubleOfStatus(answer.status);
    throw new DnsProblem(trouble, said, retryAfter(answer));
  }
}

function change(action: 'CREATE' | 'DELETE', name: string, { seconds, values }: TextSet): string {
  const records = values.map(value => `<ResourceRecord><Value>${escaped(value)}</Value></ResourceRecord>`).join('');
  return `<Change><Action>${action}</Action><ResourceRecordSet><Name>${escaped(name)}.</Name><Type>TXT</Type><TTL>${escaped(seconds)}</TTL><ResourceRecords>${records}</ResourceRecords></ResourceRecordSet></Change>`;
}
