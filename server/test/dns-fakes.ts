/**
 * APIs of DNS providers, as far as we ask them: each checks the signature or the token of what it really received, keeps records, and answers
 * in its provider's words. Two zones: `one.test` and `deep.one.test`.
 */
import { once } from 'node:events';
import http from 'node:http';
import { aliyunSignature } from '#server/domain/dns/aliyun.ts';
import { awsSignature } from '#server/domain/dns/route53.ts';
import { freePort } from '#server/store/engine-process.ts';

export const keyID = 'key-id-1';
export const secret = 'a-secret-that-is-right';
interface Text {
  id: string;
  zone: string;
  name: string;
  value: string;
}
interface Asked {
  method: string;
  url: URL;
  headers: Record<string, string>;
  body: string;
  texts: Text[];
}
interface Answer {
  status?: number;
  headers?: Record<string, string>;
  body: unknown;
}
export interface Fake {
  base: string;
  texts: Text[];
  /** what it says to everything, until it is told otherwise */
  always: Answer | undefined;
  /** before it answers a question of this kind */
  before: ((asked: Asked) => void) | undefined;
  stop(): void;
}
const zones = { one: 'one.test', deep: 'deep.one.test' } as const;
const zoneNames: Record<string, string> = { Zone1: zones.one, Zone2: zones.deep };
let made = 0;

export async function startFake(provider: 'cloudflare' | 'dnspod' | 'route53' | 'aliyun'): Promise<Fake> {
  const fake: Fake = { base: '', texts: [], always: undefined, before: undefined, stop: () => server.close() };
  const server = http.createServer((request, answer) => {
    let body = '';
    request.setEncoding('utf8').on('data', part => (body += part));
    request.on('end', () => {
      const asked: Asked = {
        method: request.method!,
        url: new URL(request.url!, 'http://fake.test'),
        headers: request.headers as Record<string, string>,
        body,
        texts: fake.texts,
      };
      fake.before?.(asked);
      const { status = 200, headers = {}, body: said } = fake.always ?? fakes[provider](asked);
      answer.writeHead(status, headers).end(typeof said === 'string' ? said : JSON.stringify(said));
    });
  });
  const port = await freePort(12_000, 19_999);
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  // it keeps nobody from ending
  server.unref();
  fake.base = `http://127.0.0.1:${port}${provider === 'cloudflare' ? '/client/v4' : ''}`;
  return fake;
}

const add = (texts: Text[], one: Omit<Text, 'id'>) => {
  const text = { id: String(1000 + made++), ...one };
  texts.push(text);
  return text;
};
const drop = (texts: Text[], id: string) => {
  const at = texts.findIndex(one => one.id === id);
  if (at >= 0) texts.splice(at, 1);
  return at >= 0;
};
const whole = (rr: string, zone: string) => (rr === '@' ? zone : `${rr}.${zone}`);

