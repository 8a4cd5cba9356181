/** Fields of a form out of data. */
import { CalendarOutlined, DeleteOutlined, PlusOutlined } from '@ant-design/icons';
import { Button, Form, Input, Segmented, Select, Switch } from 'antd';
import { createContext, useContext } from 'react';
import { selectProps, useChoices, useTexts } from './choices.ts';
import { CodeField } from './code-field.tsx';
import type { CodeLanguage } from './code-language.ts';
import type { Path } from './form-paths.ts';
import { isBlank } from './form-state.ts';
import { inPlace } from './later.tsx';
import { type Above, Differs } from './differs.tsx';
import { MixedField } from './mixed.tsx';
import { NumberInput } from './number-input.tsx';
import type { BodyCheck } from './schema-of.ts';
import type { FormField, Params, TextsCall, Values, TimePreset } from './resource.ts';
import type { Differing } from './row-values.ts';
import { t, tOf } from './text.ts';
import { dateTime, later as laterThan } from './time.ts';
import { useNarrow } from './use-narrow.ts';
import { useWanted } from './wanted.ts';

const TimeInput = inPlace(async () => (await import('./time-input.tsx')).default);

export interface FormContext {
  check: BodyCheck;
  /** Path of the form's values in the body: `['items', 0]`. */
  prefix: (string | number)[];
  params: Params;
  isEdit: boolean;
  /** Values the form began with. */
  before: Values;
  /** A row of a list was added, or taken away. */
  rowsChanged: (list: Path, removed?: number) => void;
  /** What the server said of a field's value is not so any more. */
  unsay: (name: string) => void;
  /** What the rows of a batch have in a field, while they differ in it. */
  mixedIn: (name: string) => Differing | undefined;
  overwrite: (field: FormField) => void;
  /** What would count if nothing were set here, and taking it into fields. */
  above: Above | undefined;
  takeAbove: (names: readonly string[]) => void;
}
export const FormContext = createContext<FormContext | null>(null);

interface FieldProps {
  field: FormField;
  /** Names the values stand under, for a field of a list. */
  at?: (string | number)[];
  isDense?: boolean;
}

export function Field({ field, at = [], isDense }: FieldProps) {
  const context = useContext(FormContext)!;
  // beside each other they are named once, above the rows; where there is no room for that, each for itself
  const isBare = useNarrow() ? false : isDense;
  const values = Form.useWatch([], { form: Form.useFormInstance(), preserve: true }) as Values | undefined;
  if (field.only && (field.only === 'edit') !== context.isEdit) return null;
  if (field.when && !field.when(values ?? {})) return null;
  const name = [...at, field.name];
  const label = t(`field.${field.label ?? field.name}`);
  if (field.kind === 'list') return <ListField field={field} name={name} label={label} />;
  const path = [...context.prefix, ...(at.length ? [at[0]!, 0, field.name] : [field.name])];
  const isThere = context.isEdit && !at.length && !isBlank(context.before[field.name]);
  const isOptional = field.isOptional ?? (field.kind !== 'switch' && context.check.isOptional(path, isThere));
  const differing = at.length ? undefined : context.mixedIn(field.name);
  if (differing)
    return (
      <MixedField
        field={field}
        label={label}
        differing={differing}
        params={context.params}
        onOverwrite={() => context.overwrite(field)}
      />
    );
  return (
    <Form.Item
      name={at.length ? [at[1]!, field.name] : name}
      label={isBare ? undefined : <Label text={label} isOptional={isOptional && !isDense} />}
      // an empty line below each field would be room for nothing
      extra={
        (field.help || field.warn || field.rules || context.above) && (
          <Extra field={field} value={at.length ? undefined : values?.[field.name]} values={values ?? {}} />
        )
      }
      valuePropName={field.kind === 'switch' ? 'checked' : 'value'}
      data-field={name.join('.')}
      style={field.width === undefined || (isDense && !isBare) ? undefined : { width: field.width }}
      className={isDense ? (field.width === undefined ? 'field-dense grow' : 'field-dense') : undefined}
    >
      <FieldInput
        field={field}
        params={context.params}
        // an editor is nothing a label can be of
        label={isBare || field.kind === 'code' ? label : undefined}
        code={field.kind === 'code' ? field.language(values ?? {}) : undefined}
      />
    </Form.Item>
  );
}

