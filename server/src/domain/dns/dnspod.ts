/**
 * DNSPod (dnsapi.cn), with the ID and the token that its console makes. Each record is changed by itself. One that is told five times in an
 * hour to become what it is gets locked for an hour: what does not differ is not touched.
 */
import * as z from 'zod/mini';
import { DnsProblem, type Zone, within } from './driver.ts';
import { type Api, pagesMost, patiently, readJson, recordPagesMost, retryAfter, troubleOfStatus } from './http.ts';
import {
  bareName,
  changeApart,
  Conflict,
  type HeldRecord,
  pagesOf,
  type RecordApi,
  type SetChange,
  stepsOfName,
  typeOf,
  valueOf,
} from './records.ts';

const base = 'https://dnsapi.cn';
const Said = z.object({ status: z.object({ code: z.string(), message: z.string() }) });
const ID = z.union([z.number(), z.string().check(z.regex(/^\d{1,20}$/))]);
const Count = z.union([z.number(), z.string().check(z.regex(/^\d{1,12}$/))]);
const Domains = z.object({
  info: z.optional(z.object({ domain_total: z.optional(Count) })),
  domains: z._default(z.array(z.object({ id: ID, name: z.string() })), []),
});
const Records = z.object({
  info: z.optional(z.object({ record_total: z.optional(Count) })),
  records: z._default(
    z.array(
      z.object({
        id: ID,
        name: z.string(),
        type: z.string(),
        value: z.string(),
        ttl: Count,
        line_id: z._default(Count, everybody()),
        enabled: z._default(Count, '1'),
      }),
    ),
    [],
  ),
});
/** No domain; no record: an empty list. That a domain is somebody else's is 9, too, of its records. */
const emptyCodes: Readonly<Record<string, string>> = { 'Domain.List': '9', 'Record.List': '10' };
/** Not signed in, too often, locked, seen from elsewhere; no right to the domain. */
const tokenCodes = new Set(['-1', '-8', '83', '85', '-7', '7', '10004']);
/** No such record; one stands there that it does not stand beside; it is there already. */
const goneCode = '8';
const conflictCodes = new Set([goneCode, '31', '104']);
const together = 500;
/** Of one answer, which may have two million bytes. */
const recordsTogether = 1000;
/** The line that everybody is answered by who has no other. */
function everybody() {
  return '0';
}

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
      const { info, domains } = readJson('DNSPod', Domains, answer);
      const found = domains.map(({ id, name }) => ({ id: String(id), name: bareName(name) }));
      const count = domains.length;
      // it may give fewer at a time than it is asked for
      const most = info?.domain_total === undefined ? undefined : Number(info.domain_total);
      return { found, count, total: undefined, isLast: !count || (most === undefined ? count < together : seen + count >= most) };
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
      const { info, records } = readJson('DNSPod', Records, answer);
      const found = records.flatMap(({ id, name: at, type: said, value, ttl, line_id, enabled }): HeldRecord[] => {
        const type = typeOf(said);
        const isOther = String(line_id) !== everybody() || String(enabled) !== '1';
        const whole = bareName(at === '@' ? zone.name : `${at}.${zone.name}`);
        return type ? [{ id: String(id), name: whole, type, value: valueOf(type, value), seconds: Number(ttl), isOther }] : [];
      });
      const count = records.length;
      const said = info?.record_total === undefined ? undefined : Number(info.record_total);
      // of one name it may tell how many the whole zone has
      const total = name ? undefined : said;
      return { found, count, total, isLast: !count || (total === undefined ? count < recordsTogether : seen + count >= total) };
    });
  }

  async change(zone: Zone, sets: readonly SetChange[]): Promise<void> {
    await changeApart(Map.groupBy(sets, one => one.name).values(), part => this.#changeName(zone, part));
  }

  async #changeName(zone: Zone, sets: readonly SetChange[]): Promise<void> {
    for (const { set, record, value } of stepsOfName(sets)) {
      const { name, type, seconds } = set;
      const saying = (said: string) => ({
        domain_id: zone.id,
        sub_domain: within(zone, name),
        record_type: type,
        record_line_id: everybody(),
        value: type === 'CNAME' ? `${said}.` : said,
        ttl: String(seconds),
      });
      if (value === undefined) await this.#ask('Record.Remove', { domain_id: zone.id, record_id: record!.id });
      else if (record) await this.#ask('Record.Modify', { ...saying(value), record_id: record.id });
      else await this.#ask('Record.Create', saying(value));
    }
  }

  async probe(zone: Zone): Promise<void> {
    try {
      await this.#ask('Record.Remove', { domain_id: zone.id, record_id: '0' });
    } catch (error) {
      if (!(error instanceof Conflict)) throw error;
    }
  }

  #ask(action: string, parameters: Record<string, string>) {
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
      if (code === '1' || code === emptyCodes[action]) return answer;
      const said = `DNSPod: ${message} (${code})`;
      if (!action.endsWith('.List') && conflictCodes.has(code)) throw new Conflict('refused', said);
      const trouble = tokenCodes.has(code) ? 'credentials' : code === '-2' ? 'limited' : troubleOfStatus(answer.status);
      throw new DnsProblem(trouble, said, retryAfter(answer));
    });
  }
}
