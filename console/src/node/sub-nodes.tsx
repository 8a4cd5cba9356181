/** Further addresses of a node, by which names resolve to it as well. */
import { resource } from '../kit/resource.ts';
import { ResourcePage } from '../kit/resource-page.tsx';
import { t } from '../kit/text.ts';

const subNodes = resource<'GET /client/node/{id}/subs'>({
  name: 'subNodes',
  list: 'GET /client/node/{id}/subs',
  rowName: row => row.address,
  columns: [
    { name: 'address', label: 'addresses', kind: 'mono', sort: true, width: 180 },
    { name: 'UID', label: 'id', kind: 'mono', width: 90 },
    { name: 'listen', kind: 'bool', width: 100 },
    { name: 'memo', width: 120 },
  ],
  create: 'POST /client/node/{id}/subs',
  remove: 'DELETE /client/node/{id}/subs',
  history: true,
  wrap: 'subs',
  errors: { fields: { duplicated: 'address' } },
  fields: [
    { name: 'address', label: 'addresses', kind: 'mono', placeholder: '203.0.113.7' },
    { name: 'listen', kind: 'switch', help: 'subNodeListen', initial: false },
    { name: 'memo', kind: 'area' },
  ],
  said: {
    created: () => t('message.addSubNodeSuccess'),
    removed: () => t('message.removeSubNodeSuccess'),
    createFailed: () => t('message.addSubNodeFailed'),
    removeFailed: () => t('message.removeSubNodeFailed'),
  },
});

export const SubNodes = ({ id }: { id: number }) => <ResourcePage resource={subNodes} params={{ id }} isEmbedded list="sub" />;
