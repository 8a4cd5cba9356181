/** The whole screen of a resource out of its description: list, filters, form, actions, questions. */
import { UndoOutlined } from '@ant-design/icons';
import { useNavigate } from '@tanstack/react-router';
import { Button } from 'antd';
import { useEffect, useMemo, useState } from 'react';
import { paging } from '#contract/limits.ts';
import { failedRows, hasBegun, inTurns } from './bulk.ts';
import { callAny, type CallKey, type ListKey, type RowOf } from './client.ts';
import { isSure } from './confirm.ts';
import { isRowGone } from './empty.tsx';
import { ExportButton, exportRows } from './export.tsx';
import { pathOf } from './history-of.ts';
import { later } from './later.tsx';
import { dismiss, noticeStore, notify } from './notice.ts';
import { NewButton } from './new-button.tsx';
import { overlay } from './overlay.ts';
import { Page } from './page.tsx';
import { useCan } from './permissions.ts';
import { isTriedAgain, presented, show } from './present.tsx';
import { queryClient, type TaskWords } from './query.ts';
import {
  type ActionContext,
  filterNamesOf,
  type Params,
  type Resource,
  type Row,
  type RowAction,
  type Values,
} from './resource.ts';
import { CreateForm, OneRow, Opened } from './row-forms.tsx';
import { showAndFollow } from './task-log.ts';
import { ResourceTable } from './table.tsx';
import { t } from './text.ts';
import { useListState } from './use-list-state.ts';

// as every call that begins a task answers
const taskOf = (answer: unknown) => (answer as { taskID: number }).taskID;
const follow = (answers: readonly unknown[], words: TaskWords) => void showAndFollow(answers.map(taskOf), words);

interface Props<L extends ListKey> {
  resource: Resource<L, RowOf<L> & { id: number }>;
  params?: Params;
  /** A tab of another page: no heading of its own. */
  isEmbedded?: boolean;
  /** Of a second list on the page, or one in a drawer over another: what its state is called by in the address. */
  list?: string;
  note?: React.ReactNode;
  /** Beside the create button. */
  extra?: React.ReactNode;
  /** What to do where there is nothing yet and no form creates. */
  emptyAction?: React.ReactNode;
}

/** What is left of a call over several rows, and whether that is to be tried again. */
interface Outcome {
  left: readonly Row[];
  isAgain: boolean;
}

const HistoryDrawer = later(async () => (await import('./history-drawers.tsx')).HistoryDrawer);
const RemovedDrawer = later(async () => (await import('./history-drawers.tsx')).RemovedDrawer);
const none: Params = {};

