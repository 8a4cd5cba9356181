/** Giving a module to domains from the list of modules: they are chosen among those of the site, and what they had before is replaced. */
import type { CallKey } from '../kit/client.ts';
import { ResourceForm } from '../kit/form.tsx';
import { overlay } from '../kit/overlay.ts';
import type { FormField, RowAction } from '../kit/resource.ts';
import { t } from '../kit/text.ts';

interface Module {
  id: number;
  name: string;
  enabled: boolean;
}
const domains = 'GET /{area}/site/{siteID}/metaDomains';
const fields: FormField[] = [{ name: 'domainIDs', kind: 'remote', isMultiple: true, from: domains, help: 'assignDomains' }];

export const assigning = (call: CallKey, idField: 'moduleID' | 'corsID' = 'moduleID'): RowAction<Module> => ({
  name: 'assignDomains',
  call: [call, domains],
  run: ([module], { params }) =>
    overlay(close => (
      <ResourceForm
        title={t('module.assign', { name: module!.name })}
        call={call}
        params={params}
        draftOf={module!.id}
        fields={fields}
        values={{}}
        body={({ domainIDs }) => ({ domainIDs: domainIDs ?? [], [idField]: module!.id })}
        isEdit={false}
        success={t('message.updateSuccess')}
        errors={{ otherwise: t('module.assignFailed') }}
        onClose={() => close()}
      />
    )),
});
