/** The drawer in which a row is made or changed: one form for both, checked by the contract's own schema. */
import { Button, Drawer, Form, Skeleton } from 'antd';
import { useEffect, useMemo, useRef, useState } from 'react';
import { ruleText } from '#contract/rules/rule.ts';
import { call, type CallKey } from './client.ts';
import { type Conflict, conflictOf, ConflictPanel } from './conflict.tsx';
import { mayDiscard } from './confirm.tsx';
import { keepDraft, takeDraft, withoutSecrets } from './drafts.ts';
import { ErrorState, isRowGone } from './empty.tsx';
import type { FieldProblem } from './errors.ts';
import { Field, fieldPaths, FormContext } from './fields.tsx';
import { type Path, pathOf, place, type PlacedProblem } from './form-paths.ts';
import { changedFields, FormState, isSame } from './form-state.ts';
import { holdPage } from './leaving.ts';
import { notify } from './notice.ts';
import { presented, show } from './present.tsx';
import { type ActionOptions, queryClient } from './query.ts';
import type { FormField, Params, Values } from './resource.ts';
import { type BodyCheck, bodyCheck } from './schema-of.ts';
import { emptied, filledLines, lineInText, type Mixed, overwriting } from './row-values.ts';
import { currentSelf } from './session.ts';
import { commandKey, shortcut } from './shortcuts.ts';
import { language, t } from './text.ts';

const widthPx = 640;

export interface FormProps {
  title: string;
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
  /** Of the row, as it was seen: a save over somebody else's is refused, and both are shown. */
  version?: number | undefined;
  success: string;
  errors?: ActionOptions;
  widthPx?: number;
  onClose: () => void;
  /** Above the fields. */
  children?: React.ReactNode;
}

const sentence = (problem: PlacedProblem, value: unknown) => {
  const text = problem.text ?? ruleText(problem, language);
  return problem.line === undefined ? text : t('form.line', { line: lineInText(value, problem.line), text });
};

