/** Which zones a sub-account of the operator sees: its root says it. */
import { sql } from 'kysely';
import { accountZones } from '#contract/account/account-zones.ts';
import { fail } from '#contract/errors.ts';
import type { Context } from '../kit/context.ts';
import { implement } from '../kit/implement.ts';
import { touchedName } from '../kit/stale.ts';
import { underName, type Table } from '../kit/table.ts';
import { zoneTable } from '../node/tables.ts';
import { rows } from '../store/db.ts';
import { actAs } from './act-as.ts';
import { accountTable, subClientTable } from './tables.ts';

function rootOnly({ actor }: Context): void {
  if (!actor.isRoot) throw fail('permissionDenied');
}

/** Of zones that are still there, in the order of their names. */
const zonesOf = (ctx: Context, accountID: number) =>
  ctx
    .store(zoneTable)
    .pick(
      ['id', 'name'],
      [sql`exists (select 1 from "zoneAccount" za where za."zoneID" = t.id and za."accountID" = ${accountID})`],
      sql`t.name`,
    );

const idsOf = (found: readonly { id: number }[]) => found.map(({ id }) => id).sort((a, b) => a - b);

export const accountZoneCalls = implement(
  accountZones,
  {
    'GET /{clientId}/zones': ({ ctx, params }) => {
      rootOnly(ctx);
      return zonesOf(ctx, params.clientId);
    },
    'PUT /{clientId}/zones': async ({ ctx, params, body }) => {
      rootOnly(ctx);
      const account = await actAs(ctx, params.clientId, 'clientId');
      const wanted = [...new Set(body.zoneIDs)].sort((a, b) => a - b);
      if (wanted.length) await ctx.store(zoneTable).need(wanted, 'zoneIDs');
      const before = idsOf(await zonesOf(ctx, account.id));
      const isOther = before.join() !== wanted.join();
      await ctx.store(accountTable).set(account.id, {}, 'clientId', {
        differing: () => (isOther ? { zoneIDs: before } : {}),
        async write() {
          if (!isOther) return;
          await rows(
            ctx.db,
            sql`delete from "zoneAccount" where "accountID" = ${account.id} and "zoneID" = any(${before}::bigint[])`,
          );
          await rows(
            ctx.db,
            sql`insert into "zoneAccount" ("zoneID", "accountID") select z, ${account.id} from unnest(${wanted}::bigint[]) z`,
          );
          ctx.note({
            table: 'zoneAccount',
            id: account.id,
            before: { zoneIDs: before },
            after: { zoneIDs: wanted },
            of: touchedName('account', account.id),
            // a table of rows of any kind: it is asked for its name and scope alone
            under: underName(accountTable as Table, account),
          });
        },
      });
      return {};
    },
  },
  { params: { clientId: subClientTable } },
);
