/** A module, with its rows, to other sites: a task whose progress is shown at once. */
import type { ModuleTypeName } from '#contract/edge/modules/index.ts';
import { ofArea } from '../kit/of-area.ts';
import { call } from '../kit/client.ts';
import { ResourceForm } from '../kit/form.tsx';
import { showTasks } from '../kit/task-log.ts';
import { overlay } from '../kit/overlay.ts';
import type { FormField, RowAction } from '../kit/resource.ts';
import { t } from '../kit/text.ts';

type CopyKey = `POST /{area}/site/{siteID}/${ModuleTypeName}/copy`;

const fieldsOf = (siteID: number): FormField[] => [
  {
    name: 'siteIDs',
    kind: 'remote',
    isMultiple: true,
    isOptional: false,
    from: ofArea({ user: 'GET /user/metaSites', client: 'GET /client/metaSites' }),
    // it has the module already
    why: row => (row['id'] === siteID ? t('copy.own') : undefined),
  },
  { name: 'overwrite', kind: 'switch', help: 'overwriteModule' },
];

export const copyAction = <Row extends { id: number; name: string }>(key: CopyKey): RowAction<Row> => ({
  name: 'copyToSites',
  call: key,
  run: ([row], { params }) =>
    overlay(close => (
      <ResourceForm
        title={t('copy.title', { name: row!.name })}
        call={key}
        params={params}
        draftOf={row!.id}
        fields={fieldsOf(params['siteID']!)}
        values={{ siteIDs: [], overwrite: false }}
        body={values => ({ moduleID: row!.id, ...values })}
        send={async values => {
          const body = { moduleID: row!.id, ...(values as { siteIDs: number[]; overwrite: boolean }) };
          const { taskID } = await call(key, { siteID: params['siteID']!, body });
          // it has begun, whether its list can be shown or not
          void showTasks(taskID);
        }}
        isEdit={false}
        success={t('copy.begun')}
        errors={{ otherwise: t('copy.failed') }}
        onClose={() => close()}
      />
    )),
});
