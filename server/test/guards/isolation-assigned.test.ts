/** Rows of the same tree that are not assigned to the sub-account that asks are unknown. */
import { test } from 'node:test';
import { sql } from 'kysely';
import { groups } from '#contract/index.ts';
import { areas, permissionKeys } from '#contract/kit/call.ts';
import { isolated } from './isolated.ts';
import { stage, subAccounts } from './stage.ts';
import { isAccountCall, isOperatorWide } from './world.ts';

const on = stage();
const siteKinds = new Set(['zone', 'group', 'product', 'site', 'domain', 'upstream', 'node']);

test('ids of the same tree, but not assigned to the sub-account that asks', async () => {
  const root = await on.rig.world('foxtrot');
  const assigned = await on.rig.world('golf', root.people);
  const hidden = await on.rig.world('hotel', root.people);
  const { tokens, accounts, hold } = await subAccounts(on.rig, root);
  for (const area of areas) await hold(area, permissionKeys(groups, area));
  const zoneID = await on.rig.at(assigned, 'zone');
  await sql`insert into "zoneAccount" values (${zoneID}, ${accounts.client})`.execute(on.api.database.db);
  const siteID = await on.rig.at(assigned, 'site');
  await sql`insert into "siteUser" values (${siteID}, ${accounts.user})`.execute(on.api.database.db);
  await isolated(
    on,
    {
      name: 'a row of a zone or site that is not assigned',
      mine: assigned,
      theirs: hidden,
      token: area => (area === 'admin' ? undefined : tokens[area]),
      only: (_call, kind) => (typeof kind === 'string' ? siteKinds.has(kind) : !isAccountCall(kind) && !isOperatorWide(kind)),
    },
    60,
  );
});
