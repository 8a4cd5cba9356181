/**
 * DNSPod (dnsapi.cn), with the ID and the token that its console makes. Each record is changed by itself. One that is told five times in an
 * hour to become what it is gets locked for an hour: what does not differ is not touched.
 */
import * as z from 'zod/mini';
import type { OutboundAnswer } from '../../kit/outbound.ts';
import { DnsProblem, type Zone, within } from './driver.ts';
import {
  type Api,
  jsonOf,
  pagesMost,
  patiently,
  readJson,
  recordPagesMost,
  retryAfter,
  troubleOfStatus,
  without,
} from './http.ts';
import {
  bareName,
  changeApart,
  Conflict,
  type HeldRecord,
  nothing,
  pagesOf,
  partOf,
  type RecordApi,
  type SetChange,
  stepsOfPart,
  typeOf,
  valueOf,
} from './records.ts';
import type { DnsSaid } from './said.ts';

const base = 'https://dnsapi.cn';
const Said = z.object({ status: z.object({ code: z.string(), message: z.string() }) });
const ID = z.union([z.number(), z.string().check(z.regex(/^\d{1,20}$/))]);
const Count = z.union([z.number(), z.string().check(z.regex(/^\d{1,12}$/))]);
const Domains = z.object({
  info: z.object({ domain_total: Count }),
  domains: z.array(z.object({ id: ID, name: z.string(), status: z._default(z.string(), 'enable') })),
});
const Records = z.object({
  info: z.object({ record_total: Count }),
  records: z.array(
    z.object({
      id: ID,
      name: z.string(),
      type: z.string(),
      value: z.string(),
      ttl: Count,
      // its name is in the language of whoever asks, and another with another plan
      line_id: z.union([z.number(), z.string().check(z.minLength(1))]),
      weight: z.optional(z.nullable(z.union([Count, z.literal('')]))),
      enabled: Count,
    }),
  ),
});
/** A list without anything may leave out how much it has. */
const None = z.array(z.unknown()).check(z.maxLength(0));
const NoDomains = z.object({ info: z.optional(z.undefined()), domains: None });
const NoRecords = z.object({ info: z.optional(z.undefined()), records: None });
/** What was made, or changed, is named. */
const Written = z.object({ record: z.object({ id: ID }) });
/** No domain; no record: an empty list. That a domain is somebody else's is 9, too, of its records. */
const emptyCodes: Readonly<Record<string, string>> = { 'Domain.List': '9', 'Record.List': '10' };
/** Not signed in, too often, locked, seen from elsewhere; no right to the domain. */
const tokenCodes = new Set(['-1', '-8', '83', '85', '-7', '7', '10004']);
/** An error that it does not know; closed for a while. */
const awayCodes = new Set(['3', '-99']);
/** Domains that it answers nobody for. */
const offStates: Readonly<Record<string, DnsSaid['code']>> = { pause: 'zonePaused', spam: 'zoneBanned' };
/** No such record; one stands there that it does not stand beside; it is there already. */
const goneCode = '8';
const conflictCodes = new Set([goneCode, '31', '104']);
const together = 500;
/** Of one answer, which may have two million bytes. */
const recordsTogether = 1000;
/** The id of the line that everybody is answered by who has no other; others are as '10=1'. */
const everybody = '0';

export class DnsPod implements RecordApi {
  readonly provider = 'DNSPod';
  /** of accounts that pay nothing */
  readonly minTTL = 600;
  readonly #api: Api;
  readonly #token: string;

  constructor(api: Api, id: string, token: string) {
    this.#api = api;
    this.#token = `${id},${token}`;
  }

  allZones(): Promise<Zone[]> {
    return pagesOf('DNSPod', pagesMost, async (_page, seen) => {
      const answer = await this.#ask('Domain.List', { offset: String(seen), length: String(together) });
      if (!answer || jsonOf(NoDomains, answer)) return nothing;
      const { info, domains } = readJson('DNSPod', Domains, answer);
      const found = domains.map(({ id, name, status }) => ({
        id: String(id),
        name: bareName(name),
        ...(offStates[status]
          ? { isDelegated: true, off: { code: offStates[status], bounds: { provider: this.provider, zone: bareName(name) } } }
          : {}),
      }));
      const count = domains.length;
      // it may give fewer at a time than it is asked for
      const total = Number(info.domain_total);
      return { found, count, total, isLast: !count || seen + count >= total };
    });
  }

