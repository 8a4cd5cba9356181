/** How long the installation keeps what nobody needs any more; its owner's alone. */
import { retentionDefaults } from '#contract/limits.ts';
import type { AnswerOf } from '../kit/client.ts';
import type { FieldName, FormField } from '../kit/resource.ts';
import { t } from '../kit/text.ts';
import { dateTime } from '../kit/time.ts';
import { number } from '../kit/units.ts';
import { SystemCard } from './system-card.tsx';

const names = Object.keys(retentionDefaults) as (keyof typeof retentionDefaults)[];
const fieldNames = {
  audit: 'keepAudit',
  deleted: 'keepDeleted',
  purges: 'keepPurges',
  tasks: 'keepTasks',
  ended: 'keepEnded',
  tombstones: 'keepTombstones',
} as const satisfies Record<(typeof names)[number], FieldName>;
const fields = (): FormField[] =>
  names.map((name): FormField => ({
    name: name as FieldName,
    label: fieldNames[name],
    help: fieldNames[name],
    kind: 'number',
    unit: 'days',
    initial: retentionDefaults[name],
  }));

export const Retention = () => (
  <SystemCard
    name="retention"
    read="GET /client/setting/system/retention"
    write="PUT /client/setting/system/retention"
    fields={fields}
    note={({ lastRun }) => (
      <>
        {t('retention.text')} <LastRun run={lastRun} />
      </>
    )}
  />
);

function LastRun({ run }: { run: AnswerOf<'GET /client/setting/system/retention'>['lastRun'] }) {
  if (!run) return t('retention.never');
  if (run.problem !== null)
    return (
      <span className="bad" role="alert">
        {t('retention.failed', { time: dateTime(run.at), why: run.problem })}
      </span>
    );
  const count = Object.values(run.removed).reduce((sum, one) => sum + Number(one), 0);
  return t('retention.last', { time: dateTime(run.at), count: number(count) });
}
