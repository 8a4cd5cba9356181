/** The whole screen of a resource out of its description: list, filters, form, actions, questions. */
import { PlusOutlined } from '@ant-design/icons';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Button } from 'antd';
import { useEffect, useMemo } from 'react';
import { call, type CallKey, type ListKey, type RowOf } from './client.ts';
import { isSure } from './confirm.tsx';
import { initialValues, ResourceForm } from './form.tsx';
import { notify } from './notice.ts';
import { Page } from './page.tsx';
import { useCan } from './permissions.ts';
import { present } from './present.tsx';
import { query, queryClient } from './query.ts';
import {
  type ActionContext,
  filterNamesOf,
  type Params,
  type Resource,
  type Row,
  type RowAction,
  type Values,
} from './resource.ts';
import { shortcut } from './shortcuts.ts';
import { ResourceTable } from './table.tsx';
import { t } from './text.ts';
import { useListState } from './use-list-state.ts';
import { ApiError } from './transport.ts';

interface Props<L extends ListKey> {
  resource: Resource<L, RowOf<L> & { id: number }>;
  params?: Params;
  /** A tab of another page: no heading of its own. */
  isEmbedded?: boolean;
  note?: React.ReactNode;
  /** Beside the create button. */
  extra?: React.ReactNode;
  /** What to do where there is nothing yet and no form creates. */
  emptyAction?: React.ReactNode;
}

const none: Params = {};

export function ResourcePage<L extends ListKey>({
  resource: given,
  params = none,
  isEmbedded,
  note,
  extra,
  emptyAction,
}: Props<L>) {
  const resource = given as unknown as Resource<never, Row>;
  const can = useCan();
  const filterNames = useMemo(() => filterNamesOf(resource.filters ?? []), [resource]);
  const [state, change] = useListState(filterNames, resource.defaultSort);
  const navigate = useNavigate();
  const nameOf = (row: Row) => resource.rowName?.(row) ?? String(row.id);

  const context: ActionContext = {
    params,
    edit: id => change({ edit: id }),
    send: async (key, body, options) => {
      try {
        await call(key, ...([{ ...params, body }] as unknown as [never]));
        notify.success(options?.success ?? t('message.updateSuccess'));
        return true;
      } catch (error) {
        present(error, { ...resource.errors, ...options });
        return false;
      } finally {
        void queryClient.invalidateQueries();
      }
    },
  };

  const canCreate = !!resource.create && can(resource.create);
  const canUpdate = !!resource.update && can(resource.update);
  const actions: RowAction<Row>[] = [
    ...(canUpdate
      ? [{ name: 'edit', why: resource.whyFixed, run: ([row]: Row[]) => change({ edit: row!.id }) } satisfies RowAction<Row>]
      : []),
    ...(resource.actions ?? []).filter(action => can(action.call)),
    ...(resource.remove && can(resource.remove) ? [removal(resource)] : []),
  ];

  async function run(action: RowAction<Row>, rows: Row[]) {
    if (!rows.length) return false;
    if (action.to) {
      await navigate({ href: action.to(rows[0]!) });
      return true;
    }
    const level = action.level ?? 'reversible';
    if (level !== 'reversible') {
      const verb = t(`action.${action.name}`);
      const isAgreed = await isSure({
        level,
        title: t('confirm.title', { verb, count: rows.length }),
        warning: action.warning && t(`warning.${action.warning}`),
        targets: rows.map(nameOf),
        isDanger: action.isDanger,
        confirm: verb,
      });
      if (!isAgreed) return false;
    }
    return (await action.run?.(rows, context)) !== false;
  }

  useEffect(() => (canCreate ? shortcut('c', () => change({ edit: 'new' })) : undefined));
  const create = canCreate && (
    <Button type="primary" icon={<PlusOutlined />} onClick={() => change({ edit: 'new' })} title="C" data-create>
      {t('action.create')}
    </Button>
  );
  const content = (
    <>
      <ResourceTable
        resource={resource}
        params={params}
        state={state}
        change={change}
        actions={actions}
        run={run}
        create={isEmbedded ? create : undefined}
        emptyAction={create || emptyAction}
      />
      {state.edit === 'new' && canCreate && (
        <CreateForm resource={resource} params={params} onClose={() => change({ edit: undefined })} />
      )}
      {typeof state.edit === 'number' && canUpdate && (
        <EditForm
          key={state.edit}
          resource={resource}
          params={params}
          id={state.edit}
          query={state}
          onClose={() => change({ edit: undefined })}
        />
      )}
    </>
  );
  if (isEmbedded) return content;
  return (
    <Page
      title={t(`page.${resource.name}`)}
      note={note}
      actions={
        <>
          {extra}
          {create}
        </>
      }
    >
      {content}
    </Page>
  );
}

