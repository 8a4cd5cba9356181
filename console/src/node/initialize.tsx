/** Puts nodes into a zone: from then on they get its configuration. */
import { ResourceForm } from '../kit/form.tsx';
import { overlay } from '../kit/overlay.ts';
import type { FormField } from '../kit/resource.ts';
import { t } from '../kit/text.ts';
import type { Node } from './state.ts';

const fields: FormField[] = [{ name: 'zoneID', kind: 'remote', from: 'GET /client/metaZones', help: 'initialize' }];
const widthPx = 480;

export const initialize = (nodes: readonly Node[]) =>
  overlay(close => (
    <ResourceForm
      title={t('node.initializeTitle', { count: nodes.length })}
      call="POST /client/nodes/initialize"
      params={{}}
      draftOf={nodes.map(node => node.id).join(' ')}
      fields={fields}
      values={{}}
      body={values => ({ ids: nodes.map(node => node.id), zoneID: values['zoneID'] })}
      isEdit={false}
      success={t('message.nodeInitialSuccess')}
      errors={{ otherwise: t('message.nodeInitialFailed') }}
      widthPx={widthPx}
      onClose={() => close()}
    >
      <ul className="targets-list">
        {nodes.map(node => (
          <li key={node.id}>{node.name}</li>
        ))}
      </ul>
    </ResourceForm>
  ));
