/** Origins of a row: of a domain, or of a port of a site. They belong to it: who changes them changes the row. */
import { sql } from 'kysely';
import type * as z from 'zod/mini';
import { upstreamsPerDomain } from '#contract/edge/kinds/domain.ts';
import { fail, failFields } from '#contract/errors.ts';
import { Upstream, type upstreamCalls } from '#contract/domain/upstreams.ts';
import { originAdjustable } from '#contract/rules/origins.ts';
import type { Context } from '../kit/context.ts';
import { those } from '../kit/removal.ts';
import { isSame } from '../kit/store.ts';
import type { ListQuery, Table } from '../kit/table.ts';
import { row } from '../store/db.ts';
import { checkReached, type Reached } from './schemes.ts';

export type OriginRow = z.output<typeof Upstream>;
type New = z.output<typeof upstreamCalls.add.body>['upstreams'];
type Changed = z.output<typeof upstreamCalls.change.body>['upstreams'];

export const lower = <T extends { address?: string | undefined }>(upstream: T) =>
  upstream.address ? { ...upstream, address: upstream.address.toLowerCase() } : upstream;

/** Origins stay as they are while their site is forced to its backups (§5). @throws 101003 */
export async function adjustable(ctx: Context, siteID: number, path: string): Promise<void> {
  const site = await row<{ forceBackup: boolean }>(ctx.db, sql`select "forceBackup" from site where id = ${siteID}`);
  const found = originAdjustable.check(undefined, site);
  if (found !== true) throw failFields(found.map(problem => ({ ...problem, path })));
}

type Param = 'domainID' | 'portID';
type Params<P extends Param> = { siteID: number } & Record<P, number>;

export class Origins<P extends Param, R extends OriginRow & Record<P, number>, Parent extends Record<string, unknown>> {
  readonly #table: Table<R>;
  readonly #parent: Table<Parent>;
  readonly #param: P;
  readonly #reached: (parent: Parent) => Reached;
  readonly #mayBeNone: boolean;
  /** Of an origin, as the list shows it. */
  readonly #names: (keyof R)[];

  /**
   * @param param names the row in the path, and the column of its origins
   * @param reached how visitors come to it
   * @param mayBeNone it goes on without any: others take their place then
   */
  constructor(
    table: Table<R>,
    parent: Table<Parent>,
    param: P,
    reached: (parent: Parent) => Reached,
    { mayBeNone = false }: { mayBeNone?: boolean } = {},
  ) {
    this.#table = table;
    this.#parent = parent;
    this.#param = param;
    this.#reached = reached;
    this.#mayBeNone = mayBeNone;
    // of the very fields that its rows have
    this.#names = [...(Object.keys(Upstream.shape) as (keyof R)[]), param];
  }

  #store(ctx: Context, params: Params<P>) {
    return ctx.store(this.#table, { [this.#param]: params[this.#param] });
  }
  #whose(ctx: Context, params: Params<P>) {
    return ctx.store(this.#parent, { siteID: params.siteID });
  }

  page(ctx: Context, params: Params<P>, query: ListQuery) {
    return this.#store(ctx, params).page(query);
  }

  /** One that is switched on has an origin that is (401008). */
  async checkEnabled(ctx: Context, id: number): Promise<void> {
    const found = await row<{ enabled: boolean }>(
      ctx.db,
      sql`select enabled from ${sql.table(this.#table.table)} where ${sql.ref(this.#param)} = ${id} and "deletedAt" is null
        order by enabled desc limit 1`,
    );
    if (found ? !found.enabled : !this.#mayBeNone) throw fail('noUpstreamEnabled');
  }

  /** Changes the origins, as one change of their row; `isSame` says whether they are as wished for already. */
  async #write(
    ctx: Context,
    params: Params<P>,
    name: string,
    isWished: (now: readonly R[]) => boolean,
    write: () => Promise<void>,
  ): Promise<void> {
    await adjustable(ctx, params.siteID, name);
    const differing = async () => {
      const { data } = await this.#store(ctx, params).page({ pageSize: upstreamsPerDomain });
      const now = data.map(one => Object.fromEntries(this.#names.map(key => [key, one[key]])));
      return isWished(data) ? {} : { [name]: now };
    };
    await this.#whose(ctx, params).set(params[this.#param], {}, this.#param, { differing, write });
  }

  async #checkReached(ctx: Context, params: Params<P>, origins: Parameters<typeof checkReached>[3]): Promise<void> {
    const parent = await this.#whose(ctx, params).get(params[this.#param], this.#param);
    await checkReached(ctx, params.siteID, this.#reached(parent), origins);
  }

  async add(ctx: Context, params: Params<P>, upstreams: New): Promise<{ ids: number[] }> {
    await this.#checkReached(
      ctx,
      params,
      upstreams.map((one, i) => ({ ...one, path: `upstreams.${i}` })),
    );
    let ids: number[] = [];
    const add = async () => {
      ids = await this.#store(ctx, params).add(upstreams.map(lower), {}, 'upstreams');
    };
    await this.#write(ctx, params, 'upstreams', () => false, add);
    return { ids };
  }

  async change(ctx: Context, params: Params<P>, upstreams: Changed): Promise<Record<never, never>> {
    const store = this.#store(ctx, params);
    const found = await store.need(
      upstreams.map(one => one.id),
      'upstreams',
    );
    const before = new Map(found.map(one => [one.id, one]));
    // one that is not moved is not judged again: the node does that
    const moved = upstreams.flatMap((one, i) => {
      const { address, port, protocol } = before.get(one.id)!;
      const wanted = { address: one.address ?? address, port: one.port ?? port, protocol: one.protocol ?? protocol };
      return isSame(wanted, { address, port, protocol }) ? [] : [{ ...wanted, path: `upstreams.${i}` }];
    });
    await this.#checkReached(ctx, params, moved);
    const wanted = upstreams.map(lower);
    const isThere = ({ id, ...fields }: (typeof wanted)[number]) =>
      Object.entries(fields).every(([key, value]) => value === undefined || isSame(value, before.get(id)![key as 'port']));
    await this.#write(
      ctx,
      params,
      'upstreams',
      () => wanted.every(isThere),
      async () => {
        for (const upstream of wanted) await store.set(upstream.id, upstream, 'upstreams');
      },
    );
    await this.checkEnabled(ctx, params[this.#param]);
    return {};
  }

  async remove(ctx: Context, params: Params<P>, ids: number[]): Promise<Record<never, never>> {
    const store = this.#store(ctx, params);
    const { there, tell } = await those(store, ids);
    const remove = async () => void (await store.remove(there.map(({ id }) => id)));
    await this.#write(ctx, params, 'ids', () => false, remove);
    await this.checkEnabled(ctx, params[this.#param]);
    tell();
    return {};
  }
}
