/** Who an operator is at ZeroSSL. */
import { sql } from 'kysely';
import { failFields } from '#contract/errors.ts';
import { zeroSSL } from '#contract/system/zero-ssl.ts';
import { implement } from '../kit/implement.ts';
import { Sealed, type Sealing } from '../kit/sealed.ts';
import { table } from '../kit/table.ts';
import { type Db, row } from '../store/db.ts';

interface ZeroSSLRow extends Record<string, unknown> {
  id: number;
  eabKID: string;
  eabHmacKeyIsSet: boolean;
  version: number;
}
export const zeroSSLTable = table<ZeroSSLRow>()({
  table: 'zeroSSL',
  scope: { tenant: [['clientID']], owner: (actor, a) => sql`${sql.ref(`${a}.clientID`)} = ${actor.rootID}` },
  sealed: ['eabHmacKey'],
});

/** In the open, for the authority alone; undefined: it was never set. */
export async function zeroSSLOf(
  db: Db,
  sealing: Sealing,
  clientID: number,
): Promise<{ kid: string; hmacKey: string } | undefined> {
  const found = await row<{ eabKID: string; eabHmacKey: string | null }>(
    db,
    sql`select "eabKID", "eabHmacKey" from "zeroSSL" where "clientID" = ${clientID} and "deletedAt" is null`,
  );
  const hmacKey = found?.eabHmacKey && new Sealed('zeroSSL', ['eabHmacKey'], sealing).open('eabHmacKey', found.eabHmacKey);
  return found && hmacKey && found.eabKID ? { kid: found.eabKID, hmacKey } : undefined;
}

export const zeroSSLCalls = implement(zeroSSL, {
  'GET /zeroSSL': async ({ ctx }) => {
    const { data } = await ctx.store(zeroSSLTable).page({ pageSize: 1 });
    const [{ eabKID, eabHmacKeyIsSet, version } = { eabKID: '', eabHmacKeyIsSet: false, version: 0 }] = data;
    return { eabKID, eabHmacKeyIsSet, version };
  },
  'PUT /zeroSSL': async ({ ctx, body }) => {
    const store = ctx.store(zeroSSLTable);
    const [known] = await store.page({ pageSize: 1 }).then(({ data }) => data);
    const hasKey = body.eabHmacKey === undefined ? known?.eabHmacKeyIsSet === true : !!body.eabHmacKey;
    if (body.eabKID !== '' && !hasKey) throw failFields([{ path: 'eabHmacKey', rule: 'required' }]);
    if (body.eabKID === '' && hasKey) throw failFields([{ path: 'eabKID', rule: 'required' }]);
    if (known) await store.set(known.id, body);
    else {
      await ctx.expect('zeroSSL', { id: ctx.actor.rootID, version: 0, eabKID: '', eabHmacKey: null }, { eabKID: body.eabKID });
      if (body.eabKID) await store.add([body], { clientID: ctx.actor.rootID });
    }
    return {};
  },
});
