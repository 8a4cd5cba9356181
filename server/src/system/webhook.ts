/** Where an operator, or a customer, is told of events by HTTP. */
import { sql } from 'kysely';
import { failFields } from '#contract/errors.ts';
import { type NoticeKind, noticeKinds, webhookLimits } from '#contract/limits.ts';
import { ruleOfRefusal } from '#contract/rules/address-policy.ts';
import { webhook } from '#contract/system/webhook.ts';
import type { Context } from '../kit/context.ts';
import { tooManyPasswords } from '../kit/hashing.ts';
import { implement } from '../kit/implement.ts';
import { mailPolicy } from '../kit/mail/send.ts';
import { col, table } from '../kit/table.ts';
import { type Db, row, rows, type Sql } from '../store/db.ts';
import { checkTold } from './told-kinds.ts';

interface WebhookRow extends Record<string, unknown> {
  id: number;
  version: number;
  enable: boolean;
  url: string;
  secretIsSet: boolean;
  kinds: NoticeKind[];
}
interface DeliveryRow {
  id: number;
  kind: NoticeKind | 'test';
  state: 'waiting' | 'done' | 'failed';
  attempts: number;
  status: number | null;
  answer: string | null;
  problem: string | null;
  createdAt: string;
  sentAt: string | null;
  nextAt: string | null;
}
export const webhookTable = table<WebhookRow>()({
  table: 'webhook',
  scope: { tenant: [['accountID']], owner: (actor, a) => sql`${col('accountID', a)} = ${actor.rootID}` },
  sealed: ['secret'],
});
const testsFree = 10;

export interface Happened {
  kind: NoticeKind | 'test';
  name: string;
  detail: string;
}
/** Writes down that these webhooks are to be told, as far as there is room. */
export const putDeliveries = (db: Db, which: Sql, { kind, name, detail }: Happened) =>
  rows<{ id: number }>(
    db,
    sql`insert into "webhookDelivery" ("webhookID", kind, body)
        select w.id, ${kind}::text, jsonb_build_object('event', ${kind}::text, 'time', to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
          'name', ${name}::text, 'detail', ${detail}::text)::text
        from webhook w where w."deletedAt" is null and w.url <> '' and w.secret is not null and ${which}
          and exists (select from account a where a.id = w."accountID" and a."deletedAt" is null and a.status = 'normal')
          and (select count(*) from "webhookDelivery" d where d."webhookID" = w.id and d.state = 'waiting') < ${webhookLimits.waitingMax}
        returning id`,
  );

const stored = async (ctx: Context) => (await ctx.store(webhookTable).page({ pageSize: 1 })).data[0];

export const webhookCalls = implement(webhook, {
  'GET /webhook': async ({ ctx }) => {
    const known = await stored(ctx);
    return {
      enable: known?.enable ?? false,
      url: known?.url ?? '',
      secretIsSet: known?.secretIsSet ?? false,
      kinds: known?.kinds ?? [],
      version: known?.version ?? 0,
      deliveries: await rows<DeliveryRow>(
        ctx.db,
        sql`select id, kind, state, attempts, status, answer, problem, "createdAt", "sentAt", case when state = 'waiting' then "nextAt" end as "nextAt"
            from "webhookDelivery" where "webhookID" = ${known?.id ?? 0} order by id desc limit ${webhookLimits.shownMax}`,
      ),
    };
  },
  'PUT /webhook': async ({ ctx, body }) => {
    const known = await stored(ctx);
    const { rootID, clientID } = ctx.actor;
    if (body.url !== '') {
      const url = new URL(body.url);
      const host = url.hostname.replace(/^\[|\]$/g, '');
      const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
      const verdict = (await mailPolicy(ctx.db, clientID ?? 0)).judgeHost(host, port);
      if (!verdict.allowed) throw failFields([{ path: 'url', rule: ruleOfRefusal(verdict.kind), bounds: { address: host } }]);
    }
    if (body.enable) {
      if (body.url === '') throw failFields([{ path: 'url', rule: 'required' }]);
      if (body.secret === undefined ? !known?.secretIsSet : !body.secret)
        throw failFields([{ path: 'secret', rule: 'required' }]);
    }
    checkTold(
      ctx.actor,
      'url',
      { enable: known?.enable ?? false, to: known?.url ?? '', kinds: known?.kinds ?? [] },
      { enable: body.enable, to: body.url, kinds: body.kinds },
      { isSecret: body.secret !== undefined, allKinds: noticeKinds },
    );
    const values = { ...body, kinds: [...new Set(body.kinds)] };
    if (known) await ctx.store(webhookTable).set(known.id, values);
    else {
      await ctx.expect('webhook', { id: rootID, version: 0, enable: false, url: '', kinds: [], secret: null }, body);
      await ctx.store(webhookTable).add([values], { accountID: rootID });
    }
    // what waits goes there now
    await sql`update "webhookDelivery" d set "nextAt" = now() from webhook w where w.id = d."webhookID" and w."accountID" = ${rootID}
      and d.state = 'waiting'`.execute(ctx.db);
    return {};
  },
  'POST /webhook/test': async ({ ctx }) => {
    const { rootID } = ctx.actor;
    const wait = ctx.services.sessions.tries.take([{ kind: 'account', key: `webhook test ${rootID}`, free: testsFree }]);
    if (wait) throw tooManyPasswords('url', wait.seconds);
    const [made] = await putDeliveries(ctx.db, sql`w."accountID" = ${rootID}`, { kind: 'test', name: 'test', detail: '' });
    if (!made) {
      const known = await row<{ url: string; isFull: boolean }>(
        ctx.db,
        sql`select url, secret is not null as "isFull" from webhook where "accountID" = ${rootID} and "deletedAt" is null`,
      );
      if (known?.url && known.isFull)
        throw failFields([{ path: 'url', rule: 'tooManyDeliveries', bounds: { n: webhookLimits.waitingMax } }]);
      throw failFields([{ path: known?.url ? 'secret' : 'url', rule: 'required' }]);
    }
    return made;
  },
});
