/** Alibaba Cloud DNS (alidns, version 2015-01-09), signed by its method V3 (ACS3-HMAC-SHA256). */
import { randomBytes } from 'node:crypto';
import * as z from 'zod/mini';
import { type DnsDriver, DnsProblem, type Zone, within, zonesFor } from './driver.ts';
import { type Api, canonicalQuery, hmac256, pagesMost, readJson, retryAfter, sha256, troubleOfStatus } from './http.ts';

const base = 'https://alidns.aliyuncs.com';
const version = '2015-01-09';
const Problem = z.object({ Code: z.string(), Message: z._default(z.string(), '') });
const Domains = z.object({
  TotalCount: z.number(),
  Domains: z.object({ Domain: z.array(z.object({ DomainName: z.string() })) }),
});
const Records = z.object({
  DomainRecords: z.object({ Record: z.array(z.object({ RecordId: z.string(), Value: z.string() })) }),
});
const keyCodes =
  /^(InvalidAccessKeyId|SignatureDoesNotMatch|IncompleteSignature|Forbidden|NoPermission|InvalidSecurityToken|SignatureNonceUsed|InvalidTimeStamp)/;
const limitCodes = /^Throttling/;
/** It is there already; it is not there any more. */
const doneCodes = new Set(['DomainRecordDuplicate', 'DomainRecordNotBelongToUser', 'DomainRecordNotExist']);
const together = 100;
/** The least of accounts that pay nothing. */
const leastSeconds = 600;

/** The Authorization header of a call that has all in its query. @param headers in lower case: host and x-acs-… */
export function aliyunSignature(
  method: string,
  query: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>>,
  key: { id: string; secret: string },
): string {
  const names = Object.keys(headers).sort();
  const canonical = [
    method,
    '/',
    canonicalQuery(query),
    ...names.map(name => `${name}:${headers[name]!.trim()}`),
    '',
    names.join(';'),
    headers['x-acs-content-sha256'],
  ].join('\n');
  const signature = hmac256(key.secret, `ACS3-HMAC-SHA256\n${sha256(canonical)}`).toString('hex');
  return `ACS3-HMAC-SHA256 Credential=${key.id},SignedHeaders=${names.join(';')},Signature=${signature}`;
}

export class Aliyun implements DnsDriver {
  readonly #api: Api;
  readonly #key: { id: string; secret: string };

  constructor(api: Api, id: string, secret: string) {
    this.#api = api;
    this.#key = { id, secret };
  }

  async zones(names: readonly string[]): Promise<Map<string, Zone>> {
    const all: Zone[] = [];
    for (let page = 1; page <= pagesMost; page++) {
      const answer = await this.#ask('DescribeDomains', { PageNumber: String(page), PageSize: String(together) });
      const { TotalCount, Domains: found } = readJson('Alibaba Cloud', Domains, answer);
      all.push(...found.Domain.map(({ DomainName }) => ({ id: '', name: DomainName })));
      if (all.length >= TotalCount || !found.Domain.length) break;
    }
    return zonesFor(names, all);
  }

  async put(zone: Zone, name: string, value: string): Promise<void> {
    await this.#ask('AddDomainRecord', {
      DomainName: zone.name,
      RR: within(zone, name),
      Type: 'TXT',
      Value: value,
      TTL: String(leastSeconds),
    });
  }

  async take(zone: Zone, name: string, value: string): Promise<void> {
    const answer = await this.#ask('DescribeSubDomainRecords', {
      DomainName: zone.name,
      SubDomain: name === zone.name ? `@.${name}` : name,
      Type: 'TXT',
      PageSize: String(together),
    });
    for (const one of readJson('Alibaba Cloud', Records, answer).DomainRecords.Record)
      if (one.Value === value) await this.#ask('DeleteDomainRecord', { RecordId: one.RecordId });
  }

  async #ask(action: string, query: Record<string, string>) {
    const own = this.#api.base ?? base;
    const headers = {
      host: new URL(own).host,
      'x-acs-action': action,
      'x-acs-content-sha256': sha256(''),
      'x-acs-date': new Date(this.#api.now()).toISOString().replace(/\.\d+/, ''),
      'x-acs-signature-nonce': randomBytes(16).toString('hex'),
      'x-acs-version': version,
    };
    const authorization = aliyunSignature('POST', query, headers, this.#key);
    const { host: _, ...sent } = headers;
    const answer = await this.#api.fetch(`${own}/?${canonicalQuery(query)}`, {
      method: 'POST',
      headers: { ...sent, authorization, accept: 'application/json' },
    });
    if (answer.status >= 200 && answer.status < 300) return answer;
    const { Code, Message } = readJson('Alibaba Cloud', Problem, answer);
    if (doneCodes.has(Code)) return answer;
    const trouble = keyCodes.test(Code) ? 'credentials' : limitCodes.test(Code) ? 'limited' : troubleOfStatus(answer.status);
    throw new DnsProblem(trouble, `Alibaba Cloud: ${Message} (${Code})`, retryAfter(answer));
  }
}
