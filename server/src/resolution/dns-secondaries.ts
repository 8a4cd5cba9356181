/** Name servers that have copies of an operator's zones. */
import { sql } from 'kysely';
import { failFields } from '#contract/errors.ts';
import { resolutionLimits } from '#contract/limits.ts';
import { dnsSecondaries } from '#contract/resolution/dns-secondaries.ts';
import { ruleOfRefusal } from '#contract/rules/address-policy.ts';
import type { Context } from '../kit/context.ts';
import { implement } from '../kit/implement.ts';
import { removeAll } from '../kit/removal.ts';
import { operatorPolicy } from './drivers.ts';
import { updateKeyName } from './names.ts';
import { dnsSecondaryTable } from './tables.ts';

/** Nobody has the embedded name server speak where the platform may not connect, nor takes the name of its own key. */
async function check(ctx: Context, address: string | undefined, port: number, keyName: string | undefined): Promise<void> {
  if (keyName?.toLowerCase() === updateKeyName)
    throw failFields([{ path: 'keyName', rule: 'duplicateValue', bounds: { value: keyName } }]);
  if (address === undefined) return;
  const verdict = (await operatorPolicy(ctx.db, ctx.actor.rootID)).judgeHost(address, port);
  if (!verdict.allowed) throw failFields([{ path: 'address', rule: ruleOfRefusal(verdict.kind), bounds: { address } }]);
}

export const dnsSecondaryCalls = implement(
  dnsSecondaries,
  {
    'GET /secondaries': ({ ctx, query }) => ctx.store(dnsSecondaryTable).page(query),
    'POST /secondary': async ({ ctx, body }) => {
      if (!body.credentials) throw failFields([{ path: 'credentials', rule: 'required' }]);
      const { port = 53 } = body;
      await check(ctx, body.address, port, body.keyName);
      const store = ctx.store(dnsSecondaryTable);
      const { total } = await store.page({ pageSize: 1 });
      if (total >= resolutionLimits.secondariesMax)
        throw failFields([{ path: 'address', rule: 'tooMany', bounds: { n: resolutionLimits.secondariesMax } }]);
      return { ids: await store.add([{ algorithm: 'hmacSHA256', memo: '', ...body, port }], { clientID: ctx.actor.rootID }) };
    },
    'PUT /secondary': async ({ ctx, body }) => {
      const store = ctx.store(dnsSecondaryTable);
      const before = await store.get(body.id);
      if (body.credentials === null || body.credentials === '') throw failFields([{ path: 'credentials', rule: 'required' }]);
      await check(ctx, body.address ?? before.address, body.port ?? before.port, body.keyName);
      await store.set(body.id, body);
      return {};
    },
    'DELETE /secondary': ({ ctx, body }) =>
      removeAll(ctx.store(dnsSecondaryTable), body.ids, async gone => {
        // a key of what is gone stays nowhere
        await sql`update "dnsSecondary" set credentials = null where id = any(${gone.map(({ id }) => id)})`.execute(ctx.db);
      }),
  },
  { rows: { 'GET /secondaries': dnsSecondaryTable } },
);