  list(zone: Zone, name?: string): Promise<HeldRecord[]> {
    return pagesOf('DNSPod', recordPagesMost, async (_page, seen) => {
      const answer = await this.#ask('Record.List', {
        domain_id: zone.id,
        ...(name ? { sub_domain: within(zone, name) } : {}),
        offset: String(seen),
        length: String(recordsTogether),
      });
      if (!answer || jsonOf(NoRecords, answer)) return nothing;
      const { info, records } = readJson('DNSPod', Records, answer);
      const found = records.flatMap(({ id, name: at, type: said, value, ttl, line_id, weight, enabled }): HeldRecord[] => {
        const type = typeOf(said);
        // one of weight 0 is as one without
        const isOther = String(line_id) !== everybody || String(enabled) !== '1' || Number(weight ?? 0) > 0;
        const whole = bareName(at === '@' ? zone.name : `${at}.${zone.name}`);
        return type ? [{ id: String(id), name: whole, type, value: valueOf(type, value), seconds: Number(ttl), isOther }] : [];
      });
      const count = records.length;
      const total = Number(info.record_total);
      // of one name it may tell how many the whole zone has: then another page says that there are no more
      return { found, count, total: name ? undefined : total, isLast: !count || seen + count >= total };
    });
  }

  async change(zone: Zone, sets: readonly SetChange[]): Promise<void> {
    await changeApart(Map.groupBy(sets, partOf).values(), part => this.#changePart(zone, part));
  }

  async #changePart(zone: Zone, sets: readonly SetChange[]): Promise<void> {
    for (const { set, record, value } of stepsOfPart(sets)) {
      const { name, type, seconds } = set;
      const saying = (said: string) => ({
        domain_id: zone.id,
        sub_domain: within(zone, name),
        record_type: type,
        record_line_id: everybody,
        value: type === 'CNAME' ? `${said}.` : said,
        ttl: String(seconds),
      });
      if (value === undefined) await this.#ask('Record.Remove', { domain_id: zone.id, record_id: record!.id });
      else if (record) await this.#write('Record.Modify', { ...saying(value), record_id: record.id });
      else await this.#write('Record.Create', saying(value));
    }
  }

  async probe(zone: Zone): Promise<void> {
    try {
      await this.#ask('Record.Remove', { domain_id: zone.id, record_id: '0' });
    } catch (error) {
      if (!(error instanceof Conflict)) throw error;
    }
  }

  async #write(action: string, parameters: Record<string, string>): Promise<void> {
    readJson('DNSPod', Written, (await this.#ask(action, parameters))!);
  }

  /** Undefined: it says that there is nothing. */
  #ask(action: string, parameters: Record<string, string>): Promise<OutboundAnswer | undefined> {
    return patiently(this.#api, async () => {
      const body = new URLSearchParams({
        login_token: this.#token,
        format: 'json',
        lang: 'en',
        error_on_empty: 'no',
        ...parameters,
      });
      const answer = await this.#api.fetch(`${this.#api.base ?? base}/${action}`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: body.toString(),
      });
      const { code, message } = readJson('DNSPod', Said, answer).status;
      const { status } = answer;
      if (status >= 200 && status < 300 && code === '1') return answer;
      if (status >= 200 && status < 300 && code === emptyCodes[action]) return undefined;
      const said = `DNSPod: ${without(this.#token, message)} (${code})`;
      if (!action.endsWith('.List') && conflictCodes.has(code)) throw new Conflict('refused', said);
      const trouble = tokenCodes.has(code)
        ? 'credentials'
        : code === '-2'
          ? 'limited'
          : awayCodes.has(code)
            ? 'away'
            : troubleOfStatus(status);
      throw new DnsProblem(trouble, said, retryAfter(answer));
    });
  }
}