const removal = (resource: Resource<never, Row>): RowAction<Row> => ({
  name: 'remove',
  isBatch: true,
  isDanger: true,
  why: resource.whyFixed,
  level: resource.removal ?? 'disruptive',
  run: (rows, { send }) =>
    send(resource.remove!, { ids: rows.map(row => row.id) } as never, {
      success: resource.said?.removed?.(rows) ?? t('message.deleteSuccess'),
    }),
});

interface FormProps {
  resource: Resource<never, Row>;
  params: Params;
  onClose: () => void;
}

function CreateForm({ resource, params, onClose }: FormProps) {
  const { wrap, createBody = (values: Values) => values } = resource;
  const fields = resource.fields ?? [];
  return (
    <ResourceForm
      title={t('form.create', { name: t(`noun.${resource.name}`) })}
      call={resource.create!}
      params={params}
      fields={fields}
      values={initialValues(fields)}
      body={values => (wrap ? { [wrap]: [createBody(values)] } : createBody(values))}
      wrap={wrap}
      isEdit={false}
      success={resource.said?.created?.() ?? t('message.createSuccess')}
      errors={{ otherwise: resource.said?.createFailed?.(), ...resource.errors }}
      widthPx={resource.drawerPx}
      onClose={onClose}
    />
  );
}

function EditForm({ resource, params, id, onClose }: FormProps & { id: number; query: object }) {
  const row = useRow(resource, params, id);
  useEffect(() => {
    if (row === null) {
      notify.error(t('error.rowGone'));
      onClose();
    }
  }, [row, onClose]);
  if (!row) return null;
  const { idParam, updateBody = (values: Values) => (idParam ? values : { id, ...values }) } = resource;
  return (
    <ResourceForm
      title={resource.rowName?.(row) ?? t('form.edit', { name: t(`noun.${resource.name}`) })}
      call={resource.update!}
      params={{ ...params, [idParam ?? 'id']: id }}
      fields={resource.fields ?? []}
      values={resource.valuesOf?.(row) ?? { ...row }}
      body={values => updateBody(values, row)}
      wrap={resource.updateWrap}
      isEdit
      version={versionOf(row)}
      success={resource.said?.updated?.(row) ?? t('message.updateSuccess')}
      errors={{ otherwise: resource.said?.updateFailed?.(), ...resource.errors }}
      widthPx={resource.drawerPx}
      onClose={onClose}
    />
  );
}

/** A node's `version` is its agent's. */
export function versionOf(row: Row): number | undefined {
  const { version, rowVersion = version } = row as { version?: unknown; rowVersion?: unknown };
  return typeof rowVersion === 'number' ? rowVersion : undefined;
}

/** The row of an open drawer: one of those on screen, else looked for page by page; null when it is gone. It stays as it was when the drawer opened. */
function useRow(resource: Resource<never, Row>, params: Params, id: number): Row | null | undefined {
  const inCache = () =>
    queryClient
      .getQueriesData<{ data?: Row[] }>({ queryKey: [resource.list] })
      .flatMap(([, answer]) => answer?.data ?? [])
      .find(row => row.id === id);
  const found = useQuery({
    queryKey: ['row', resource.list, params, id],
    staleTime: Infinity,
    gcTime: 0,
    queryFn: async () =>
      inCache() ??
      (await search(resource.list as CallKey, { ...params, query: { ...resource.query, page: 1, pageSize: 500 } }, id)),
  });
  return found.error instanceof ApiError ? null : found.data;
}

async function search(key: CallKey, input: { query: { page: number; pageSize: number } }, id: number): Promise<Row | null> {
  for (let page = 1; page < 20; page++) {
    const answer = (await queryClient.fetchQuery(
      query(key, { ...input, query: { ...input.query, page } } as never) as never,
    )) as { data: Row[]; total: number };
    const row = answer.data.find(one => one.id === id);
    if (row || page * input.query.pageSize >= answer.total) return row ?? null;
  }
  return null;
}
