/** Certificates that make themselves, as their operator sees them. */
import { sql } from 'kysely';
import { autoCertificates, zeroSSLTrial } from '#contract/domain/auto-certificates.ts';
import { fail, failFields } from '#contract/errors.ts';
import { acmeLimits } from '#contract/limits.ts';
import { tooManyPasswords } from '../../kit/hashing.ts';
import { implement } from '../../kit/implement.ts';
import { OutboundError } from '../../kit/outbound.ts';
import { eachOf } from '../../kit/removal.ts';
import { zeroSSLOf } from '../../system/zero-ssl.ts';
import { AcmeProblem } from './client.ts';
import { tryBinding } from './providers.ts';
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

export const zeroSSLTrialCalls = implement(zeroSSLTrial, {
  'POST /zeroSSL/test': async ({ ctx }) => {
    const { actor, services } = ctx;
    const bound = await zeroSSLOf(ctx.db, services.sealing, actor.rootID);
    if (!bound) throw failFields([{ path: 'eabKID', rule: 'required' }]);
    const wait = services.sessions.tries.take([
      { kind: 'account', key: `zeroSSL test ${actor.rootID}`, free: acmeLimits.testsFree },
    ]);
    if (wait) throw tooManyPasswords('eabKID', wait.seconds);
    try {
      await tryBinding(services, bound);
    } catch (error) {
      throw notTaken(error);
    }
    return {};
  },
});

/** By whose fault: ours or the way's, the supplier's own words, or what nobody can read. */
function notTaken(error: unknown): unknown {
  if (error instanceof OutboundError) return fail('selfCheck', { extra: error.message });
  if (!(error instanceof AcmeProblem)) return error;
  const isSaid = error.status > 0 && !error.type.startsWith('status');
  return fail(isSaid ? 'supplier' : 'supplierUnknown', { extra: error.message });
}
