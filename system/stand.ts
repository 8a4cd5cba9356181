/** What fault tests do to an installation while they hurt it: a site with domains, traffic that is counted, changes that must arrive. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { poll } from '#server/store/engine-process.ts';
import { type Analytics, analytics } from '#server/store/analytics/client.ts';
import type { Whole } from './whole.ts';

/** The store of an installation, asked directly. */
export function storeOf(whole: Whole): Analytics {
  const { store: port } = JSON.parse(readFileSync(join(whole.folder, 'run/ports.json'), 'utf8')) as { store: number };
  const secret = readFileSync(join(whole.folder, 'store.password')).toString('base64url');
  return analytics({ url: `http://default:${secret}@127.0.0.1:${port}/breakwater` });
}

/** Repeats a call until it is accepted; what was refused because a part was away was never promised. */
export async function accepted(work: () => Promise<{ status: number; body: unknown }>) {
  let last: { status: number; body: unknown } | undefined;
  const done = await poll(
    async () => {
      last = await work();
      return last.status === 200;
    },
    60_000,
    200,
  );
  assert.ok(done, `never accepted: ${JSON.stringify(last)}`);
  return last!.body as { ids: number[] };
}

export interface Shop {
  siteID: number;
  /** one try; true: it was accepted */
  tryDomain(name: string): Promise<boolean>;
  addDomain(name: string): Promise<unknown>;
}

/** A site of the first customer, to which domains with this origin can be added. */
export async function openShop(whole: Whole, name: string, originPort: number): Promise<Shop> {
  const client = await whole.signIn('client');
  const groups = await whole.call('GET', '/client/metaGroups', client);
  const product = await accepted(() => whole.call('POST', '/client/product', client, { name, groupID: groups.body[0].id }));
  const users = await whole.call('GET', '/client/accounts?auth=user', client);
  const wish = { siteName: name, productID: product.ids[0], userID: users.body.data[0].id };
  const site = (await accepted(() => whole.call('POST', '/client/site', client, wish))).ids[0]!;
  const user = await whole.signIn('user');
  const call = async (domainName: string) => {
    const reply = await whole.call('POST', `/user/site/${site}/domains`, user, {
      domains: [{ domainName, upstreams: [{ address: '127.0.0.1', port: originPort }] }],
    });
    // the answer to an earlier try may have been lost after its commit
    return reply.body.code === 401001 ? { status: 200, body: { ids: [] } } : reply;
  };
  return {
    siteID: site,
    tryDomain: async domainName => (await call(domainName)).status === 200,
    addDomain: domainName => accepted(() => call(domainName)),
  };
}

/** `1-3, 7` */
function ranges(numbers: readonly number[]): string {
  const found: [number, number][] = [];
  for (const one of numbers.toSorted((a, b) => a - b)) {
    const last = found.at(-1);
    if (last?.[1] === one - 1) last[1] = one;
    else found.push([one, one]);
  }
  return found.map(([from, to]) => (from === to ? from : `${from}-${to}`)).join(', ');
}

/** Visitors who number their requests, so that each can be found again. */
export class Traffic {
  readonly answered: number[] = [];
  readonly uncertain = new Set<number>();
  readonly #host: string;
  readonly #edge: Pick<Whole, 'visit'>;
  readonly #agent = new http.Agent({ keepAlive: true, maxSockets: 8 });
  #visitors: Promise<void>[] = [];
  #going = false;
  #number = 0;

  /** @param edge whom they visit */
  constructor(edge: Pick<Whole, 'visit'>, host: string) {
    this.#edge = edge;
    this.#host = host;
  }

  start(visitors = 4): void {
    this.#going = true;
    this.#visitors = Array.from({ length: visitors }, () => this.#visit());
  }

  async #visit(): Promise<void> {
    while (this.#going) {
      const mine = this.#number++;
      const { status } = await this.#edge.visit(this.#host, `/n/${mine}`, this.#agent);
      if (status === 200) this.answered.push(mine);
      else this.uncertain.add(mine);
      await new Promise(done => setTimeout(done, status === 200 ? 15 : 100));
    }
  }

  /** Whether so many more are answered within the limit. */
  async flows(more = 60, limitMs = 30_000): Promise<boolean> {
    const wanted = this.answered.length + more;
    return poll(() => this.answered.length >= wanted, limitMs, 20);
  }

  async stop(): Promise<void> {
    this.#going = false;
    await Promise.all(this.#visitors);
    this.#agent.destroy();
  }

  /** How often each request stands in the log. */
  async #logged(store: Analytics): Promise<Map<number, number>> {
    const rows = await store.query<{ uri: string; n: number }>(
      "SELECT uri, count() AS n FROM access WHERE host = {host:String} AND startsWith(uri, '/n/') GROUP BY uri",
      { host: this.#host },
    );
    return new Map(rows.map(row => [Number(row.uri.slice(3)), Number(row.n)]));
  }

  /**
   * Every answered request stands in the log once, nothing was invented, and roll-ups and lines agree.
   * @param unlogged how many may be missing, as the node counted them
   * @param state what the parts say of themselves, for whoever reads that lines are lost
   */
  async account(
    store: Analytics,
    unlogged: () => Promise<number> = () => Promise.resolve(0),
    limitMs = 60_000,
    state: () => Promise<string> = () => Promise.resolve(''),
  ): Promise<void> {
    let found = new Map<number, number>();
    let missing: number[] = [];
    let allowed = 0;
    await poll(
      async () => {
        found = await this.#logged(store).catch(() => new Map<number, number>());
        missing = this.answered.filter(mine => !found.has(mine));
        allowed = await unlogged();
        return missing.length <= allowed;
      },
      limitMs,
      500,
    );
    if (missing.length > allowed)
      assert.fail(
        `lost ${missing.length} of ${this.answered.length}, ${allowed} counted as unlogged: ${ranges(missing)}\n${await state()}`,
      );
    assert.deepEqual(
      [...found].filter(([, n]) => n !== 1),
      [],
      'counted twice',
    );
    for (const mine of found.keys()) assert.ok(this.uncertain.has(mine) || mine < this.#number, 'nothing was invented');
    const [rolled] = await store.query<{ n: number }>('SELECT sum(req) AS n FROM s5', {});
    const [raw] = await store.query<{ n: number }>('SELECT count() AS n FROM access', {});
    assert.equal(Number(rolled!.n), Number(raw!.n), 'roll-ups and lines agree');
  }
}

/** What `/readyz?verbose` says is failing. */
export async function failing(whole: Whole): Promise<Map<string, string>> {
  try {
    const answer = await fetch(`${whole.origin}/readyz?verbose`, { signal: AbortSignal.timeout(10_000) });
    const { checks } = (await answer.json()) as { checks: { id: string; state: string; sentence: string }[] };
    return new Map(checks.filter(one => one.state === 'fail').map(one => [one.id, one.sentence]));
  } catch (error) {
    return new Map([['server', (error as Error).message]]);
  }
}
/** The plain answer an orchestrator sees. */
export async function ready(whole: Whole): Promise<{ status: number; text: string }> {
  try {
    const answer = await fetch(`${whole.origin}/readyz`, { signal: AbortSignal.timeout(10_000) });
    return { status: answer.status, text: await answer.text() };
  } catch (error) {
    return { status: 0, text: (error as Error).message };
  }
}
