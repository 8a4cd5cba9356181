/** How long the installation keeps what nobody needs any more; for the people of its owner. */
import { useQuery } from '@tanstack/react-query';
import { Button } from 'antd';
import { useState } from 'react';
import { retentionDefaults } from '#contract/limits.ts';
import { call, type AnswerOf } from '../kit/client.ts';
import { ResourceForm } from '../kit/form.tsx';
import { useCan } from '../kit/permissions.ts';
import type { FieldName, FormField } from '../kit/resource.ts';
import { t } from '../kit/text.ts';
import { dateTime } from '../kit/time.ts';
import { number } from '../kit/units.ts';

const read = 'GET /client/setting/system/retention';
const write = 'PUT /client/setting/system/retention';
const names = Object.keys(retentionDefaults) as (keyof typeof retentionDefaults)[];
const fieldNames = {
  audit: 'keepAudit',
  deleted: 'keepDeleted',
  purges: 'keepPurges',
  tasks: 'keepTasks',
  ended: 'keepEnded',
  tombstones: 'keepTombstones',
} as const satisfies Record<(typeof names)[number], FieldName>;
const fields = names.map((name): FormField => ({
  name: name as FieldName,
  label: fieldNames[name],
  help: fieldNames[name],
  kind: 'number',
  unit: 'days',
  initial: retentionDefaults[name],
}));

/** The button that opens it. Only the first operator is answered; nobody else sees it. */
export function Retention() {
  const can = useCan();
  const [isOpen, setOpen] = useState(false);
  const now = useQuery({ queryKey: [read], queryFn: () => call(read), enabled: can(read), retry: false });
  if (!now.data || !can(write)) return null;
  const { lastRun, version, ...values } = now.data;
  return (
    <>
      <Button onClick={() => setOpen(true)}>{t('retention.open')}</Button>
      {isOpen && (
        <ResourceForm
          title={t('retention.title')}
          call={write}
          params={{}}
          fields={fields}
          values={values}
          isEdit
          version={version}
          success={t('message.updateSuccess')}
          onClose={() => setOpen(false)}
        >
          <div className="form-intro">
            <p className="ink-2">{t('retention.text')}</p>
            <LastRun run={lastRun} />
          </div>
        </ResourceForm>
      )}
    </>
  );
}

function LastRun({ run }: { run: AnswerOf<typeof read>['lastRun'] }) {
  if (!run) return <p className="ink-3">{t('retention.never')}</p>;
  if (run.problem !== null)
    return (
      <p className="bad" role="alert">
        {t('retention.failed', { time: dateTime(run.at), why: run.problem })}
      </p>
    );
  const count = Object.values(run.removed).reduce((sum, one) => sum + Number(one), 0);
  return <p className="ink-3">{t('retention.last', { time: dateTime(run.at), count: number(count) })}</p>;
}
