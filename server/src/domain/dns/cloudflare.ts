/**
 * Cloudflare, API version 4, with a token that may edit the DNS of the zones (`Zone.DNS: Edit`, `Zone.Zone: Read`). Changes go together, all
 * or none of them (`dns_records/batch`): what goes first, then what becomes another, then what comes.
 */
import * as z from 'zod/mini';
import { DnsProblem, type Zone } from './driver.ts';
import {
  type Api,
  pagesMost,
  patiently,
  readJson,
  recordPagesMost,
  retryAfter,
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
  stepsOf,
  typeOf,
  valueOf,
} from './records.ts';
import type { DnsSaid } from './said.ts';

const base = 'https://api.cloudflare.com/client/v4';
const Said = z.object({
  success: z.boolean(),
  errors: z._default(z.nullable(z.array(z.object({ code: z.number(), message: z.string() }))), []),
});
const ID = z.string().check(z.regex(/^[\w-]{1,64}$/));
const Zones = z.object({
  result: z.array(
    z.object({
      id: ID,
      name: z.string(),
      status: z.string(),
      type: z._default(z.string(), 'full'),
      name_servers: z._default(z.nullable(z.array(z.string())), null),
    }),
  ),
  result_info: z.object({ total_pages: z.number(), total_count: z.number() }),
});
const Records = z.object({
  result: z.array(
    z.object({
      id: ID,
      name: z.string(),
      type: z.string(),
      content: z._default(z.string(), ''),
      ttl: z.number(),
      proxied: z._default(z.boolean(), false),
    }),
  ),
  result_info: z.object({ total_pages: z.number(), total_count: z.number() }),
});
/** What a batch did. */
const Some = z._default(z.nullable(z.array(z.unknown())), null);
const Batch = z.object({ result: z.object({ deletes: Some, patches: Some, posts: Some }) });
/** The record is not there. */
const goneCodes = new Set([81044]);
/** Nor that; an identical one is (81057, 81058); one of another type that it does not stand beside (81053, 81054). */
const conflictCodes = new Set([...goneCodes, 81053, 81054, 81057, 81058]);
/** Headers it does not know, tokens it does not take. */
const tokenCodes = new Set([6003, 6111, 9109, 10000]);
const limitCodes = new Set([971, 10429]);
/** Of one answer, which may have two million bytes: texts of two thousand letters each. */
const together = 500;
/** What one change of an account that pays nothing may have. */
const changesMost = 200;
/** An id that no record has. */
const nobody = '0'.repeat(32);
/** Delegated once, and no longer, or not served any more. */
const wasActive = new Set(['moved', 'deactivated']);
/** One that is not active answers nobody, and of several of one name one alone is; a partial or an internal one answers not the world. */
function offOf({ name, status, type, name_servers: servers }: z.output<typeof Zones>['result'][number]): DnsSaid | undefined {
  const of = { provider: 'Cloudflare', zone: name };
  if (status === 'active') return type === 'full' ? undefined : { code: 'zoneOfType', bounds: { ...of, type } };
  const bounds = { ...of, state: status };
  return servers?.length
    ? { code: 'zoneToDelegate', bounds: { ...bounds, servers: servers.join(', ') } }
    : { code: 'zoneNotActive', bounds };
}
const contentOf = (type: SetChange['type'], value: string) => (type === 'TXT' ? `"${value}"` : value);

export class Cloudflare implements RecordApi {
  readonly provider = 'Cloudflare';
  readonly minTTL = 60;
  readonly #api: Api;
  readonly #token: string;

  constructor(api: Api, token: string) {
    this.#api = api;
    this.#token = token;
  }

  allZones(): Promise<Zone[]> {
    return pagesOf('Cloudflare', pagesMost, async page => {
      const answer = await this.#ask('GET', `/zones?per_page=50&page=${page + 1}`);
      const { result, result_info } = readJson('Cloudflare', Zones, answer);
      const { total_pages, total_count: total } = result_info;
      const found = result.map(one => {
        const off = offOf(one);
        return { id: one.id, name: bareName(one.name), ...(off && { off, isDelegated: wasActive.has(one.status) }) };
      });
      return { found, count: result.length, total, isLast: page + 1 >= total_pages };
    });
  }