function Extra({ field, value, values }: { field: FormField; value: unknown; values: Values }) {
  const warning = field.warn?.(value, values);
  const { above, takeAbove } = useContext(FormContext)!;
  return (
    <>
      {field.rules?.(value)}
      {field.help && t(`help.${field.help}`)}
      {warning && (
        <span className="field-warning" role="status">
          {warning}
        </span>
      )}
      {above && <Differs field={field} value={value} above={above} onTake={() => takeAbove([field.name])} />}
    </>
  );
}

export function Label({ text, isOptional }: { text: string; isOptional: boolean }) {
  return (
    <>
      {text}
      {isOptional && <span className="optional">{t('form.optional')}</span>}
    </>
  );
}

interface InputProps {
  field: Exclude<FormField, { kind: 'list' }>;
  params: Params;
  label?: string;
  /** what the code of a code field is written in */
  code?: CodeLanguage;
  id?: string;
  value?: unknown;
  checked?: boolean;
  onChange?: (value: unknown) => void;
  'aria-invalid'?: boolean | 'true' | 'false';
  'aria-describedby'?: string;
}

/** The input itself; `value`, `onChange`, `id` and what a screen reader says of it come from Form.Item. */
function FieldInput({ field, params, label, code, ...input }: InputProps) {
  const { id, value, onChange } = input;
  const spoken = { 'aria-label': label, 'aria-invalid': input['aria-invalid'], 'aria-describedby': input['aria-describedby'] };
  const common = { id, ...spoken, placeholder: field.placeholder } as const;
  const text = (event: { target: { value: string } }) => onChange?.(event.target.value);
  switch (field.kind) {
    case 'text':
      return <Input {...common} value={value as string} onChange={text} />;
    case 'mono':
      return <Input {...common} className="mono" value={value as string} onChange={text} spellCheck={false} autoComplete="off" />;
    case 'area':
    case 'code': {
      const area = (
        <Input.TextArea
          {...common}
          className={code && 'mono'}
          autoSize={{ minRows: code ? 5 : 2, maxRows: 8 }}
          value={value as string}
          onChange={text}
        />
      );
      if (!code) return area;
      return <CodeField {...common} language={code} value={value as string} onChange={onChange} area={area} />;
    }
    case 'password':
      return <Input.Password {...common} autoComplete="new-password" value={value as string} onChange={text} />;
    case 'number':
      return (
        <NumberInput {...common} suffix={field.unit && t(`unit.${field.unit}`)} value={value as number} onChange={onChange} />
      );
    case 'switch':
      return <Switch id={id} {...spoken} checked={input.checked} onChange={onChange} />;
    case 'tags':
      return <TagsInput {...common} suggest={field.suggest} value={value as string[]} onChange={onChange} />;
    case 'lines':
      return <LinesInput {...common} value={value as string[]} onChange={onChange} />;
    case 'segments':
      return (
        <Segmented
          id={id}
          {...spoken}
          // nothing chosen is nothing chosen, not the first
          value={(value ?? null) as string}
          onChange={onChange}
          options={field.values.map(one => ({ value: one, label: field.texts ? tOf(field.texts, one) : String(one) }))}
        />
      );
    case 'select':
    case 'remote':
      return <ChoiceInput field={field as ChoiceField} params={params} {...input} {...spoken} />;
    case 'time':
      return <TimeField {...common} presets={field.presets} value={value as string | null} onChange={onChange} />;
    case 'custom':
      return field.render({ value, onChange: onChange ?? (() => {}), id, ...spoken });
  }
}

interface TimeProps {
  id?: string;
  placeholder?: string;
  'aria-label'?: string;
  'aria-invalid'?: boolean | 'true' | 'false';
  'aria-describedby'?: string;
  presets?: readonly TimePreset[];
  value?: string | null;
  onChange?: (value: string | null) => void;
}
/** A calendar is heavy, and most such fields stay as they are: it comes when there is a time to show, or somebody goes into the field. */
function TimeField({ presets = [], value, onChange, ...given }: TimeProps) {
  const { isWanted, isHere, visits } = useWanted();
  const rest = { ...given, placeholder: value === null && presets.includes('never') ? t('preset.never') : given.placeholder };
  const preset = (name: TimePreset) => onChange?.(name === 'never' ? null : laterThan(value, name, new Date()));
  const place = (
    <Input
      {...rest}
      readOnly
      value={value ? dateTime(value) : undefined}
      suffix={<CalendarOutlined className="ink-3" />}
      {...visits}
    />
  );
  return (
    <>
      {!isWanted && !value ? (
        place
      ) : (
        <TimeInput
          {...rest}
          value={value}
          onChange={onChange}
          isOpened={isHere}
          meanwhile={place}
          failed={note => (
            <>
              {place}
              {note}
            </>
          )}
        />
      )}
      {presets.length > 0 && (
        <div className="presets">
          {presets.map(name => (
            <Button key={name} size="small" onClick={() => preset(name)}>
              {t(`preset.${name}`)}
            </Button>
          ))}
        </div>
      )}
    </>
  );
}

