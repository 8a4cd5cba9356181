/** When and where to the installation is backed up. Whoever may read the data folder makes the archives (bin/backup/keeper.ts): not this server. */
import { sql } from 'kysely';
import { failFields } from '#contract/errors.ts';
import { backupLimits } from '#contract/limits.ts';
import { ruleOfRefusal } from '#contract/rules/address-policy.ts';
import { backupProblem } from '#contract/system/backup-problems.ts';
import { databaseBackup } from '#contract/system/database-backup.ts';
import type { Context } from '../kit/context.ts';
import { implement } from '../kit/implement.ts';
import { mailPolicy } from '../kit/mail/send.ts';
import { col, table } from '../kit/table.ts';
import { type Db, row, rows, type Sql } from '../store/db.ts';

export interface BackupSettings extends Record<string, unknown> {
  id: number;
  version: number;
  enabled: boolean;
  every: 'hour' | 'day' | 'week';
  hour: number;
  weekday: number;
  timezone: string;
  target: 'folder' | 's3';
  folder: string;
  endpoint: string;
  region: string;
  bucket: string;
  prefix: string;
  accessKeyID: string;
  secretKeyIsSet: boolean;
  passphraseIsSet: boolean;
  logs: boolean;
  keep: number;
  restoreTest: boolean;
  nextAt: string | null;
}
export interface BackupRun {
  id: number;
  kind: 'backup' | 'restoreTest';
  state: 'asked' | 'running' | 'done' | 'failed';
  askedBy: string | null;
  file: string | null;
  bytes: number | null;
  rowCount: number | null;
  tableCount: number | null;
  /** of the archive's file, lower-case hex; null where a release before it made it */
  sha256: string | null;
  /** of the moment whose state the archive holds */
  archiveTime: string | null;
  problem: string | null;
  createdAt: string;
  startedAt: string | null;
  endedAt: string | null;
}
export const databaseBackupTable = table<BackupSettings>()({
  table: 'databaseBackup',
  scope: { tenant: [['clientID']], owner: (actor, a) => sql`${col('clientID', a)} = ${actor.rootID}` },
  sealed: ['secretKey', 'passphrase'],
  follows: ['nextAt'],
});

/** Nobody has decided anything yet. */
const unset = {
  enabled: false,
  every: 'day',
  hour: 3,
  weekday: 7,
  timezone: 'UTC',
  target: 'folder',
  folder: '',
  endpoint: '',
  region: '',
  bucket: '',
  prefix: '',
  accessKeyID: '',
  logs: false,
  keep: 14,
  restoreTest: true,
} as const;

/** The first full hour of the rhythm after now; an hour that a clock change leaves out is the one after it, as PostgreSQL reckons. */
export const nextBackup: Sql = sql`case when every = 'hour' then date_trunc('hour', now()) + interval '1 hour' else (
  select min(moment) from (
    select (date_trunc('day', now() at time zone timezone) + n * interval '1 day' + hour * interval '1 hour') at time zone timezone as moment
      from generate_series(0, 8) n
      where every = 'day' or extract(isodow from date_trunc('day', now() at time zone timezone) + n * interval '1 day') = weekday) m
  where moment > now()) end`;

const runColumns = sql.raw(
  'id, kind, state, "askedBy", file, bytes, "rowCount", "tableCount", sha256, "archiveTime", problem, "createdAt", "startedAt", "endedAt"',
);
/** The latest that succeeded. */
export const lastDone = (db: Db, backupID: number, kind: BackupRun['kind']): Promise<BackupRun | undefined> =>
  row(
    db,
    sql`select ${runColumns} from "backupRun" where "backupID" = ${backupID} and kind = ${kind} and state = 'done' order by id desc limit 1`,
  );

/** Nobody began it, though its time is over; or what was begun has not succeeded for twice as long as it should have. */
const isOverdue = async (db: Db, backupID: number): Promise<boolean> =>
  !!(await row(
    db,
    sql`select 1 from "databaseBackup" b where id = ${backupID} and enabled and ("nextAt" < now() - ${backupLimits.lateMinutes} * interval '1 minute'
      or greatest("updatedAt", (select max("endedAt") from "backupRun" r where r."backupID" = b.id and kind = 'backup' and state = 'done'))
        < now() - 2 * ('1 ' || every)::interval)`,
  ));