const fakes: Record<'cloudflare' | 'dnspod' | 'route53' | 'aliyun', (asked: Asked) => Answer> = {
  cloudflare({ method, url, headers, body, texts }) {
    const bad = (status: number, code: number, message: string) => ({
      status,
      body: { success: false, errors: [{ code, message }], result: null },
    });
    if (headers['authorization'] !== `Bearer ${secret}`) return bad(403, 9109, 'Invalid access token');
    const good = (result: unknown, more = {}) => ({ body: { success: true, errors: [], result, ...more } });
    if (url.pathname === '/client/v4/zones') {
      const page = Number(url.searchParams.get('page'));
      // one of each page
      const all = Object.entries(zoneNames).map(([id, name]) => ({ id, name }));
      return good([all[page - 1]], { result_info: { total_pages: all.length } });
    }
    const [, id, record] = /^\/client\/v4\/zones\/(\w+)\/dns_records(?:\/(\w+))?$/.exec(url.pathname) ?? [];
    const zone = zoneNames[id!]!;
    if (method === 'POST') {
      const { name, content, type } = JSON.parse(body) as { name: string; content: string; type: string };
      if (type !== 'TXT') return bad(400, 9005, 'wrong type');
      const value = content.slice(1, -1);
      if (texts.some(one => one.name === name && one.value === value))
        return bad(400, 81058, 'An identical record already exists.');
      return good(add(texts, { zone, name, value }));
    }
    if (method === 'DELETE') return drop(texts, record!) ? good({ id: record }) : bad(404, 81044, 'Record does not exist.');
    const found = texts.filter(one => one.zone === zone && one.name === url.searchParams.get('name'));
    return good(found.map(one => ({ id: one.id, content: `"${one.value}"` })));
  },

  dnspod({ url, body, texts }) {
    const form = Object.fromEntries(new URLSearchParams(body));
    const said = (code: string, message: string, more = {}) => ({ body: { status: { code, message }, ...more } });
    if (form['login_token'] !== `${keyID},${secret}`) return said('-1', 'Login failed, please check');
    const zone = form['domain_id'] === '1' ? zones.one : zones.deep;
    const name = whole(form['sub_domain'] ?? '@', zone);
    switch (url.pathname) {
      case '/Domain.List':
        return said('1', 'ok', {
          domains: [
            { id: 1, name: zones.one },
            { id: 2, name: zones.deep },
          ],
        });
      case '/Record.List': {
        const records = texts.filter(one => one.name === name).map(one => ({ id: one.id, value: one.value }));
        return records.length ? said('1', 'ok', { records }) : said('10', 'No records');
      }
      case '/Record.Create':
        return said('1', 'ok', { record: { id: add(texts, { zone, name, value: form['value']! }).id } });
      case '/Record.Remove':
        return drop(texts, form['record_id']!) ? said('1', 'ok') : said('8', 'Record id invalid');
      default:
        return said('3', 'unknown');
    }
  },

  route53({ method, url, headers, body, texts }) {
    const bad = (status: number, code: string, message: string) => ({
      status,
      body: `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`,
    });
    const stamp = headers['x-amz-date']!;
    const wanted = awsSignature(
      {
        method,
        path: url.pathname,
        query: Object.fromEntries(url.searchParams),
        headers: { host: headers['host']!, 'x-amz-date': stamp },
        body,
      },
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
            body: `<R><HostedZones>${zone('Z2', zones.deep)}${zone('Z3', 'deeper.deep.one.test', true)}</HostedZones><IsTruncated>false</IsTruncated></R>`,
          }
        : {
            body: `<R><HostedZones>${zone('Z1', zones.one)}</HostedZones><IsTruncated>true</IsTruncated><NextMarker>Z2</NextMarker></R>`,
          };
    }
    const zone = url.pathname.includes('/Z1/') ? zones.one : zones.deep;
    const values = (name: string) => texts.filter(one => one.name === name).map(one => one.value);
    if (method === 'GET') {
      const name = url.searchParams.get('name')!.slice(0, -1);
      const [at = 'zzz.one.test', list = ['next']] = values(name).length ? [name, values(name)] : [];
      const inner = list.map(value => `<ResourceRecord><Value>&quot;${value}&quot;</Value></ResourceRecord>`).join('');
      return {
        body: `<R><ResourceRecordSets><ResourceRecordSet><Name>${at}.</Name><Type>TXT</Type><TTL>60</TTL><ResourceRecords>${inner}</ResourceRecords></ResourceRecordSet></ResourceRecordSets></R>`,
      };
    }
    const changes = [
      ...body.matchAll(/<Change><Action>(\w+)<\/Action>.*?<Name>(.*?)\.<\/Name>.*?<ResourceRecords>(.*?)<\/ResourceRecords>/g),
    ].map(([, action, name, inner]) => ({
      action: action!,
      name: name!,
      values: [...inner!.matchAll(/<Value>&#34;(.*?)&#34;<\/Value>/g)].map(([, value]) => value!),
    }));
    let now = changes.length ? values(changes[0]!.name) : [];
    for (const { action, values: given } of changes) {
      // all or nothing, and what is taken away is named as it stands
      if (action === 'DELETE' && JSON.stringify(given) !== JSON.stringify(now))
        return bad(400, 'InvalidChangeBatch', 'values provided do not match');
      if (action === 'CREATE' && now.length) return bad(400, 'InvalidChangeBatch', 'it already exists');
      now = action === 'DELETE' ? [] : given;
    }
    const { name } = changes[0]!;
    for (const one of texts.filter(text => text.name === name)) drop(texts, one.id);
    for (const value of now) add(texts, { zone, name, value });
    return { body: '<R><ChangeInfo><Status>PENDING</Status></ChangeInfo></R>' };
  },

  aliyun({ method, url, headers, texts }) {
    const query = Object.fromEntries(url.searchParams);
    const bad = (status: number, Code: string, Message: string) => ({ status, body: { Code, Message, RequestId: 'x' } });
    const names = ['host', ...Object.keys(headers).filter(name => name.startsWith('x-acs-'))];
    const signedHeaders = Object.fromEntries(names.map(name => [name, headers[name]!]));
    if (headers['authorization'] !== aliyunSignature(method, query, signedHeaders, { id: keyID, secret }))
      return bad(400, 'SignatureDoesNotMatch', 'Specified signature is not matched with our calculation.');
    const name = (full: string) => full.replace(/^@\./, '');
    switch (headers['x-acs-action']) {
      case 'DescribeDomains': {
        const all = Object.values(zones).map(DomainName => ({ DomainName }));
        return { body: { TotalCount: all.length, Domains: { Domain: [all[Number(query['PageNumber']) - 1]] } } };
      }
      case 'AddDomainRecord': {
        const at = whole(query['RR']!, query['DomainName']!);
        if (texts.some(one => one.name === at && one.value === query['Value']))
          return bad(400, 'DomainRecordDuplicate', 'The DNS record already exists.');
        return { body: { RecordId: add(texts, { zone: query['DomainName']!, name: at, value: query['Value']! }).id } };
      }
      case 'DescribeSubDomainRecords': {
        const Record = texts
          .filter(one => one.name === name(query['SubDomain']!))
          .map(one => ({ RecordId: one.id, Value: one.value }));
        return { body: { TotalCount: Record.length, DomainRecords: { Record } } };
      }
      default:
        return drop(texts, query['RecordId']!) ? { body: {} } : bad(400, 'DomainRecordNotBelongToUser', 'gone');
    }
  },
};
