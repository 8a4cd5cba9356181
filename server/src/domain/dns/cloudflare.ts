/** Cloudflare, API version 4, with a token that may edit the DNS of the zones (`Zone.DNS: Edit`, `Zone.Zone: Read`). */
import * as z from 'zod/mini';
import { type DnsDriver, DnsProblem, recordSeconds, type Zone, zonesFor } from './driver.ts';
import { type Api, pagesMost, readJson, retryAfter, troubleOfStatus } from './http.ts';

const base = 'https://api.cloudflare.com/client/v4';
const Said = z.object({
  success: z.boolean(),
  errors: z._default(z.nullable(z.array(z.object({ code: z.number(), message: z.string() }))), []),
});
const ID = z.string().check(z.regex(/^[\w-]{1,64}$/));
const Zones = z.object({
  result: z.array(z.object({ id: ID, name: z.string() })),
  result_info: z.object({ total_pages: z.number() }),
});
const Records = z.object({ result: z.array(z.object({ id: ID, content: z.string() })) });
/** An identical record is there; the record is not. */
const doneCodes = new Set([81057, 81058, 81044]);
/** Headers it does not know, tokens it does not take. */
const tokenCodes = new Set([6003, 6111, 9109, 10000]);
const bare = (content: string) => content.replace(/^"(.*)"$/, '$1');

export class Cloudflare implements DnsDriver {
  readonly #api: Api;
  readonly #token: string;

  constructor(api: Api, token: string) {
    this.#api = api;
    this.#token = token;
  }

  async zones(names: readonly string[]): Promise<Map<string, Zone>> {
    const all: Zone[] = [];
    for (let page = 1, pages = 1; page <= pages && page <= pagesMost; page++) {
      const answer = await this.#ask('GET', `/zones?per_page=50&page=${page}`);
      const { result, result_info } = readJson('Cloudflare', Zones, answer);
      all.push(...result);
      pages = result_info.total_pages;
    }
    return zonesFor(names, all);
  }

  async put(zone: Zone, name: string, value: string): Promise<void> {
    const body = { type: 'TXT', name, content: `"${value}"`, ttl: recordSeconds };
    await this.#ask('POST', `/zones/${zone.id}/dns_records`, body);
  }

  async take(zone: Zone, name: string, value: string): Promise<void> {
    const query = new URLSearchParams({ type: 'TXT', name, per_page: '100' }).toString();
    const { result } = readJson('Cloudflare', Records, await this.#ask('GET', `/zones/${zone.id}/dns_records?${query}`));
    for (const { id, content } of result)
      if (bare(content) === value) await this.#ask('DELETE', `/zones/${zone.id}/dns_records/${id}`);
  }

  async #ask(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object) {
    const answer = await this.#api.fetch((this.#api.base ?? base) + path, {
      method,
      headers: { authorization: `Bearer ${this.#token}`, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const { success, errors } = readJson('Cloudflare', Said, answer);
    const all = errors ?? [];
    if (success || (all.length && all.every(({ code }) => doneCodes.has(code)))) return answer;
    const trouble = all.some(({ code }) => tokenCodes.has(code)) ? 'credentials' : troubleOfStatus(answer.status);
    const said = all.map(({ code, message }) => `${message} (${code})`).join('; ') || `it answered ${answer.status}`;
    throw new DnsProblem(trouble, `Cloudflare: ${said}`, retryAfter(answer));
  }
}