  list(zone: Zone, name?: string): Promise<HeldRecord[]> {
    return pagesOf('Cloudflare', recordPagesMost, async page => {
      const query = new URLSearchParams({
        ...(name ? { name } : {}),
        per_page: String(together),
        page: String(page + 1),
      }).toString();
      const answer = await this.#ask('GET', `/zones/${zone.id}/dns_records?${query}`);
      const { result, result_info } = readJson('Cloudflare', Records, answer);
      const found = result.flatMap(({ id, name: at, type: said, content, ttl, proxied }): HeldRecord[] => {
        const type = typeOf(said);
        return type ? [{ id, name: bareName(at), type, value: valueOf(type, content), seconds: ttl, isOther: proxied }] : [];
      });
      const { total_pages, total_count } = result_info;
      return { found, count: result.length, total: total_count, isLast: page + 1 >= total_pages };
    });
  }

  async change(zone: Zone, sets: readonly SetChange[]): Promise<void> {
    const sizeOf = ({ held, keep, add }: SetChange) => held.length - keep.length + add.length;
    await changeApart(chunksOf(sets, sizeOf, changesMost), async part => {
      const batch: { deletes: object[]; patches: object[]; posts: object[] } = { deletes: [], patches: [], posts: [] };
      for (const set of part) {
        const { name, type, seconds: ttl } = set;
        const { other, moved, add, gone } = stepsOf(set);
        batch.deletes.push(...[...other, ...gone].map(({ id }) => ({ id })));
        batch.patches.push(...moved.map(({ record, value }) => ({ id: record.id, content: contentOf(type, value), ttl })));
        batch.posts.push(...add.map(value => ({ type, name, content: contentOf(type, value), ttl, proxied: false })));
      }
      const answer = await this.#ask('POST', `/zones/${zone.id}/dns_records/batch`, batch);
      const { result } = readJson('Cloudflare', Batch, answer);
      for (const kind of ['deletes', 'patches', 'posts'] as const)
        if ((result[kind]?.length ?? 0) !== batch[kind].length) throw strange('Cloudflare', answer);
    });
  }

  async probe(zone: Zone): Promise<void> {
    const answer = await this.#ask('DELETE', `/zones/${zone.id}/dns_records/${nobody}`);
    // what is not there cannot have been deleted
    if (readJson('Cloudflare', Said, answer).success) throw strange('Cloudflare', answer);
  }

  #ask(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object) {
    return patiently(this.#api, async () => {
      const answer = await this.#api.fetch((this.#api.base ?? base) + path, {
        method,
        headers: { authorization: `Bearer ${this.#token}`, ...(body ? { 'content-type': 'application/json' } : {}) },
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      const { success, errors } = readJson('Cloudflare', Said, answer);
      const all = errors ?? [];
      const isKnown = (codes: ReadonlySet<number>) => all.some(({ code }) => codes.has(code));
      const { status } = answer;
      if (success && status >= 200 && status < 300) return answer;
      if (method === 'DELETE' && isKnown(goneCodes)) return answer;
      if (success || !all.length) throw strange('Cloudflare', answer);
      const said = without(this.#token, wordsOf(all));
      if (isKnown(conflictCodes)) throw new Conflict('refused', `Cloudflare: ${said}`);
      const isLimit = status === 429 || isKnown(limitCodes);
      const trouble = isLimit ? 'limited' : isKnown(tokenCodes) ? 'credentials' : troubleOfStatus(status);
      throw new DnsProblem(trouble, `Cloudflare: ${said}`, retryAfter(answer));
    });
  }
}

const wordsOf = (errors: readonly { code: number; message: string }[]) =>
  errors.map(({ code, message }) => `${message} (${code})`).join('; ');
