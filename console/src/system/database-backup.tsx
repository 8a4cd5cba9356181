/** Backups of the installation: when and where to, what became of the latest, and when one was last restored for a trial (§7 DBBackup). */
import { useQuery } from '@tanstack/react-query';
import { Button } from 'antd';
import { useState } from 'react';
import { backupRhythms, backupRunKinds, backupTargets } from '#contract/limits.ts';
import { type AnswerOf, call } from '../kit/client.ts';
import { isError } from '../kit/error-code.ts';
import { ErrorState } from '../kit/empty.tsx';
import { inPlace } from '../kit/later.tsx';
import { notify } from '../kit/notice.ts';
import { useCan } from '../kit/permissions.ts';
import { present } from '../kit/present.tsx';
import { queryClient } from '../kit/query.ts';
import { type FieldName, type FormField, options, type Values } from '../kit/resource.ts';
import { currentSelf, useSelf } from '../kit/session.ts';
import { Stale } from '../kit/stale.tsx';
import { Status, Toned } from '../kit/status.tsx';
import { t } from '../kit/text.ts';
import { dateTime } from '../kit/time.ts';
import { bytes, number } from '../kit/units.ts';
import { presenceFields, presenceValues, withPresence } from './presence.tsx';
import { SettingValues } from './setting-values.tsx';
import './attempts.css';

const CardForm = inPlace(async () => (await import('../kit/card-form.tsx')).CardForm);

const read = 'GET /client/setting/system/DBBackup';
const write = 'PUT /client/setting/system/DBBackup';
const start = 'POST /client/setting/system/DBBackup/run';
type Answer = AnswerOf<typeof read>;
type Run = Answer['runs'][number];
const pollMs = 3000;
/** The clock may begin one while somebody looks. */
const quietPollMs = 30_000;
/** A run that nobody takes up by then has nobody to do it. */
const takenUpMs = 60_000;

const isS3 = (values: Values) => values['target'] === 's3';
const isFolder = (values: Values) => values['target'] === 'folder';
type Without<T> = T extends unknown ? Omit<T, 'name' | 'label'> : never;
const field = (name: string, label: FieldName, rest: Without<FormField>): FormField =>
  // what the wire calls it has no text of its own
  ({ name: name as FieldName, label, ...rest }) as FormField;
const hours = Array.from({ length: 24 }, (_, hour) => hour);
const weekdays = [1, 2, 3, 4, 5, 6, 7] as const;
const fieldsOf = (now: Answer): FormField[] => [
  field('enabled', 'backupOn', { kind: 'switch', help: 'backupOn' }),
  field('every', 'backupEvery', { kind: 'segments', ...options(backupRhythms, 'backupEvery') }),
  field('weekday', 'backupWeekday', {
    kind: 'select',
    ...options(weekdays, 'weekday'),
    when: values => values['every'] === 'week',
  }),
  field('hour', 'backupHour', { kind: 'select', values: hours, when: values => values['every'] !== 'hour' }),
  field('timezone', 'timezone', {
    kind: 'select',
    values: [...new Set(['UTC', now.timezone, ...Intl.supportedValuesOf('timeZone')])],
    when: values => values['every'] !== 'hour',
  }),
  field('target', 'backupTarget', { kind: 'segments', ...options(backupTargets, 'backupTarget') }),
  field('folder', 'backupFolder', {
    kind: 'mono',
    isOptional: true,
    help: 'backupFolder',
    placeholder: '/srv/backups',
    when: isFolder,
  }),
  field('endpoint', 's3Endpoint', { kind: 'mono', isOptional: false, placeholder: 'https://s3.example.com', when: isS3 }),
  field('region', 's3Region', { kind: 'mono', isOptional: false, placeholder: 'us-east-1', when: isS3 }),
  field('bucket', 's3Bucket', { kind: 'mono', isOptional: false, when: isS3 }),
  field('prefix', 's3Prefix', { kind: 'mono', isOptional: true, help: 's3Prefix', placeholder: 'breakwater/', when: isS3 }),
  field('accessKeyID', 's3AccessKey', { kind: 'mono', isOptional: false, when: isS3 }),
  field('secretKey', 's3SecretKey', { kind: 'password', isOptional: now.secretKeyIsSet, help: 'keptWhenEmpty', when: isS3 }),
  field('passphrase', 'backupPassphrase', { kind: 'password', isOptional: true, help: 'backupPassphrase' }),
  field('logs', 'backupLogs', { kind: 'switch', help: 'backupLogs' }),
  field('keep', 'backupKeep', { kind: 'number', help: 'backupKeep' }),
  field('restoreTest', 'backupTest', { kind: 'switch', help: 'backupTest' }),
];

