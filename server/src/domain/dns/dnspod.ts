/** DNSPod (dnsapi.cn), with the ID and the token that its console makes. */
import * as z from 'zod/mini';
import { type DnsDriver, DnsProblem, type Zone, within, zonesFor } from './driver.ts';
import { type Api, pagesMost, readJson, retryAfter, troubleOfStatus } from './http.ts';

const base = 'https://dnsapi.cn';
const Said = z.object({ status: z.object({ code: z.string(), message: z.string() }) });
const ID = z.union([z.number(), z.string().check(z.regex(/^\d{1,20}$/))]);
const Domains = z.object({ domains: z._default(z.array(z.object({ id: ID, name: z.string() })), []) });
const Records = z.object({ records: z._default(z.array(z.object({ id: ID, value: z.string() })), []) });
/** No domain, no record: an empty list. */
const emptyCodes = new Set(['9', '10']);
/** Not signed in, too often, locked, seen from elsewhere; no right to the domain. */
const tokenCodes = new Set(['-1', '-8', '83', '85', '-7', '7', '10004']);
const together = 500;
/** The least of accounts that pay nothing. */
const leastSeconds = 600;

export class DnsPod implements DnsDriver {
  readonly #api: Api;
  readonly #token: string;

  constructor(api: Api, id: string, token: string) {
    this.#api = api;
    this.#token = `${id},${token}`;
  }

  async zones(names: readonly string[]): Promise<Map<string, Zone>> {
    const all: Zone[] = [];
    for (let page = 0; page < pagesMost; page++) {
      const answer = await this.#ask('Domain.List', { offset: String(page * together), length: String(together) });
      const { domains } = readJson('DNSPod', Domains, answer);
      all.push(...domains.map(({ id, name }) => ({ id: String(id), name })));
      if (domains.length < together) break;
    }
    return zonesFor(names, all);
  }

  async put(zone: Zone, name: string, value: string): Promise<void> {
    if ((await this.#records(zone, name)).some(one => one.value === value)) return;
    await this.#ask('Record.Create', {
      domain_id: zone.id,
      sub_domain: within(zone, name),
      record_type: 'TXT',
      // the line that everybody is answered by who has no other
      record_line_id: '0',
      value,
      ttl: String(leastSeconds),
    });
  }

  async take(zone: Zone, name: string, value: string): Promise<void> {
    for (const one of await this.#records(zone, name))
      if (one.value === value) await this.#ask('Record.Remove', { domain_id: zone.id, record_id: String(one.id) });
  }

  async #records(zone: Zone, name: string) {
    const asked = { domain_id: zone.id, sub_domain: within(zone, name), record_type: 'TXT' };
    return readJson('DNSPod', Records, await this.#ask('Record.List', asked)).records;
  }

  async #ask(action: string, parameters: Record<string, string>) {
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
    if (code === '1' || emptyCodes.has(code)) return answer;
    const trouble = tokenCodes.has(code) ? 'credentials' : code === '-2' ? 'limited' : troubleOfStatus(answer.status);
    throw new DnsProblem(trouble, `DNSPod: ${message} (${code})`, retryAfter(answer));
  }
}
