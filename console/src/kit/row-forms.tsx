/** The forms of a resource's rows: of a new one, and of one that is opened, to be changed or to be read. */
import { useEffect } from 'react';
import { initialValues, ResourceForm } from './form.tsx';
import { pathOf } from './history-of.ts';
import { later } from './later.tsx';
import { notify } from './notice.ts';
import type { Params, Resource, Row, Values } from './resource.ts';
import { t } from './text.ts';
import { useRow, versionOf } from './use-row.ts';

const ViewDrawer = later(async () => (await import('./view-drawer.tsx')).ViewDrawer);

/** What the form of a row shows of these values of it. */
const formValues = ({ valuesOf, fields = [] }: Resource<never, Row>, row: Values): Values => {
  const values = valuesOf?.(row as never) ?? row;
  return Object.fromEntries(fields.flatMap(({ name }) => (name in values ? [[name, values[name]]] : [])));
};

interface FormProps {
  resource: Resource<never, Row>;
  params: Params;
  onClose: () => void;
}

export function CreateForm({ resource, params, again, onClose }: FormProps & { again: Values | undefined }) {
  const { wrap, createBody = (values: Values) => values, made } = resource;
  const fields = resource.fields ?? [];
  return (
    <ResourceForm
      title={t('form.create', { name: t(`noun.${resource.name}`) })}
      call={resource.create!}
      params={params}
      fields={fields}
      values={{ ...initialValues(fields), ...(again && formValues(resource, again)) }}
      body={values => (wrap ? { [wrap]: [createBody(values)] } : createBody(values))}
      wrap={wrap}
      isEdit={false}
      success={resource.said?.created?.() ?? t('message.createSuccess')}
      errors={{ otherwise: resource.said?.createFailed?.(), ...resource.errors }}
      widthPx={resource.drawerPx}
      {...(made && { saved: async (values: Values) => made(values) })}
      onClose={onClose}
    />
  );
}

/** The row of an open drawer; who follows the address of one that is gone is told so. */
function useOpened({ resource, params, id, onClose }: FormProps & { id: number }) {
  const row = useRow<Row>(resource, params, id, onClose);
  useEffect(() => {
    if (row === null) {
      notify.error(t('error.rowGone'));
      onClose();
    }
  }, [row, onClose]);
  return row;
}

export function Opened(props: FormProps & { id: number }) {
  const row = useOpened(props);
  return row && props.resource.drawer!(row, props);
}

/** The row as a form, or to be read where it cannot be changed. */
export function OneRow(props: FormProps & { id: number; whyNot: (row: Row) => string | undefined }) {
  const { resource, params, id, whyNot, onClose } = props;
  const row = useOpened(props);
  if (!row) return null;
  const { idParam, updateBody = (values: Values) => (idParam ? values : { id, ...values }) } = resource;
  const title = resource.rowName?.(row);
  const values = resource.valuesOf?.(row) ?? { ...row };
  const why = whyNot(row);
  if (why !== undefined)
    return (
      <ViewDrawer
        title={title ?? t(`noun.${resource.name}`)}
        why={why}
        row={row}
        columns={resource.columns}
        fields={resource.fields ?? []}
        values={values}
        params={params}
        widthPx={resource.drawerPx}
        onClose={onClose}
      />
    );
  return (
    <ResourceForm
      title={title ?? t('form.edit', { name: t(`noun.${resource.name}`) })}
      call={resource.update!}
      params={{ ...params, [idParam ?? 'id']: id }}
      fields={resource.fields ?? []}
      values={values}
      body={changed => updateBody(changed, row)}
      wrap={resource.updateWrap}
      isEdit
      version={versionOf(row)}
      history={{
        resource: pathOf(resource.list),
        id,
        columns: resource.columns as never,
        valuesOf: older => resource.valuesOf?.({ ...row, ...older }) ?? older,
      }}
      success={resource.said?.updated?.(row) ?? t('message.updateSuccess')}
      errors={{ otherwise: resource.said?.updateFailed?.(), ...resource.errors }}
      widthPx={resource.drawerPx}
      onClose={onClose}
    />
  );
}
