/** Alibaba Cloud DNS (alidns, version 2015-01-09), signed by its method V3 (ACS3-HMAC-SHA256). Each record is changed by itself. */
import { randomBytes } from 'node:crypto';
import * as z from 'zod/mini';
import { DnsProblem, type Zone, within } from './driver.ts';
import {
  type Api,
  canonicalQuery,
  hmac256,
  jsonOf,
  pagesMost,
  patiently,
  readJson,
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
  Conflict,
  type HeldRecord,
  pagesOf,
  partOf,
  type RecordApi,
  type SetChange,
  stepsOfPart,
  typeOf,
  valueOf,
} from './records.ts';

const base = 'https://alidns.aliyuncs.com';
const version = '2015-01-09';
const Problem = z.object({ Code: z.string().check(z.minLength(1)), Message: z._default(z.string(), '') });
/** What was changed is named. */
const Changed = z.object({ RecordId: z.union([z.string(), z.number()]) });
const Domains = z.object({
  TotalCount: z.number(),
  Domains: z.object({ Domain: z.array(z.object({ DomainName: z.string() })) }),
});
const Records = z.object({
  TotalCount: z.number(),
  DomainRecords: z.object({
    Record: z.array(
      z.object({
        RecordId: z.string(),
        RR: z.string(),
        Type: z.string(),
        Value: z.string(),
        TTL: z.number(),
        // an id, whatever the language
        Line: z.string(),
        Status: z.string(),
      }),
    ),
  }),
});
const keyCodes =
  /^(InvalidAccessKeyId|SignatureDoesNotMatch|IncompleteSignature|Forbidden|NoPermission|InvalidSecurityToken|SignatureNonceUsed|InvalidTimeStamp)/;
const limitCodes = /^Throttling/;
/** It is there already; it is not there any more; one stands there that it does not stand beside. */
const conflictCodes = new Set([
  'DomainRecordDuplicate',
  'DomainRecordNotBelongToUser',
  'DomainRecordNotExist',
  'DomainRecordConflict',
]);
const together = 100;
const recordsTogether = 500;

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

export class Aliyun implements RecordApi {
  readonly provider = 'Alibaba Cloud';
  /** of accounts that pay nothing */
  readonly minTTL = 600;
  readonly #api: Api;
  readonly #key: { id: string; secret: string };

  constructor(api: Api, id: string, secret: string) {
    this.#api = api;
    this.#key = { id, secret };
  }

  allZones(): Promise<Zone[]> {
    return pagesOf('Alibaba Cloud', pagesMost, async (page, seen) => {
      const answer = await this.#ask('DescribeDomains', { PageNumber: String(page + 1), PageSize: String(together) });
      const { TotalCount: total, Domains: said } = readJson('Alibaba Cloud', Domains, answer);
      const found = said.Domain.map(({ DomainName }) => ({ id: '', name: bareName(DomainName) }));
      const count = found.length;
      return { found, count, total, isLast: !count || seen + count >= total };
    });
  }

  list(zone: Zone, name?: string): Promise<HeldRecord[]> {
    const [action, asked] = name
      ? ['DescribeSubDomainRecords', { SubDomain: name === zone.name ? `@.${name}` : name }]
      : ['DescribeDomainRecords', {}];
    return pagesOf('Alibaba Cloud', recordPagesMost, async (page, seen) => {
      const answer = await this.#ask(action, {
        DomainName: zone.name,
        ...asked,
        PageNumber: String(page + 1),
        PageSize: String(recordsTogether),
      });
      const { TotalCount: total, DomainRecords } = readJson('Alibaba Cloud', Records, answer);
      const found = DomainRecords.Record.flatMap(
        ({ RecordId: id, RR, Type, Value, TTL: seconds, Line, Status }): HeldRecord[] => {
          const type = typeOf(Type);
          const isOther = Line !== 'default' || Status.toUpperCase() !== 'ENABLE';
          const whole = bareName(RR === '@' ? zone.name : `${RR}.${zone.name}`);
          return type ? [{ id, name: whole, type, value: valueOf(type, Value), seconds, isOther }] : [];
        },
      );
      const count = DomainRecords.Record.length;
      return { found, count, total, isLast: !count || seen + count >= total };
    });
  }

  async change(zone: Zone, sets: readonly SetChange[]): Promise<void> {
    await changeApart(Map.groupBy(sets, partOf).values(), part => this.#changePart(zone, part));
  }

  async #changePart(zone: Zone, sets: readonly SetChange[]): Promise<void> {
    for (const { set, record, value } of stepsOfPart(sets)) {
      const { name, type: Type, seconds } = set;
      const saying = (Value: string) => ({ RR: within(zone, name), Type, Value, TTL: String(seconds) });
      if (value === undefined) await this.#write('DeleteDomainRecord', { RecordId: record!.id });
      else if (record) await this.#write('UpdateDomainRecord', { RecordId: record.id, ...saying(value) });
      else await this.#write('AddDomainRecord', { DomainName: zone.name, ...saying(value) });
    }
  }

  async probe(): Promise<void> {
    try {
      await this.#write('DeleteDomainRecord', { RecordId: '1' });
    } catch (error) {
      if (!(error instanceof Conflict)) throw error;
    }
  }

  async #write(action: string, query: Record<string, string>): Promise<void> {
    readJson('Alibaba Cloud', Changed, await this.#ask(action, query));
  }

  #ask(action: string, query: Record<string, string>) {
    return patiently(this.#api, () => this.#askOnce(action, query));
  }

  async #askOnce(action: string, query: Record<string, string>) {
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
    const problem = jsonOf(Problem, answer);
    if (!problem) {
      if (answer.status >= 200 && answer.status < 300) return answer;
      throw strange('Alibaba Cloud', answer);
    }
    const { Code, Message } = problem;
    const said = `Alibaba Cloud: ${without(this.#key.secret, Message)} (${Code})`;
    if (conflictCodes.has(Code)) throw new Conflict('refused', said);
    const trouble = keyCodes.test(Code) ? 'credentials' : limitCodes.test(Code) ? 'limited' : troubleOfStatus(answer.status);
    throw new DnsProblem(trouble, said, retryAfter(answer));
  }
}