export function ResourcePage<L extends ListKey>({
  resource: given,
  params = none,
  isEmbedded,
  list,
  note,
  extra,
  emptyAction,
}: Props<L>) {
  // rows of any list: what is precise held where the resource was declared
  const resource = given as unknown as Resource<never, Row>;
  const can = useCan();
  const filterNames = useMemo(() => filterNamesOf(resource.filters ?? []), [resource]);
  const [state, change] = useListState(filterNames, resource.defaultSort, list);
  const navigate = useNavigate();

  const contextOf = (rows: Row[], outcome: Outcome): ActionContext => ({
    params,
    edit: id => change({ edit: id }),
    send: async (key, body, options) => {
      const answers: unknown[] = [];
      try {
        await inTurns(body, async part => {
          try {
            answers.push(await callAny(key, { ...params, ...options?.params, body: part }));
          } catch (error) {
            // of some it went well: the task of those
            if (hasBegun(error)) answers.push(error.extra);
            throw error;
          }
        });
        if (options?.task) follow(answers, options.task);
        else if (options?.told) options.told(answers);
        else notify.success(options?.success ?? t('message.updateSuccess'), options?.offer);
        return true;
      } catch (error) {
        // whatever says its success in its own words has none for its failure: the server's stand alone
        const otherwise = options?.success === undefined ? t('message.updateFailed') : undefined;
        const names = Object.fromEntries(rows.map(row => [String(row.id), nameOf(resource, row)]));
        const what = presented(error, { otherwise, names, ...resource.errors, ...options });
        if (isRowGone(error, params)) {
          outcome.left = [];
          notify.error(t(rows.length === 1 ? 'error.rowGone' : 'error.rowsGone'));
        } else if (what.kind === 'multiple') {
          if (options?.task && answers.length) follow(answers, options.task);
          // part of it went well, and shows behind the dialog
          void queryClient.invalidateQueries();
          outcome.left = failedRows(error, rows, row => nameOf(resource, row));
          outcome.isAgain = await isTriedAgain(what.groups, outcome.left.length);
        } else show(what);
        return false;
      } finally {
        void queryClient.invalidateQueries();
      }
    },
  });

  const canCreate = !!resource.create && can(resource.create);
  const canUpdate = !!resource.update && can(resource.update);
  // rows that are changed are removed by a mark, and made again by the form
  const canRestore = canCreate && !!resource.update && !!resource.remove;
  // Who may not change a row may read it: all its form would show, and why there is no form.
  const whyNot = (row: Row) => (canUpdate ? resource.whyFixed?.(row) : t('view.noRight'));
  const open = ([row]: Row[]) => change({ edit: row!.id });
  const actions: RowAction<Row>[] = [
    ...(canUpdate ? [{ name: 'edit', why: resource.whyFixed, run: open } satisfies RowAction<Row>] : []),
    ...(resource.update ? [{ name: 'view', when: row => whyNot(row) !== undefined, run: open } satisfies RowAction<Row>] : []),
    ...(resource.actions ?? []).filter(action => can(action.call)),
    ...(resource.history ? [historyAction(resource, params)] : []),
    ...(resource.export && can(resource.export) ? [exporting(resource.export)] : []),
    ...(resource.remove && can(resource.remove) ? [removal(resource, canRestore ? restore : undefined)] : []),
  ];

  async function run(action: RowAction<Row>, rows: Row[]): Promise<readonly Row[]> {
    if (!rows.length) return rows;
    if (action.to) {
      await navigate({ href: action.to(rows[0]!) });
      return [];
    }
    // more than a page shows are counted: nobody sees all that they chose
    const isMany = action.isCall && rows.length > paging.pageSizeDefault;
    const level = isMany ? 'destructive' : (action.level ?? 'reversible');
    if (level !== 'reversible') {
      const verb = t(`action.${action.name}`);
      const isAgreed = await isSure({
        level,
        title: rows.length === 1 ? t('confirm.sureOne', { verb }) : t('confirm.sure', { verb, count: rows.length }),
        warning:
          typeof action.warning === 'function' ? await action.warning(rows) : action.warning && t(`warning.${action.warning}`),
        targets: rows.map(row => nameOf(resource, row)),
        toCopy: action.toCopy?.(rows),
        isDanger: action.isDanger,
        confirm: verb,
      });
      if (!isAgreed) return rows;
    }
    for (let left = rows; ;) {
      const outcome: Outcome = { left, isAgain: false };
      const done = await action.run?.(left, contextOf(left, outcome));
      // a form may have been closed without a change
      if (done === false || (done === undefined && !action.isCall)) {
        if (!outcome.isAgain) return outcome.left;
        left = [...outcome.left];
      } else return [];
    }
  }

  const [again, makeAgain] = useState<Values>();
  const place = JSON.stringify([resource.list, params]);
  useEffect(() => withdrawOffers, [place]);
  // Back may have closed a form that held an old row's values: the next new row is nobody's old one
  const openNew = () => {
    makeAgain(undefined);
    change({ edit: 'new' });
  };
  const create = canCreate && <NewButton onPress={openNew} />;
  async function restore() {
    withdrawOffers();
    const values = await overlay<Values>(close => <RemovedDrawer resource={resource} params={params} onClose={close} />);
    if (!values) return;
    makeAgain(values);
    change({ edit: 'new' });
  }
  const buttons = (create || canRestore) && (
    <>
      {canRestore && (
        <Button
          icon={<UndoOutlined />}
          aria-label={t('history.removedRows')}
          title={t('history.removedHelp')}
          onClick={() => void restore()}
        >
          <span className="wide-only">{t('history.removedRows')}</span>
        </Button>
      )}
      {create}
    </>
  );
  const exportAll = resource.export && can(resource.export) && <ExportButton resource={resource} params={params} state={state} />;
  const content = (
    <>
      {resource.note && <p className="list-note">{t(`note.${resource.note}`)}</p>}
      <ResourceTable
        resource={resource}
        params={params}
        state={state}
        change={change}
        actions={actions}
        run={run}
        create={
          isEmbedded ? (
            <span className="toolbar-actions">
              {exportAll}
              {extra}
              {buttons}
            </span>
          ) : undefined
        }
        emptyAction={create || emptyAction}
      />
      {state.edit === 'new' && canCreate && (
        <CreateForm
          resource={resource}
          params={params}
          again={again}
          onClose={() => {
            makeAgain(undefined);
            change({ edit: undefined });
          }}
        />
      )}
      {typeof state.edit === 'number' && resource.update && (
        <OneRow
          key={state.edit}
          resource={resource}
          params={params}
          id={state.edit}
          whyNot={whyNot}
          onClose={() => change({ edit: undefined })}
        />
      )}
      {typeof state.edit === 'number' && resource.drawer && can(resource.one?.call ?? resource.list) && (
        <Opened
          key={state.edit}
          resource={resource}
          params={params}
          id={state.edit}
          onClose={() => change({ edit: undefined })}
        />
      )}
    </>
  );
  if (isEmbedded) return content;
  return (
    <Page
      note={note}
      actions={
        <>
          {exportAll}
          {extra}
          {buttons}
        </>
      }
    >
      {content}
    </Page>
  );
}

