/** Certificates of a site, and which of them its domains show. */
import { sql } from 'kysely';
import { certificates } from '#contract/domain/certificates.ts';
import { Fail, failFields } from '#contract/errors.ts';
import { type Context, Partial } from '../../kit/context.ts';
import { implement } from '../../kit/implement.ts';
import { removeAll } from '../../kit/removal.ts';
import { contains } from '../../kit/table.ts';
import { domainTable } from '../tables.ts';
import { covers, keyOfDer, type Pair, readPair } from './pem.ts';
import { askAgain } from '../acme/switch.ts';
import { forgetKeys, show, stored } from './shown.ts';
import { certificateTable } from './tables.ts';

/** 301001: these hosts are not among the names. */
function checkNames(names: readonly string[], hosts: readonly string[], path: string): void {
  const bare = hosts.filter(host => !covers(names, host));
  if (!bare.length) return;
  const bounds = { hosts: bare.slice(0, 5).join(', '), names: names.slice(0, 5).join(', ') };
  throw new Fail('invalidCertificateName', { errorData: [{ path, rule: 'certificateNames', bounds }] });
}

const showing = (ctx: Context, siteID: number, ids: readonly number[]) =>
  ctx.store(domainTable, { siteID }).pick(['id', 'domainName'], [sql`t."certificateID" = any(${ids})`]);

export const certificateCalls = implement(
  certificates,
  {
    'GET /certificates': ({ ctx, params, query }) => ctx.store(certificateTable, params).page(query),
    'GET /metaCertificates': async ({ ctx, params, query }) => {
      const conditions = contains(query.keyword, 'sslName');
      const found = await ctx.store(certificateTable, params).pick(['id', 'sslName'], conditions, sql`t."sslName", t.id`);
      return found.map(({ id, sslName }) => ({ id, name: sslName }));
    },
    'POST /certificates': async ({ ctx, params, body }) => {
      if (!body.privateKey) throw failFields([{ path: 'privateKey', rule: 'required' }]);
      const pair = readPair(body.certificate, body.privateKey);
      const [id] = await ctx
        .store(certificateTable, params)
        .add([{ sslName: body.sslName, type: 'manual', ...stored(pair) }], {}, 'certificate');
      return { ids: [id!] };
    },
    'PUT /certificate/{certificateID}': async ({ ctx, params, body }) => {
      const store = ctx.store(certificateTable, { siteID: params.siteID });
      const before = await store.get(params.certificateID, 'certificateID');
      // the next renewal would overwrite it, wherever it is shown
      if (body.certificate && before.type !== 'manual') throw failFields([{ path: 'certificate', rule: 'certificateAutomatic' }]);
      if (!body.certificate && body.privateKey) throw failFields([{ path: 'certificate', rule: 'required' }]);
      let pair: Pair | undefined;
      if (body.certificate) {
        const held = body.privateKey ? null : await store.reveal(before.id, 'privateKey');
        if (!body.privateKey && held === null) throw failFields([{ path: 'privateKey', rule: 'required' }]);
        pair = readPair(body.certificate, body.privateKey || keyOfDer(held!, before.keyType));
        const hosts = (await showing(ctx, params.siteID, [before.id])).map(one => one.domainName);
        checkNames(pair.names, hosts, 'certificate');
      }
      await store.set(before.id, { sslName: body.sslName, ...(pair && stored(pair)) }, 'certificateID');
      return {};
    },
    'PATCH /certificate/{certificateID}/domains': async ({ ctx, params, body }) => {
      const store = ctx.store(certificateTable, { siteID: params.siteID });
      const { id, names } = await store.get(params.certificateID, 'certificateID');
      const wanted = await ctx.store(domainTable, { siteID: params.siteID }).need(body.domainIDs, 'domainIDs');
      const chosen = new Set(wanted.map(one => one.id));
      let partly: Partial | undefined;
      const write = async () => {
        for (const one of await showing(ctx, params.siteID, [id]))
          if (!chosen.has(one.id)) await show(ctx, params.siteID, one.id, null);
        try {
          await ctx.each(
            wanted,
            domain => domain.domainName,
            async domain => {
              checkNames(names, [domain.domainName], 'domainIDs');
              await show(ctx, params.siteID, domain.id, id);
            },
          );
        } catch (error) {
          if (!(error instanceof Partial)) throw error;
          partly = error;
        }
      };
      const differing = ({ domainIDs: now }: { domainIDs: number[] }) =>
        now.length === chosen.size && now.every(one => chosen.has(one)) ? {} : { domainIDs: now };
      await store.set(id, {}, 'certificateID', { differing, write });
      if (partly) throw partly;
      return {};
    },
    'DELETE /certificates': ({ ctx, params, body }) =>
      removeAll(ctx.store(certificateTable, params), body.ids, async gone => {
        const ids = gone.map(({ id }) => id);
        const bare = await showing(ctx, params.siteID, ids);
        for (const domain of bare) await show(ctx, params.siteID, domain.id, null);
        await askAgain(
          ctx,
          bare.map(({ id }) => id),
        );
        await forgetKeys(ctx, ids);
      }),
  },
  {
    params: { certificateID: certificateTable },
    rows: { 'GET /certificates': certificateTable },
  },
);
