/**
 * A form out of data, checked by the contract's own schema: what is judged when, what is asked before anything is lost, what two people at
 * one row see. The frame around it is a drawer (form-drawer.tsx) or a card of a page (setting-form.tsx).
 */
import { Form, Segmented, Skeleton } from 'antd';
import { useEffect, useMemo, useRef, useState } from 'react';
import { ruleText } from '#contract/rules/rule.ts';
import { call, type CallKey } from './client.ts';
import { type Conflict, conflictOf } from './conflict-of.ts';
import { mayDiscard } from './confirm.ts';
import type { Above } from './differs.tsx';
import { keepDraft, takeDraft, withoutSecrets } from './drafts.ts';
import { ErrorState, isRowGone } from './empty.tsx';
import type { FieldProblem } from './errors.ts';
import { Field, fieldPaths, FormContext } from './fields.tsx';
import { fieldAt, focusFirst, isShown, mended, ruleProblems, sentence, showFirst, touched } from './form-parts.ts';
import { type Path, pathOf, place, type PlacedProblem } from './form-paths.ts';
import { changedFields, FormState, isSame } from './form-state.ts';
import type { HistoryOf } from './history-of.ts';
import { inPlace } from './later.tsx';
import { holdPage } from './leaving.ts';
import { notify } from './notice.ts';
import { presented, show } from './present.tsx';
import { type ActionOptions, queryClient } from './query.ts';
import type { FormField, Params, Values } from './resource.ts';
import { type BodyCheck, bodyCheck } from './schema-of.ts';
import { emptied, filledLines, mergeValues, type Mixed, overwriting, Rebased } from './row-values.ts';
import { currentSelf } from './session.ts';
import { shortcut } from './shortcuts.ts';
import { language, t } from './text.ts';
import { isError } from './error-code.ts';
import { useUnpressed } from './unpressed.ts';

const ConflictPanel = inPlace(async () => (await import('./conflict.tsx')).ConflictPanel);
const HistoryPanel = inPlace(async () => (await import('./history.tsx')).default);

export interface CoreProps {
  call: CallKey;
  params: Params;
  fields: FormField[];
  values: Values;
  /** What is sent; the values as they are unless given. */
  body?: (values: Values) => unknown;
  /** Saves in another way than by the one call; the call's schema still checks. */
  send?: (values: Values) => Promise<unknown>;
  /** The array of the body the row stands in. */
  wrap?: string;
  isEdit: boolean;
  /** Values in which the rows of a batch differ (batch-form.tsx): nothing is sent before something was changed. */
  mixed?: Mixed;
  /** What tells the draft of this form apart from others of the same call: the rows of a batch, or the one that is not in the parameters. */
  draftOf?: string | number;
  /** Who may not save looks at what is there. */
  isReadOnly?: boolean;
  /** Of the row, as it was seen: a save over somebody else's is refused, and both are shown. */
  version?: number | undefined;
  /** What became of the row: a second side of the drawer, from which older values come back into the form. */
  history?: HistoryOf | undefined;
  /** what is said when it is saved; of what was sent, where that tells */
  success: string | ((values: Values) => string);
  errors?: ActionOptions;
  /** What would count if nothing were set here: a field that differs from it says so, and takes it back. */
  above?: Above;
  /** A card of a page stays when it is saved, and takes no focus when it comes; a drawer closes. */
  stays?: boolean;
  /** What else has to be known once it is saved, before that is said; with what the call answered. */
  saved?: (values: Values, answer: unknown) => Promise<unknown>;
  onClose?: () => void;
  /** Above the fields. */
  children?: React.ReactNode;
}

