/** What is set of nodes: entries of their menu, and of the bar of chosen ones. Their forms come when one is opened. */
import type { RowAction } from '../kit/resource.ts';
import { withLater } from '../kit/with-later.ts';
import { type Node, why } from './state.ts';

const form =
  (name: 'memoForm' | 'portTypeForm' | 'logRotateForm' | 'genevaForm' | 'moveForm') =>
  (nodes: Node[]): Promise<void> =>
    withLater(
      () => import('./node-forms.tsx'),
      forms => forms[name](nodes),
    );

export const settingActions: RowAction<Node>[] = [
  { name: 'setMemo', call: 'PUT /client/nodes/memo', isBatch: true, run: form('memoForm') },
  { name: 'setPortType', call: 'PUT /client/nodes/portType', isBatch: true, run: form('portTypeForm') },
  { name: 'setLogRotateTime', call: 'PUT /client/nodes/log/rotate/time', isBatch: true, run: form('logRotateForm') },
  { name: 'setGeneva', call: 'PUT /client/nodes/geneva', isBatch: true, run: form('genevaForm') },
  {
    name: 'moveToZone',
    call: 'POST /client/node/moveToZone',
    isBatch: true,
    why: why('moveToZone'),
    run: form('moveForm'),
  },
];
