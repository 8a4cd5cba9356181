/** Where origins may lie: the operator's setting, and the judgement when an origin is saved. Nodes judge again after resolution. */
import { sql } from 'kysely';
import { failFields } from '#contract/errors.ts';
import { upstreamLimits } from '#contract/limits.ts';
import { AddressPolicy, type PolicyFacts, ruleOfRefusal, strictPolicy } from '#contract/rules/address-policy.ts';
import { originAllow } from '#contract/system/origins.ts';
import { originsOfZone } from '../compile/kinds/zone.ts';
import type { Context } from '../kit/context.ts';
import { implement } from '../kit/implement.ts';
import { type Db, row, rows } from '../store/db.ts';
import { readSetting, settingVersion, writeSetting } from './settings.ts';

/** Every zone of the operator, or of the installation, is told anew what its origins may be. */
export async function touchZones(ctx: Context): Promise<void> {
  const found = await rows<{ id: number }>(
    ctx.db,
    sql`select id from zone where "clientID" = ${ctx.actor.rootID} and "deletedAt" is null`,
  );
  for (const { id } of found) ctx.touch('zone', id);
}

export const originAllowCalls = implement(originAllow, {
  'GET /originAllow': async ({ ctx }) => ({
    ranges: [...(await readSetting(ctx.db, ctx.actor.rootID, 'originAllow'))],
    environment: [...(await readSetting(ctx.db, null, 'originEnvironment'))],
    version: await settingVersion(ctx.db, ctx.actor.rootID, 'originAllow'),
  }),
  'PUT /originAllow': async ({ ctx, body }) => {
    const { rootID } = ctx.actor;
    const before = await readSetting(ctx.db, rootID, 'originAllow');
    const version = await settingVersion(ctx.db, rootID, 'originAllow');
    await ctx.expect('setting', { id: rootID, version, ranges: before }, body);
    if (!(await writeSetting(ctx.db, rootID, 'originAllow', body.ranges))) return {};
    ctx.note({ table: 'setting', id: rootID, before: { originAllow: before }, after: { originAllow: body.ranges } });
    await touchZones(ctx);
    return {};
  },
});

/**
 * The policy for a site: what the installation knows of itself. What nodes say of their addresses counts for nobody here, because
 * one word of one node would close an origin to every customer; each node keeps its own interfaces out itself (agent/src/origins.ts).
 */
export async function originPolicy(db: Db, siteID: number): Promise<AddressPolicy> {
  const found = await row<{ origins: PolicyFacts }>(
    db,
    sql`select ${sql.raw(originsOfZone)} as origins
        from site s join product p on p.id = s."productID" join "group" g on g.id = p."groupID" join zone z on z.id = g."zoneID"
        where s.id = ${siteID}`,
  );
  return found ? new AddressPolicy(found.origins) : strictPolicy;
}

/** Refuses origins that must not be connected to. `path` leads to the origin in the body. */
export async function checkOrigins(
  ctx: Context,
  siteID: number,
  origins: readonly { address?: string | undefined; port?: number | undefined; path: string }[],
): Promise<void> {
  if (!origins.length) return;
  const policy = await originPolicy(ctx.db, siteID);
  const problems = origins.flatMap(({ address = '', port = upstreamLimits.portDefault, path }) => {
    const verdict = policy.judgeHost(address, port);
    return verdict.allowed ? [] : [{ path: `${path}.address`, rule: ruleOfRefusal(verdict.kind), bounds: { address } } as const];
  });
  if (problems.length) throw failFields(problems);
}
