/**
 * Who may act as whom (decisions.md, Who may do what): one rule for every call that acts on an account. The account is
 * a real descendant in the tree, sees no zone or site that the actor does not see, and holds no key that the actor does
 * not hold now. A root has all of its tree; an admin's root has every operator and customer.
 */
import { sql } from 'kysely';
import { fail } from '#contract/errors.ts';
import type { ActAsReason } from '#contract/account/accounts.ts';
import type { Actor } from '../kit/actor.ts';
import type { Context } from '../kit/context.ts';
import { scopeOf } from '../kit/table.ts';
import { zoneTable } from '../node/tables.ts';
import { siteTable } from '../site/tables.ts';
import { rows, type Sql } from '../store/db.ts';
import { accountTable, type AccountRow } from './tables.ts';

interface Facts {
  id: number;
  auth: string;
  isRoot: boolean;
  rootID: number;
  isBelow: boolean;
  isWider: boolean;
}

/** Why the actor may not act as each of these accounts, null where it may. Accounts out of its sight are not told apart. */
export async function actAsDenied(ctx: Context, ids: readonly number[]): Promise<Map<number, ActAsReason | null>> {
  const { actor, db } = ctx;
  const facts = await rows<Facts>(
    db,
    sql`with recursive up as (
          select a.id as "accountID", ${parentOf} as "parentID" from account a where a.id = any(${ids})
          union
          select up."accountID", ${parentOf} from up join account a on a.id = up."parentID"
        )
        select a.id, a.auth, a."isRoot", coalesce(a."rootID", a.id) as "rootID",
            exists (select 1 from up where up."accountID" = a.id and up."parentID" = ${actor.accountID}) as "isBelow",
            ${actor.isRoot ? sql`false` : seesMore(actor)} as "isWider"
          from account a where a.id = any(${ids})`,
  );
  // a program that acts for a root holds what its token says
  const held = actor.isRoot && !actor.token ? undefined : await ctx.services.sessions.held(db, ids);
  return new Map(
    facts.map(account => {
      if (account.id === actor.accountID) return [account.id, 'own'];
      const isBelow = account.isBelow || (actor.area === 'admin' && actor.isRoot && account.auth !== 'admin');
      if (!isBelow) return [account.id, 'notBelow'];
      if (account.isWider) return [account.id, 'wider'];
      if (held && [...held.get(account.id)!.keys].some(key => !actor.permissions.has(key))) return [account.id, 'moreKeys'];
      return [account.id, null];
    }),
  );
}

/** An account of before there were parents hangs on its root, and a customer's root on its operator. */
const parentOf = sql`coalesce(a."parentID", nullif(a."rootID", a.id), a."parentClient")`;

/** The account \`a\` sees a zone or a site that the actor does not see. */
function seesMore(actor: Actor): Sql {
  const zones = sql`exists (select 1 from zone z where z."deletedAt" is null
    and (case when a."isRoot" then z."clientID" = a.id
         else exists (select 1 from "zoneAccount" za where za."zoneID" = z.id and za."accountID" = a.id) end)
    and not ${scopeOf(zoneTable, actor, 'z')})`;
  const sites = sql`exists (select 1 from site s where s."deletedAt" is null and s."userID" = coalesce(a."rootID", a.id)
    and (a."isRoot" or exists (select 1 from "siteUser" su where su."siteID" = s.id and su."userID" = a.id))
    and not ${scopeOf(siteTable, actor, 's')})`;
  return sql`(case a.auth when 'client' then ${zones} when 'user' then ${sites} else false end)`;
}

declare const mayActAs: unique symbol;
/** An account that the actor may act as: `actAs` alone makes one, so whoever is given one need not ask. */
export type ActedAs = AccountRow & { readonly [mayActAs]: true };

/** The account, locked, once it is sure that the actor may act as it; else 101018, or 404 where the actor does not see it. */
export async function actAs(ctx: Context, id: number, path = 'id'): Promise<ActedAs> {
  const [account] = await ctx.store(accountTable).need([id], path);
  if ((await actAsDenied(ctx, [id])).get(id) !== null) throw fail('permissionDenied');
  // found to be so in the line above
  return account as ActedAs;
}
