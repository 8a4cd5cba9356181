/** Says where nodes stand, of one or of many at once. */
import { ResourceForm } from '../kit/form.tsx';
import type { FormField } from '../kit/resource.ts';
import { t } from '../kit/text.ts';
import type { FleetNode } from './fleet-parts.ts';
import { PlaceInput } from './place-input.tsx';

const widthPx = 520;
const fields: FormField[] = [
  {
    name: 'place',
    kind: 'custom',
    isOptional: true,
    help: 'place',
    render: ({ value, onChange, id }) => <PlaceInput id={id} value={value} onChange={onChange} />,
  },
];

export function PlaceForm({ nodes, onClose }: { nodes: readonly FleetNode[]; onClose: () => void }) {
  const [first, ...more] = nodes;
  const shared = more.every(node => JSON.stringify(node.place) === JSON.stringify(first?.place)) ? first?.place : null;
  return (
    <ResourceForm
      title={t('fleet.setPlaceOf', { count: nodes.length })}
      call="PUT /client/nodes/place"
      params={{}}
      draftOf={nodes.map(node => node.id).join(' ')}
      fields={fields}
      values={{ place: shared ?? null }}
      body={values => ({ ids: nodes.map(node => node.id), place: values['place'] ?? null })}
      isEdit
      success={t('message.updateSuccess')}
      widthPx={widthPx}
      onClose={onClose}
    >
      <ul className="targets-list">
        {nodes.slice(0, 100).map(node => (
          <li key={node.id}>{node.name}</li>
        ))}
      </ul>
    </ResourceForm>
  );
}