export function DatabaseBackup() {
  const can = useCan();
  const { isRoot, proxyName } = useSelf();
  const [round, setRound] = useState(0);
  const found = useQuery({
    queryKey: [read],
    queryFn: () => call(read),
    retry: false,
    refetchInterval: ({ state }) => (state.data?.runs.some(isOpen) ? pollMs : quietPollMs),
  });
  const now = found.data;
  if (!now && found.error)
    return isError(found.error, 'permissionDenied') ? (
      <p className="panel panel-padded ink-3">{t('backup.ownerOnly')}</p>
    ) : (
      <ErrorState error={found.error} onRetry={() => void found.refetch()} />
    );
  if (!now) return <div className="panel tab-wait" aria-busy />;
  const fields = fieldsOf(now);
  // its fields are those of the form
  const stored = now as unknown as Values;
  const values: Values = {
    ...Object.fromEntries(fields.map(({ name }) => [name, stored[name]])),
    secretKey: '',
    passphrase: '',
    // who has not decided yet means their own clock
    ...(now.version === 0 ? { timezone: currentSelf()?.timezone ?? 'UTC' } : {}),
  };
  return (
    <>
      <Stale found={found} />
      <State now={now} at={found.dataUpdatedAt} />
      <section className="panel setting" aria-label={t('tab.databaseBackup')}>
        {can(write) && isRoot && !proxyName ? (
          <CardForm
            // a password stays in no form that was saved
            key={round}
            call={write}
            params={{}}
            fields={[...fields, ...presenceFields]}
            values={{ ...values, ...presenceValues }}
            version={now.version}
            // left empty they stay; what the other kind of target asks is stored all the same
            body={({ secretKey, passphrase, ...rest }) => ({
              ...values,
              ...withPresence(rest),
              secretKey: undefined,
              passphrase: undefined,
              ...(secretKey ? { secretKey } : {}),
              ...(passphrase ? { passphrase } : {}),
            })}
            saved={async () => setRound(round + 1)}
            success={t('message.modifySuccess')}
            errors={{ otherwise: t('message.modifyFailed') }}
            meanwhile={<div className="tab-wait" aria-busy />}
          >
            <p className="ink-2">{t(now.passphraseIsSet ? 'backup.passphraseSet' : 'backup.passphraseUnset')}</p>
          </CardForm>
        ) : (
          <SettingValues why={t('presence.rootOnly')} fields={fields} values={values} />
        )}
      </section>
      <Runs runs={now.runs} />
    </>
  );
}

const isOpen = ({ state }: Run) => state === 'asked' || state === 'running';

