/** What is set of nodes, one or many: each form is one call, whose answer says of each node why it stayed as it was. */
import { genevaVersions, portTypes } from '#contract/limits.ts';
import { BatchForm } from '../kit/batch-form.tsx';
import type { CallKey } from '../kit/client.ts';
import { overlay } from '../kit/overlay.ts';
import { type FormField, options, type Values } from '../kit/resource.ts';
import { t } from '../kit/text.ts';
import { asksWindow, bounds, genevaValues, isUnusual, off } from './geneva-parts.ts';
import type { Node } from './state.ts';

const widthPx = 480;

interface Form {
  call: CallKey;
  title: string;
  fields: FormField[];
  valuesOf: (node: Node) => Values;
  body: (values: Values, ids: number[]) => object;
}

const open = (nodes: readonly Node[], { call, title, fields, valuesOf, body }: Form) => {
  const ids = nodes.map(node => node.id);
  return overlay(close => (
    <BatchForm
      title={title}
      call={call}
      params={{}}
      fields={fields}
      rows={nodes}
      valuesOf={valuesOf}
      body={given => body(given, ids)}
      success={t('nodeForm.saved')}
      widthPx={widthPx}
      onClose={() => close()}
    >
      <ul className="targets-list">
        {nodes.map(node => (
          <li key={node.id}>{node.name}</li>
        ))}
      </ul>
    </BatchForm>
  ));
};

export const memoForm = (nodes: readonly Node[]) =>
  open(nodes, {
    call: 'PUT /client/nodes/memo',
    title: t('nodeForm.memo', { count: nodes.length }),
    fields: [{ name: 'memo', kind: 'area' }],
    valuesOf: ({ memo }) => ({ memo }),
    // emptied, it goes
    body: ({ memo }, ids) => ({ ids, memo: memo ?? '' }),
  });

export const portTypeForm = (nodes: readonly Node[]) =>
  open(nodes, {
    call: 'PUT /client/nodes/portType',
    title: t('nodeForm.portType', { count: nodes.length }),
    fields: [{ name: 'portType', kind: 'segments', ...options(portTypes, 'portType'), help: 'nodePortType' }],
    valuesOf: ({ portType }) => ({ portType }),
    body: ({ portType }, ids) => ({ ids, portType }),
  });

export const logRotateForm = (nodes: readonly Node[]) =>
  open(nodes, {
    call: 'PUT /client/nodes/log/rotate/time',
    title: t('nodeForm.logRotateTime', { count: nodes.length }),
    fields: [{ name: 'logRotateTime', kind: 'number', unit: 'seconds', help: 'logRotateTime' }],
    valuesOf: ({ logRotateTime }) => ({ logRotateTime }),
    body: ({ logRotateTime }, ids) => ({ ids, logRotateTime }),
  });

export const genevaForm = (nodes: readonly Node[]) =>
  open(nodes, {
    call: 'PUT /client/nodes/geneva',
    title: t('nodeForm.geneva', { count: nodes.length }),
    fields: [
      { name: 'geneva', kind: 'segments', ...options([off, ...genevaVersions], 'geneva'), help: 'geneva', isOptional: false },
      {
        name: 'window',
        kind: 'number',
        help: 'genevaWindow',
        isOptional: false,
        when: asksWindow,
        warn: (value, values) =>
          isUnusual(value, values) ? t('nodeForm.window', { v1: bounds('v1'), v2: bounds('v2') }) : undefined,
      },
    ],
    valuesOf: genevaValues(nodes),
    body: ({ geneva, window }, ids) => ({ ids, geneva: geneva === off ? null : { version: geneva, window } }),
  });

export const moveForm = (nodes: readonly Node[]) =>
  open(nodes, {
    call: 'POST /client/node/moveToZone',
    title: t('nodeForm.moveToZone', { count: nodes.length }),
    fields: [{ name: 'zoneID', kind: 'remote', from: 'GET /client/metaZones', help: 'moveToZone' }],
    valuesOf: () => ({}),
    body: ({ zoneID }, nodeIDs) => ({ nodeIDs, zoneID }),
  });