type ChoiceField = Extract<FormField, { from: unknown }> | Extract<FormField, { values: unknown }>;

function ChoiceInput({
  field,
  params,
  checked: _checked,
  label: _label,
  value,
  onChange,
  ...spoken
}: Omit<InputProps, 'field'> & { field: ChoiceField; 'aria-label'?: string }) {
  const found = useChoices(field, params, value);
  return (
    <Select
      {...spoken}
      placeholder={field.placeholder}
      mode={'isMultiple' in field && field.isMultiple ? 'multiple' : undefined}
      {...selectProps(found)}
      value={value as never}
      onChange={onChange}
    />
  );
}

interface TagsProps {
  suggest: TextsCall | undefined;
  id?: string;
  placeholder?: string;
  value?: string[];
  onChange?: (value: string[]) => void;
}

/** Words of one's own; those that are in use already are offered. */
function TagsInput({ suggest, ...rest }: TagsProps) {
  const known = useTexts(suggest);
  return (
    <Select
      {...rest}
      // what ⌘Enter asks (shortcuts.ts)
      className="typed-words"
      mode="tags"
      tokenSeparators={[',', ' ']}
      options={known.map(value => ({ value, label: value }))}
      {...(!known.length && { open: false, suffixIcon: null })}
    />
  );
}

/** One value a line, as it was typed: what is sent has neither blank lines nor blanks around a value (`filledLines`). */
function LinesInput({ value, onChange, ...rest }: { id?: string; value?: string[]; onChange?: (value: string[]) => void }) {
  return (
    <Input.TextArea
      {...rest}
      className="mono"
      spellCheck={false}
      autoSize={{ minRows: 4, maxRows: 14 }}
      value={(value ?? []).join('\n')}
      onChange={event => onChange?.(event.target.value === '' ? [] : event.target.value.split(/\r?\n/))}
    />
  );
}

/** Rows of fields beside each other, as origins have them. */
function ListField({
  field,
  name,
  label,
}: {
  field: Extract<FormField, { kind: 'list' }>;
  name: (string | number)[];
  label: string;
}) {
  const { rowsChanged, check, prefix } = useContext(FormContext)!;
  const isOptional = field.isOptional ?? check.isOptional([...prefix, field.name]);
  return (
    <Form.Item
      label={<Label text={label} isOptional={isOptional} />}
      extra={field.help && t(`help.${field.help}`)}
      className="field-list"
      data-field={name.join('.')}
    >
      <Form.List name={name}>
        {(rows, { add, remove }, { errors }) => (
          <>
            {rows.length > 0 && (
              <div className="list-head" aria-hidden>
                {field.fields.map(one => (
                  <span key={one.name} style={{ width: one.width }} className={one.width === undefined ? 'grow' : undefined}>
                    {t(`field.${one.label ?? one.name}`)}
                  </span>
                ))}
                <span className="list-remove" />
              </div>
            )}
            {rows.map(row => (
              <div key={row.key} className="list-row">
                {field.fields.map(one => (
                  <Field key={one.name} field={one} at={[...name, row.name]} isDense />
                ))}
                <Button
                  type="text"
                  className="list-remove"
                  icon={<DeleteOutlined />}
                  aria-label={t('action.remove')}
                  onClick={() => {
                    remove(row.name);
                    rowsChanged(name, row.name);
                  }}
                />
              </div>
            ))}
            <Form.ErrorList errors={errors} />
            <Button
              type="dashed"
              block
              icon={<PlusOutlined />}
              onClick={() => {
                add(field.template());
                rowsChanged(name);
              }}
            >
              {t(`action.${field.add}`)}
            </Button>
          </>
        )}
      </Form.List>
    </Form.Item>
  );
}

/** Names of the form's fields, `*` for the index of a list's row. */
export const fieldPaths = (fields: readonly FormField[]): string[] =>
  fields.flatMap(field =>
    field.kind === 'list' ? [field.name, ...field.fields.map(one => `${field.name}.*.${one.name}`)] : [field.name],
  );
