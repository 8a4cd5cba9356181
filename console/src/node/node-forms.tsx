/** What is set of nodes, one or many: each form is one call, whose answer says of each node why it stayed as it was. */
import { genevaVersions, genevaWindows, logRotateNoneSeconds, portTypes } from '#contract/limits.ts';
import type { CallKey } from '../kit/client.ts';
import { ResourceForm } from '../kit/form.tsx';
import { overlay } from '../kit/overlay.ts';
import { type FormField, options, type Values } from '../kit/resource.ts';
import { t } from '../kit/text.ts';
import type { Node } from './state.ts';

const widthPx = 480;

interface Form {
  call: CallKey;
  title: string;
  fields: FormField[];
  values: Values;
  body: (values: Values, ids: number[]) => object;
}

const open = (nodes: readonly Node[], { call, title, fields, values, body }: Form) => {
  const ids = nodes.map(node => node.id);
  return overlay(close => (
    <ResourceForm
      title={title}
      call={call}
      params={{}}
      draftOf={ids.join(' ')}
      fields={fields}
      values={values}
      body={given => body(given, ids)}
      isEdit
      success={t('nodeForm.saved')}
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
};

/** What all of them have; else nothing is chosen yet. */
const common = <T,>(nodes: readonly Node[], of: (node: Node) => T): T | undefined => {
  const [first, ...rest] = nodes.map(of);
  return rest.every(one => JSON.stringify(one) === JSON.stringify(first)) ? first : undefined;
};

export const memoForm = (nodes: readonly Node[]) =>
  open(nodes, {
    call: 'PUT /client/nodes/memo',
    title: t('nodeForm.memo', { count: nodes.length }),
    fields: [{ name: 'memo', kind: 'area' }],
    values: { memo: common(nodes, node => node.memo) ?? '' },
    body: ({ memo }, ids) => ({ ids, memo }),
  });

export const portTypeForm = (nodes: readonly Node[]) =>
  open(nodes, {
    call: 'PUT /client/nodes/portType',
    title: t('nodeForm.portType', { count: nodes.length }),
    fields: [{ name: 'portType', kind: 'segments', ...options(portTypes, 'portType'), help: 'nodePortType' }],
    values: { portType: common(nodes, node => node.portType) },
    body: ({ portType }, ids) => ({ ids, portType }),
  });

export const logRotateForm = (nodes: readonly Node[]) =>
  open(nodes, {
    call: 'PUT /client/nodes/log/rotate/time',
    title: t('nodeForm.logRotateTime', { count: nodes.length }),
    fields: [{ name: 'logRotateTime', kind: 'number', unit: 'seconds', help: 'logRotateTime' }],
    values: { logRotateTime: common(nodes, node => node.logRotateTime) ?? logRotateNoneSeconds },
    body: ({ logRotateTime }, ids) => ({ ids, logRotateTime }),
  });

const off = 'off';
const isRecommended = (version: keyof typeof genevaWindows, window: number) =>
  window >= genevaWindows[version].min && window <= genevaWindows[version].max;
const bounds = (version: keyof typeof genevaWindows) => {
  const { min, max } = genevaWindows[version];
  return min === max ? String(min) : `${min}–${max}`;
};

export const genevaForm = (nodes: readonly Node[]) => {
  const now = common(nodes, node => node.geneva);
  return open(nodes, {
    call: 'PUT /client/nodes/geneva',
    title: t('nodeForm.geneva', { count: nodes.length }),
    fields: [
      { name: 'geneva', kind: 'segments', ...options([off, ...genevaVersions], 'geneva'), help: 'geneva', isOptional: false },
      {
        name: 'window',
        kind: 'number',
        help: 'genevaWindow',
        isOptional: false,
        when: values => values['geneva'] !== off,
        warn: value =>
          typeof value === 'number' && !genevaVersions.some(version => isRecommended(version, value))
            ? t('nodeForm.window', { v1: bounds('v1'), v2: bounds('v2') })
            : undefined,
      },
    ],
    values: { geneva: now?.version ?? off, window: now?.window ?? genevaWindows.v1.min },
    body: ({ geneva, window }, ids) => ({ ids, geneva: geneva === off ? null : { version: geneva, window } }),
  });
};

export const moveForm = (nodes: readonly Node[]) =>
  open(nodes, {
    call: 'POST /client/node/moveToZone',
    title: t('nodeForm.moveToZone', { count: nodes.length }),
    fields: [{ name: 'zoneID', kind: 'remote', from: 'GET /client/metaZones', help: 'moveToZone' }],
    values: {},
    body: ({ zoneID }, nodeIDs) => ({ nodeIDs, zoneID }),
  });