/** What an operator wants to know first: is there one, and can it be restored. */
function State({ now, at }: { now: Answer; at: number }) {
  const { lastBackup, lastRestoreTest, nextAt, isOverdue, runs } = now;
  const can = useCan();
  const [busy, setBusy] = useState<Run['kind']>();
  const open = runs.find(isOpen);
  async function begin(kind: Run['kind']) {
    setBusy(kind);
    try {
      await call(start, { body: { kind } });
      notify.success(t('backup.begun'));
    } catch (error) {
      present(error);
    } finally {
      setBusy(undefined);
      void queryClient.invalidateQueries({ queryKey: [read] });
    }
  }
  const isForgotten = open?.state === 'asked' && at - Date.parse(open.createdAt) > takenUpMs;
  const failures = backupRunKinds
    .map(kind => runs.find(run => run.kind === kind && !isOpen(run)))
    .filter(run => run?.state === 'failed');
  return (
    <section className="panel panel-padded" aria-label={t('backup.state')}>
      <div role="status" className="backup-state">
        {open && <Toned tone="warn">{t(`backup.${stepOf(open)}`)}</Toned>}
        <Toned tone={!lastBackup ? 'bad' : isOverdue ? 'warn' : 'good'}>
          {lastBackup
            ? t('backup.last', { time: dateTime(lastBackup.endedAt), size: bytes(lastBackup.bytes ?? 0) })
            : t('backup.none')}
        </Toned>
        {isOverdue && <Toned tone="bad">{t('backup.overdue')}</Toned>}
        <Toned tone={nextAt ? 'idle' : 'warn'}>
          {nextAt ? t(Date.parse(nextAt) < at ? 'backup.wasDue' : 'backup.next', { time: dateTime(nextAt) }) : t('backup.off')}
        </Toned>
        <Toned tone={lastRestoreTest ? 'good' : lastBackup ? 'bad' : 'idle'}>
          {lastRestoreTest
            ? t('backup.tested', { time: dateTime(lastRestoreTest.endedAt), count: number(lastRestoreTest.rowCount ?? 0) })
            : t(lastBackup ? 'backup.untested' : 'backup.nothingToTest')}
        </Toned>
      </div>
      {/* beside what is read aloud when it changes: this does every few seconds */}
      {open?.startedAt && <Progress run={open} runs={runs} at={at} />}
      {failures.map(run => (
        <p key={run!.kind} className="bad" role="alert">
          {t('backup.failed', { kind: t(`backupKind.${run!.kind}`), time: dateTime(run!.endedAt), why: run!.problem ?? '' })}
        </p>
      ))}
      {isForgotten && (
        <p className="bad" role="alert">
          {t('backup.nobody')}
        </p>
      )}
      {can(start) && (
        <p className="button-line">
          <Button loading={busy === 'backup'} disabled={!!open} onClick={() => void begin('backup')}>
            {t('backup.now')}
          </Button>
          <Button loading={busy === 'restoreTest'} disabled={!!open || !lastBackup} onClick={() => void begin('restoreTest')}>
            {t('backup.test')}
          </Button>
        </p>
      )}
    </section>
  );
}

/** What the one does that is under way. */
function stepOf({ state, kind, file }: Run) {
  if (state === 'asked') return 'waits';
  return kind === 'restoreTest' ? 'restores' : file === null ? 'collects' : 'stores';
}

/** For how long it has been under way, and how long the one before took. */
function Progress({ run, runs, at }: { run: Run; runs: Run[]; at: number }) {
  const before = runs.find(({ kind, state }) => kind === run.kind && state === 'done');
  return (
    <p className="ink-3">
      {t('backup.since', { time: span(run.startedAt!, at) })}{' '}
      {before?.startedAt && before.endedAt && t('backup.took', { time: span(before.startedAt, Date.parse(before.endedAt)) })}
    </p>
  );
}

/** 3:07 or 1:02:07; clocks of server and browser may differ. */
function span(from: string, to: number): string {
  const seconds = Math.max(0, Math.round((to - Date.parse(from)) / 1000));
  const two = (value: number) => String(value).padStart(2, '0');
  const [hours, rest] = [Math.floor(seconds / 3600), `${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`];
  return hours ? `${hours}:${rest}` : rest;
}

function Runs({ runs }: { runs: Run[] }) {
  if (!runs.length) return null;
  return (
    <section className="panel panel-padded tried" aria-label={t('backup.runs')}>
      <h3>{t('backup.runs')}</h3>
      <div className="attempts" tabIndex={0} role="region" aria-label={t('backup.runs')}>
        <table className="numbers">
          <thead>
            <tr>
              <th scope="col">{t('backup.when')}</th>
              <th scope="col">{t('backup.what')}</th>
              <th scope="col">{t('backup.outcome')}</th>
              <th scope="col">{t('backup.size')}</th>
              <th scope="col">{t('backup.file')}</th>
            </tr>
          </thead>
          <tbody>
            {runs.map(run => (
              <tr key={run.id}>
                <td>{dateTime(run.startedAt ?? run.createdAt)}</td>
                <td>
                  {t(`backupKind.${run.kind}`)}
                  <br />
                  <span className="ink-3">{run.askedBy ?? t('backup.clock')}</span>
                </td>
                <td>
                  <Status value={run.state} texts="backupState" />
                  {run.problem && <p className="ink-3">{run.problem}</p>}
                </td>
                <td>
                  {run.bytes === null ? '' : bytes(run.bytes)}
                  {run.rowCount !== null && <span className="ink-3"> {t('backup.rows', { count: number(run.rowCount) })}</span>}
                </td>
                <td className="mono">{run.file ?? '–'}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