/** What was offered on a page goes once it is taken, and with the page. */
const withdrawOffers = () => {
  for (const { id, action } of noticeStore.get()) if (action) dismiss(id);
};

const exporting = (key: CallKey): RowAction<Row> => ({
  name: 'export',
  isBatch: true,
  run: (rows, { params }) =>
    exportRows(
      key,
      params,
      rows.map(row => row.id),
    ),
});

const nameOf = (resource: Resource<never, Row>, row: Row) => resource.rowName?.(row) ?? String(row.id);

/** No call gives a row back: while its end is told, the way to make it again is offered, with all that it was. */
const removal = (resource: Resource<never, Row>, restore: (() => Promise<void>) | undefined): RowAction<Row> => ({
  name: 'remove',
  isBatch: true,
  isDanger: true,
  isCall: true,
  why: resource.whyFixed,
  level: resource.removal ?? 'disruptive',
  ...resource.removalAsks,
  run: (rows, { send }) =>
    send(resource.remove!, { ids: rows.map(row => row.id) } as never, {
      success: resource.said?.removed?.(rows) ?? t('message.deleteSuccess'),
      otherwise: resource.said?.removeFailed?.() ?? t('message.deleteFailed'),
      offer: restore && { text: t('history.again'), run: () => void restore() },
    }),
});

const historyAction = (resource: Resource<never, Row>, params: Params): RowAction<Row> => ({
  name: 'history',
  run: ([row]) =>
    overlay(close => (
      <HistoryDrawer
        title={resource.rowName?.(row!) ?? t(`noun.${resource.name}`)}
        of={{ resource: pathOf(resource.list), id: row!.id, columns: resource.columns as never }}
        fields={resource.fields ?? []}
        params={params}
        onClose={() => close()}
      />
    )),
});
