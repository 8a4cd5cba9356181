/** The drawer in which a row is made or changed: one form for both, checked by the contract's own schema. */
import { Button, Drawer, Form, Skeleton } from 'antd';
import { useEffect, useRef, useState } from 'react';
import { ruleText } from '#contract/rules/rule.ts';
import { call, type CallKey } from './client.ts';
import { mayDiscard } from './confirm.tsx';
import { ErrorState } from './empty.tsx';
import type { FieldProblem } from './errors.ts';
import { Field, fieldPaths, FormContext } from './fields.tsx';
import { place, type PlacedProblem } from './form-paths.ts';
import { notify } from './notice.ts';
import { presented, show } from './present.tsx';
import { type ActionOptions, queryClient } from './query.ts';
import type { FormField, Params, Values } from './resource.ts';
import { type BodyCheck, bodyCheck } from './schema-of.ts';
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
  success: string;
  errors?: ActionOptions;
  widthPx?: number;
  onClose: () => void;
  /** Above the fields. */
  children?: React.ReactNode;
}

const sentence = (problem: PlacedProblem) => {
  const text = ruleText(problem, language);
  return problem.line === undefined ? text : t('form.line', { line: problem.line, text });
};
const same = (a: readonly unknown[], b: readonly unknown[]) =>
  a.length === b.length && a.every((step, index) => step === b[index]);

export function ResourceForm(props: FormProps) {
  const { fields, params, wrap, isEdit } = props;
  const [form] = Form.useForm<Values>();
  const [check, setCheck] = useState<BodyCheck>();
  const [failure, setFailure] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const isTouched = useRef(false);
  const paths = fieldPaths(fields);

  useEffect(() => {
    bodyCheck(props.call).then(setCheck, setFailure);
  }, [props.call]);

  const shownValues = (): Values => {
    const values = form.getFieldsValue(true) as Values;
    return Object.fromEntries(
      fields.filter(field => isShown(field, values, isEdit)).map(field => [field.name, values[field.name]]),
    );
  };
  const bodyNow = () => (props.body ? props.body(shownValues()) : shownValues());
  const problemsNow = () => place(check!.problems(bodyNow()), paths, wrap);

  async function validate(name: (string | number)[]) {
    const mine = problemsNow().placed.filter(problem => same(problem.name, name));
    if (mine.length) throw new Error(mine.map(sentence).join('\n'));
  }

  /** Puts problems under their fields and focuses the first; says aloud what has no field. */
  function mark(problems: readonly FieldProblem[], otherwise?: string) {
    const { placed, homeless } = place(problems, paths, wrap);
    const names = [...new Set(placed.map(problem => problem.name.join('.')))];
    form.setFields(
      names.map(name => {
        const mine = placed.filter(problem => problem.name.join('.') === name);
        return { name: mine[0]!.name as never, errors: [...new Set(mine.map(sentence))] };
      }),
    );
    if (placed[0]) form.scrollToField(placed[0].name as never, { focus: true, block: 'center' });
    if (homeless.length)
      notify.error(otherwise ?? homeless.map(problem => `${problem.path}: ${ruleText(problem, language)}`).join('\n'));
  }

  async function save() {
    if (isBusy || !check) return;
    const problems = check.problems(bodyNow());
    if (problems.length) return mark(problems);
    setBusy(true);
    try {
      if (props.send) await props.send(shownValues());
      else await call(props.call, ...([{ ...params, body: bodyNow() }] as unknown as [never]));
      notify.success(props.success);
      void queryClient.invalidateQueries();
      props.onClose();
    } catch (error) {
      const what = presented(error, props.errors);
      if (what.kind === 'fields') mark(what.fields, what.text);
      else show(what);
    } finally {
      setBusy(false);
    }
  }

  async function close() {
    if (!isTouched.current || (await mayDiscard())) props.onClose();
  }
  useEffect(() => shortcut('mod+enter', () => void save()));

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
          <span className="grow" />
          <Button onClick={() => void close()}>{t('action.cancel')}</Button>
          <Button type="primary" loading={isBusy} onClick={() => void save()}>
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
        <FormContext value={{ check, prefix: wrap ? [wrap, 0] : [], params, isEdit, validate }}>
          {props.children}
          <Form
            form={form}
            layout="vertical"
            requiredMark={false}
            initialValues={props.values}
            validateTrigger="onBlur"
            onValuesChange={() => (isTouched.current = true)}
            onFinish={() => void save()}
          >
            {fields.map((field, index) => (
              <Field key={`${index} ${field.name}`} field={field} />
            ))}
            <button type="submit" hidden aria-hidden />
          </Form>
        </FormContext>
      )}
    </Drawer>
  );
}

function isShown(field: FormField, values: Values, isEdit: boolean) {
  return (!field.only || (field.only === 'edit') === isEdit) && (!field.when || field.when(values));
}

/** Values of a new row. */
export const initialValues = (fields: readonly FormField[]): Values =>
  Object.fromEntries(fields.filter(field => field.initial !== undefined).map(field => [field.name, field.initial]));
