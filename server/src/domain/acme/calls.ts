/** Certificates that make themselves, as their operator sees them. */
import { sql } from 'kysely';
import { autoCertificates } from '#contract/domain/auto-certificates.ts';
import { implement } from '../../kit/implement.ts';
import { eachOf } from '../../kit/removal.ts';
import { autoCertificateTable } from './tables.ts';

export const autoCertificateCalls = implement(
  autoCertificates,
  {
    'GET /autoCertificates': ({ ctx, query }) => ctx.store(autoCertificateTable).page(query),
    'POST /autoCertificates/renew': async ({ ctx, body }) => {
      const store = ctx.store(autoCertificateTable);
      await eachOf(
        ctx,
        store,
        body.ids,
        one => one.domainName,
        async one => void (await store.set(one.id, { nextAt: null })),
      );
      await sql`select pg_notify('autoSSL', '')`.execute(ctx.db);
      return {};
    },
  },
  { rows: { 'GET /autoCertificates': autoCertificateTable } },
);