const stored = async (ctx: Context) => (await ctx.store(databaseBackupTable).page({ pageSize: 1 })).data[0];

export const databaseBackupCalls = implement(databaseBackup, {
  'GET /DBBackup': async ({ ctx }) => {
    const known = await stored(ctx);
    const values = known ?? { ...unset, secretKeyIsSet: false, passphraseIsSet: false, version: 0, nextAt: null };
    const { enabled, every, hour, weekday, timezone, target, folder, endpoint, region, bucket, prefix, accessKeyID } = values;
    const { secretKeyIsSet, passphraseIsSet, logs, keep, restoreTest, version, nextAt } = values;
    const id = known?.id ?? 0;
    return {
      ...{ enabled, every, hour, weekday, timezone, target, folder, endpoint, region, bucket, prefix, accessKeyID },
      ...{ secretKeyIsSet, passphraseIsSet, logs, keep, restoreTest, version, nextAt },
      isOverdue: await isOverdue(ctx.db, id),
      lastBackup: (await lastDone(ctx.db, id, 'backup')) ?? null,
      lastRestoreTest: (await lastDone(ctx.db, id, 'restoreTest')) ?? null,
      runs: (
        await rows<BackupRun>(
          ctx.db,
          sql`select ${runColumns} from "backupRun" where "backupID" = ${id} order by id desc limit ${backupLimits.runsShown}`,
        )
      ).map(run => ({ ...run, problem: run.problem && backupProblem(run.problem, ctx.language).slice(0, 500) })),
    };
  },
  'PUT /DBBackup': async ({ ctx, body }) => {
    const known = await stored(ctx);
    const { rootID } = ctx.actor;
    if (body.target === 's3') {
      const url = new URL(body.endpoint);
      const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
      const host = url.hostname.replace(/^\[|\]$/g, '');
      const verdict = (await mailPolicy(ctx.db, rootID)).judgeHost(host, port);
      if (!verdict.allowed)
        throw failFields([{ path: 'endpoint', rule: ruleOfRefusal(verdict.kind), bounds: { address: host } }]);
      for (const name of ['secretKey', 'passphrase'] as const)
        if (body[name] === undefined ? !known?.[`${name}IsSet`] : !body[name])
          throw failFields([{ path: name, rule: 'required' }]);
    }
    if (known) await ctx.store(databaseBackupTable).set(known.id, body);
    else {
      await ctx.expect('databaseBackup', { id: rootID, version: 0, ...unset, secretKey: null, passphrase: null }, body);
      await ctx.store(databaseBackupTable).add([body], { clientID: rootID });
    }
    await sql`update "databaseBackup" set "nextAt" = case when enabled then ${nextBackup} end
      where "clientID" = ${rootID} and "deletedAt" is null`.execute(ctx.db);
    await sql`select pg_notify('backup', '')`.execute(ctx.db);
    return {};
  },
  'POST /DBBackup/run': async ({ ctx, body }) => {
    const { rootID, email } = ctx.actor;
    if (!(await stored(ctx))) await ctx.store(databaseBackupTable).add([{ ...unset }], { clientID: rootID });
    const { id } = (await stored(ctx))!;
    if (body.kind === 'restoreTest' && !(await lastDone(ctx.db, id, 'backup')))
      throw failFields([{ path: 'kind', rule: 'backupNeeded' }]);
    await sql`insert into "backupRun" ("backupID", kind, "askedBy") values (${id}, ${body.kind}, ${email})
      on conflict ("backupID") where state in ('asked', 'running') do nothing`.execute(ctx.db);
    // that which was under way may have ended just now
    const open = await row<{ id: number }>(
      ctx.db,
      sql`select id from "backupRun" where "backupID" = ${id} order by id desc limit 1`,
    );
    await sql`select pg_notify('backup', '')`.execute(ctx.db);
    return { id: open!.id };
  },
});