export function ResourceForm(props: FormProps) {
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
  const draftName = `${currentSelf()?.id} ${props.call} ${JSON.stringify(params)}`;
  // A batch has none: other rows would find it.
  const [draft] = useState(() => (props.mixed ? undefined : takeDraft(draftName)));
  const [overwritten, setOverwritten] = useState<readonly string[]>([]);
  const [isChanged, setChanged] = useState(false);
  const mixedIn = (name: string) => (overwritten.includes(name) ? undefined : props.mixed?.[name]);
  const [conflict, setConflict] = useState<Conflict>();
  const seen = useRef(draft ? draft.version : props.version);

  useEffect(() => {
    bodyCheck(props.call).then(setCheck, setFailure);
  }, [props.call]);

  const valuesNow = () => form.getFieldsValue(true) as Values;
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
    const own = fields.flatMap(({ name, rule }) => {
      const found = rule ? rule.check(values[name] as never) : true;
      return found === true ? [] : found.map(problem => ({ ...problem, path: [name, ...problem.path].join('.') }));
    });
    const body = bodyNow();
    const row = wrap ? (body as Record<string, unknown[]>)[wrap]?.[0] : body;
    const gone = isEdit ? emptied(fields, props.values, row) : [];
    return [...own, ...gone.map(path => ({ path: path.join('.'), rule: 'required' })), ...check!.problems(body)];
  };
  const isDirty = () => overwritten.length > 0 || !isSame({ ...props.values, ...shownValues() }, props.values);
  const isIdle = !!props.mixed && !isChanged && !overwritten.length;
  function overwrite(field: FormField) {
    form.setFieldValue(field.name as never, overwriting(field) as never);
    setOverwritten([...overwritten, field.name]);
    setTimeout(() => focusFirst(body.current?.querySelector(`[data-field="${field.name}"]`)));
  }

  useEffect(() => {
    if (!check) return undefined;
    if (draft) {
      form.setFieldsValue(draft.values);
      notify.info(t('form.restored'));
    }
    // A finger would have the keyboard over half of the form at once.
    if (matchMedia('(pointer: fine)').matches) focusFirst(body.current);
    release.current = holdPage({
      isDirty: () => !saving.current && isDirty(),
      keep: () =>
        !props.mixed &&
        isDirty() &&
        keepDraft(draftName, { values: withoutSecrets(fields, shownValues()), version: seen.current }),
    });
    return () => release.current();
    // oxlint-disable-next-line react/exhaustive-deps -- once, when the form stands: what is held is read when it is asked for
  }, [check]);

  /** Puts under each field what it says now, and nothing where it has nothing to say. */
  function judge(): Map<string, string> {
    const problems = place(problemsNow(), paths, wrap).placed;
    const said = state.shown(
      problems.map(problem => ({ name: problem.name, text: sentence(problem, form.getFieldValue(problem.name as never)) })),
      name => form.getFieldValue(name as never) as unknown,
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
    const field = fieldAt(fields, name);
    const value = form.getFieldValue(name as never) as unknown;
    if (typeof value === 'string' && field && ['text', 'mono', 'area'].includes(field.kind)) {
      const mended: Values = field.mend && value.trim() ? field.mend(value) : { [field.name]: value.trim() };
      for (const [key, next] of Object.entries(mended))
        if (next !== form.getFieldValue([...name.slice(0, -1), key] as never))
          form.setFieldValue([...name.slice(0, -1), key] as never, next as never);
    }
    state.left(name, form.getFieldValue(name as never));
    judge();
  }

  // A message that appears between the press and the release of a button moves the button away from under the finger.
  const pressed = useRef<{ left?: EventTarget }>(undefined);
  function left(target: EventTarget) {
    if (pressed.current) pressed.current.left = target;
    else leave(target);
  }
  useEffect(() => {
    const press = () => (pressed.current = {});
    const release = () =>
      setTimeout(() => {
        const target = pressed.current?.left;
        pressed.current = undefined;
        if (target instanceof Element && target.isConnected) leave(target);
      });
    document.addEventListener('pointerdown', press, true);
    document.addEventListener('pointerup', release, true);
    document.addEventListener('pointercancel', release, true);
    return () => {
      document.removeEventListener('pointerdown', press, true);
      document.removeEventListener('pointerup', release, true);
      document.removeEventListener('pointercancel', release, true);
    };
    // oxlint-disable-next-line react/exhaustive-deps -- once there is something to check with
  }, [check]);

  /** Says what is wrong, focuses the first field on screen that says something, and says aloud what has no field. */
  function refuse(homeless: readonly FieldProblem[], otherwise?: string) {
    const said = judge();
    const first = [...(body.current?.querySelectorAll('[data-field]') ?? [])].find(one =>
      said.has(one.getAttribute('data-field')!),
    );
    first?.scrollIntoView({ block: 'center' });
    focusFirst(first);
    if (homeless.length)
      notify.error(otherwise ?? homeless.map(problem => `${problem.path}: ${ruleText(problem, language)}`).join('\n'));
  }

  async function save() {
    if (isBusy || !check || isIdle) return;
    // Saved by keyboard: the field the cursor stands in was never left.
    // So was one whose leaving still waits for the end of the press on this very button.
    const waiting = pressed.current?.left;
    if (pressed.current) pressed.current.left = undefined;
    if (waiting instanceof Element) leave(waiting);
    if (document.activeElement && body.current?.contains(document.activeElement)) leave(document.activeElement);
    state.asked();
    const problems = problemsNow();
    if (problems.length) return refuse(place(problems, paths, wrap).homeless);
    setBusy(true);
    saving.current = true;
    try {
      if (props.send) await props.send(shownValues());
      else await call(props.call, ...([{ ...params, body: bodyNow() }, { version: seen.current }] as unknown as [never]));
      release.current();
      notify.success(props.success);
      void queryClient.invalidateQueries();
      props.onClose();
    } catch (error) {
      const found = conflictOf(error, fields, props.values, shownValues());
      if (found) return setConflict(found);
      if (isEdit && isRowGone(error, params)) {
        notify.error(t('error.rowGone'));
        release.current();
        void queryClient.invalidateQueries();
        return props.onClose();
      }
      const what = presented(error, props.errors);
      if (what.kind !== 'fields') return show(what);
      const { placed, homeless } = place(what.fields, paths, wrap);
      for (const problem of placed) {
        const value = form.getFieldValue(problem.name as never) as unknown;
        state.answered(problem.name, sentence(problem, value), value);
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

  async function close() {
    if (isBusy || (isDirty() && !(await mayDiscard()))) return;
    release.current();
    props.onClose();
  }
  useEffect(() => shortcut('mod+enter', () => void (conflict ?? save())));

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

  // Whoever closes the form goes on where he was.
  useEffect(() => {
    const opener = document.activeElement as HTMLElement | null;
    return () => {
      // A shortcut has no opener, and the button of an empty list goes when the first row comes.
      const isLasting = () => opener?.isConnected && opener !== document.body && !opener.closest('.empty');
      setTimeout(() =>
        (isLasting() ? opener : document.querySelector<HTMLElement>('[data-create]'))?.focus({ preventScroll: true }),
      );
    };
  }, []);

  return (
    <Drawer
      open
      title={props.title}
      size={props.widthPx ?? widthPx}
      mask={{ blur: false }}
      onClose={() => void close()}
      autoFocus
      footer={
        <div className="dialog-footer">
          <span className="grow ink-3">{isIdle && t('form.unchanged')}</span>
          <Button onClick={() => void close()}>{t('action.cancel')}</Button>
          <Button type="primary" loading={isBusy} disabled={isIdle || !!conflict} onClick={() => void save()}>
            {t('action.save')} <kbd>{commandKey}↵</kbd>
          </Button>
        </div>
      }
    >
      {failure ? (
        <ErrorState error={failure} />
      ) : !check ? (
        <Skeleton active title={false} paragraph={{ rows: 6 }} />
      ) : (
        <FormContext
          value={{ check, prefix: wrap ? [wrap, 0] : [], params, isEdit, before: props.values, rowsChanged, mixedIn, overwrite }}
        >
          {conflict && (
            <ConflictPanel
              conflict={conflict}
              fields={fields}
              isBusy={isBusy}
              onSettle={settle}
              onBack={() => setConflict(undefined)}
            />
          )}
          {!conflict && props.children}
          <div ref={body} hidden={!!conflict} onBlur={event => left(event.target)}>
            <Form
              form={form}
              layout="vertical"
              requiredMark={false}
              initialValues={props.values}
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
      )}
    </Drawer>
  );
}

/** The first thing in a box that takes a key. */
function focusFirst(box: Element | null | undefined) {
  box
    ?.querySelector<HTMLElement>('input:not([type=hidden], :disabled), textarea, [role=combobox], button[role=switch]')
    ?.focus({ preventScroll: true });
}

/** The field of a name; of `upstreams.0.port` the one of the list. */
function fieldAt(fields: readonly FormField[], name: Path): FormField | undefined {
  const field = fields.find(one => one.name === name[0]);
  return field?.kind === 'list' && name.length > 1 ? field.fields.find(one => one.name === name[2]) : field;
}

function isShown(field: FormField, values: Values, isEdit: boolean) {
  return (!field.only || (field.only === 'edit') === isEdit) && (!field.when || field.when(values));
}

/** Values of a new row. */
export const initialValues = (fields: readonly FormField[]): Values =>
  Object.fromEntries(fields.filter(field => field.initial !== undefined).map(field => [field.name, field.initial]));