export function useForm(props: CoreProps) {
  const { fields, params, wrap, isEdit } = props;
  const [form] = Form.useForm<Values>();
  const [check, setCheck] = useState<BodyCheck>();
  const [failure, setFailure] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const [state] = useState(() => new FormState());
  const body = useRef<HTMLDivElement>(null);
  const release = useRef(() => {});
  const saving = useRef(false);
  const paths = useMemo(() => fieldPaths(fields), [fields]);
  // Who was typing when the session ended finds the form as it was.
  const draftName = [
    currentSelf()?.id,
    props.call,
    JSON.stringify(params),
    props.draftOf,
    ...fields.map(({ name }) => name),
  ].join(' ');
  const [draft] = useState(() => takeDraft(draftName));
  const [overwritten, setOverwritten] = useState<readonly string[]>(() =>
    Object.keys(draft?.values ?? {}).filter(name => props.mixed?.[name]),
  );
  const [isChanged, setChanged] = useState(false);
  const mixedIn = (name: string) => (overwritten.includes(name) ? undefined : props.mixed?.[name]);
  const [conflict, setConflict] = useState<Conflict>();
  const seen = useRef(draft ? draft.version : props.version);
  // What was typed belongs to what the form began with, which may be others' by now.
  const [typed] = useState(() => draft && mergeValues(draft.base ?? props.values, draft.values, props.values));
  const began = useRef(props.values);
  const base = useRef<Values>(draft ? { ...props.values, ...touched(draft, props.values) } : props.values);
  const [side, setSide] = useState<'form' | 'history'>('form');
  const [tries, setTries] = useState(0);
  useEffect(() => {
    setFailure(undefined);
    bodyCheck(props.call).then(setCheck, setFailure);
  }, [props.call, tries]);

  const valuesNow = () => form.getFieldsValue(true) as Values; // antd knows no names of fields
  const valueAt = (name: unknown) => form.getFieldValue(name as never) as unknown; // the same
  const shownValues = (): Values => {
    const values = valuesNow();
    return Object.fromEntries(
      fields
        .filter(field => isShown(field, values, isEdit) && !mixedIn(field.name))
        .map(field => [field.name, field.kind === 'lines' ? filledLines(values[field.name]) : values[field.name]]),
    );
  };
  const bodyNow = () => (props.body ? props.body(shownValues()) : shownValues());
  const problemsNow = (): FieldProblem[] => {
    const values = shownValues();
    const own = ruleProblems(fields, values);
    const body = bodyNow();
    const row = wrap ? (body as Record<string, unknown[]>)[wrap]?.[0] : body; // what it names is a list of rows
    const gone = isEdit ? emptied(fields, began.current, row) : [];
    return [...own, ...gone.map(path => ({ path: path.join('.'), rule: 'required' })), ...check!.problems(body)];
  };
  const isDirty = () => overwritten.length > 0 || !isSame({ ...began.current, ...shownValues() }, began.current);
  const isIdle = (!!props.mixed || !!props.stays) && !isChanged && !overwritten.length;
  function overwrite(field: FormField) {
    form.setFieldValue(field.name as never, overwriting(field) as never);
    setOverwritten([...overwritten, field.name]);
    setTimeout(() => focusFirst(body.current?.querySelector(`[data-field="${field.name}"]`)));
  }

  useEffect(() => {
    if (!check) return undefined;
    if (draft) {
      form.setFieldsValue(typed!);
      setChanged(true);
      notify.info(t('form.restored'));
    }
    // A finger would have the keyboard over half of the form at once.
    if (!props.stays && matchMedia('(pointer: fine)').matches) focusFirst(body.current);
    release.current = holdPage({
      isDirty: () => !saving.current && isDirty(),
      keep: () =>
        isDirty() &&
        keepDraft(draftName, {
          values: withoutSecrets(fields, shownValues()),
          base: withoutSecrets(fields, base.current),
          version: seen.current,
        }),
    });
    return () => release.current();
    // oxlint-disable-next-line react/exhaustive-deps -- once, when the form stands: what is held is read when it is asked for
  }, [check]);

  const told = (problem: PlacedProblem, value: unknown) => sentence(problem, value, fieldAt(fields, problem.name));
  /** Puts under each field what it says now, and nothing where it has nothing to say. */
  function judge(): Map<string, string> {
    const problems = place(problemsNow(), paths, wrap).placed;
    const said = state.shown(
      problems.map(problem => ({ name: problem.name, text: told(problem, valueAt(problem.name)) })),
      valueAt,
    );
    const change: { name: never; errors: string[] }[] = [];
    for (const { name, errors } of form.getFieldsError()) {
      const text = said.get((name as Path).join('.'));
      if (errors.length !== (text === undefined ? 0 : 1) || errors[0] !== text)
        change.push({ name: name as never, errors: text === undefined ? [] : [text] });
    }
    if (change.length) form.setFields(change);
    return said;
  }

  /** The field the person left: mended where it can be, then judged. */
  function leave(target: EventTarget) {
    const name = pathOf((target as Element).closest('[data-field]')?.getAttribute('data-field') ?? '');
    if (!name.length || !check) return;
    for (const [at, next] of mended(fieldAt(fields, name), name, valueAt(name))) {
      if (JSON.stringify(next) === JSON.stringify(valueAt(at))) continue;
      form.setFieldValue(at as never, next as never);
      state.left(at, next);
    }
    state.left(name, valueAt(name));
    judge();
  }

  const press = useUnpressed(leave);

  /** Says what is wrong, focuses the first field on screen that says something, and says aloud what has no field. */
  function refuse(homeless: readonly FieldProblem[], otherwise?: string) {
    const said = judge();
    const first = [...(body.current?.querySelectorAll('[data-field]') ?? [])].find(one =>
      said.has(one.getAttribute('data-field')!),
    );
    showFirst(first);
    if (homeless.length)
      notify.error(otherwise ?? homeless.map(problem => `${problem.path}: ${ruleText(problem, language)}`).join('\n'));
  }

  async function save() {
    if (isBusy || !check || isIdle || props.isReadOnly) return;
    // Saved by keyboard: the field the cursor stands in was never left. So was one whose leaving still waits.
    press.now();
    if (document.activeElement && body.current?.contains(document.activeElement)) leave(document.activeElement);
    state.asked();
    const problems = problemsNow();
    if (problems.length) return refuse(place(problems, paths, wrap).homeless);
    setBusy(true);
    saving.current = true;
    try {
      const asked = () =>
        call(props.call, ...([{ ...params, body: bodyNow() }, { version: seen.current }] as unknown as [never]));
      const answer: unknown = await (props.send ? props.send(shownValues()) : asked());
      if (props.stays) adopt({ ...began.current, ...shownValues() });
      else release.current();
      await props.saved?.(shownValues(), answer);
      notify.success(typeof props.success === 'string' ? props.success : props.success(shownValues()));
      void queryClient.invalidateQueries();
      props.onClose?.();
    } catch (thrown) {
      let error: unknown = thrown;
      // part of a bulk call may have succeeded
      if (isError(error, 'multiple')) void queryClient.invalidateQueries();
      if (error instanceof Rebased) {
        form.setFieldsValue(error.values);
        if (error.cause === undefined) {
          judge();
          return notify.info(t('form.rebased'));
        }
        error = error.cause;
      }
      const found = conflictOf(error, fields, base.current, shownValues());
      if (found?.sides.length) return setConflict(found);
      if (found) {
        // something else of the row was changed meanwhile
        seen.current = found.version;
        return void setTimeout(() => saveNow.current());
      }
      if (isEdit && isRowGone(error, params)) {
        notify.error(t('error.rowGone'));
        release.current();
        void queryClient.invalidateQueries();
        return props.onClose?.();
      }
      const otherwise = props.errors?.otherwise ?? t(isEdit ? 'message.updateFailed' : 'message.createFailed');
      const what = presented(error, { ...props.errors, otherwise });
      if (what.kind !== 'fields') return show(what);
      const { placed, homeless } = place(what.fields, paths, wrap);
      for (const problem of placed) {
        const value = valueAt(problem.name);
        state.answered(problem.name, told(problem, value), value);
      }
      refuse(homeless, what.text);
    } finally {
      saving.current = false;
      setBusy(false);
    }
  }

  /** Both sides were looked at: what is saved now replaces the version that was shown. */
  function settle(theirs: Values) {
    form.setFieldsValue(theirs);
    seen.current = conflict!.version;
    setConflict(undefined);
    void save();
  }

  /** Older values come into the form, and nowhere else: the person sees them, and saves against the version that was seen. */
  function restore(older: Values) {
    const wanted = props.history?.valuesOf?.(older) ?? older;
    const changed = fields.filter(({ name }) => name in older || (name in wanted && !isSame(wanted[name], began.current[name])));
    form.setFieldsValue(Object.fromEntries(changed.map(({ name }) => [name, wanted[name] ?? undefined])));
    setSide('form');
    setChanged(isDirty());
    judge();
    notify.info(t(isDirty() ? 'history.filled' : 'history.already'));
  }

  async function close() {
    if (isBusy || (isDirty() && !(await mayDiscard()))) return;
    release.current();
    props.onClose?.();
  }
  /** The form begins anew, with these values: they were saved, others came, or what was typed was given up. */
  function adopt(values: Values, version = seen.current) {
    began.current = values;
    base.current = values;
    seen.current = version;
    form.setFieldsValue(values);
    state.clear();
    // paths the form itself told
    form.setFields(form.getFieldsError().map(({ name }) => ({ name: name as never, errors: [] })));
    setConflict(undefined);
    setChanged(false);
  }
  /** One field as it would be if nothing were set here, or all of them; they are saved like anything typed. */
  function takeAbove(names: readonly string[]) {
    // names of the form's fields
    for (const name of names) form.setFieldValue(name as never, props.above!.value[name] as never);
    for (const name of names) state.typed([name]);
    judge();
    setChanged(isDirty());
  }
  const saveNow = useRef(() => {});
  useEffect(() => {
    saveNow.current = () => void save();
  });
  useEffect(() => shortcut('mod+enter', () => void (conflict ?? (side === 'form' && save()))));

  const [rows, setRows] = useState(0);
  function rowsChanged(list: Path, removed?: number) {
    if (removed !== undefined) state.withoutRow(list, removed);
    setRows(count => count + 1);
  }
  // Once the rows stand under their new names: before, a message would land on the one that moved up.
  useEffect(() => {
    if (rows > 0) judge();
    // oxlint-disable-next-line react/exhaustive-deps -- when rows came or went; judge reads what is there then
  }, [rows]);

  const content = failure ? (
    <ErrorState error={failure} onRetry={() => setTries(tries + 1)} />
  ) : !check ? (
    <Skeleton active title={false} paragraph={{ rows: 6 }} />
  ) : (
    <FormContext
      value={{
        check,
        prefix: wrap ? [wrap, 0] : [],
        params,
        isEdit,
        before: began.current,
        rowsChanged,
        unsay: name => (state.unsay([name]), void judge()),
        mixedIn,
        overwrite,
        above: props.above,
        takeAbove,
      }}
    >
      {conflict && (
        <ConflictPanel
          conflict={conflict}
          fields={fields}
          isBusy={isBusy}
          onSettle={settle}
          onBack={() => setConflict(undefined)}
          meanwhile={<Skeleton active title={false} />}
        />
      )}
      {props.history && !conflict && (
        <Segmented
          className="form-sides"
          value={side}
          onChange={setSide}
          options={[
            { value: 'form', label: t('history.form') },
            { value: 'history', label: t('history.tab') },
          ]}
        />
      )}
      {side === 'history' && (
        <HistoryPanel
          of={props.history!}
          fields={fields}
          params={params}
          onRestore={restore}
          meanwhile={<Skeleton active title={false} />}
        />
      )}
      {!conflict && side === 'form' && props.children}
      <div ref={body} hidden={!!conflict || side !== 'form'} onBlur={event => press.left(event.target)}>
        <Form
          form={form}
          disabled={props.isReadOnly}
          layout="vertical"
          requiredMark={false}
          initialValues={began.current}
          onValuesChange={changed => {
            for (const name of changedFields(changed, paths)) state.typed(name);
            judge();
            setChanged(isDirty());
          }}
          onFinish={() => void save()}
        >
          {fields.map((field, index) => (
            <Field key={`${index} ${field.name}`} field={field} />
          ))}
          <button type="submit" hidden aria-hidden />
        </Form>
      </div>
    </FormContext>
  );
  return { content, side, isBusy, isIdle, isChanged, conflict, save, close, adopt };
}
