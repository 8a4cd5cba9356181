/** A row that cannot be changed, with everything a form would show of it, and why there is no form. */
import { Alert, Drawer } from 'antd';
import type { ReactNode } from 'react';
import { Facts } from './bits.tsx';
import { cell } from './cells.tsx';
import { useChoices } from './choices.ts';
import { isBlank } from './form-state.ts';
import type { Column, FormField, Params, Row, Values } from './resource.ts';
import { t, tOf } from './text.ts';
import { dateTime } from './time.ts';
import { number } from './units.ts';

export interface ViewProps {
  title: string;
  /** why nothing can be changed here */
  why: string;
  row: Row;
  columns: readonly Column<Row>[];
  fields: readonly FormField[];
  /** of the form */
  values: Values;
  params: Params;
  widthPx?: number;
  onClose: () => void;
  /** Above what the form would show. */
  children?: ReactNode;
}

const none = <span className="ink-3">–</span>;
const widthPx = 640;

export function ViewDrawer({
  title,
  why,
  row,
  columns,
  fields,
  values,
  params,
  widthPx: wide = widthPx,
  onClose,
  children,
}: ViewProps) {
  const asked = fields.filter(field => field.kind !== 'password' && field.only !== 'create' && (field.when?.(values) ?? true));
  const names = new Set<string>(asked.map(field => field.name));
  // what the form does not ask but the list tells: when it was made, what it is called inside
  const told = columns.filter(column => !names.has(column.name) && !names.has(column.label ?? ''));
  return (
    <Drawer open title={title} size={wide} mask={{ blur: false }} onClose={onClose}>
      <Alert type="info" showIcon title={why} className="view-why" />
      {children}
      <Facts
        facts={[
          ...asked.map(
            field =>
              [
                t(`field.${field.label ?? field.name}`),
                <Shown key={field.name} field={field} value={values[field.name]} params={params} />,
              ] as const,
          ),
          ...told.map(column => [tOf('field', column.label ?? column.name), cell(column, row)] as const),
        ]}
      />
    </Drawer>
  );
}

/** What a field of a form holds, to be read. */
function Shown({ field, value, params }: { field: FormField; value: unknown; params: Params }): ReactNode {
  switch (field.kind) {
    case 'switch':
      return t(value ? 'state.enabled' : 'state.disabled');
    case 'list':
      return <ListShown field={field} rows={(value ?? []) as Values[]} params={params} />;
    case 'select':
    case 'segments':
    case 'remote':
      return <ChoiceShown field={field} value={value} params={params} />;
    case 'custom':
      return field.render({ value, onChange: () => {}, disabled: true });
  }
  if (isBlank(value)) return none;
  switch (field.kind) {
    case 'number':
      return `${number(Number(value))}${field.unit ? ` ${t(`unit.${field.unit}`)}` : ''}`;
    case 'time':
      return dateTime(value as string);
    case 'tags':
      return (value as string[]).join(', ');
    case 'lines':
      return <span className="mono view-lines">{(value as string[]).join('\n')}</span>;
    case 'mono':
      return <span className="mono">{String(value)}</span>;
    default:
      return <span className="view-lines">{String(value)}</span>;
  }
}

type ChoiceField = Extract<FormField, { from: unknown }> | Extract<FormField, { values: unknown }>;

function ChoiceShown({ field, value, params }: { field: ChoiceField; value: unknown; params: Params }) {
  const { options, isPending } = useChoices(field, params, Array.isArray(value) ? value : [value]);
  if (isBlank(value)) return none;
  const textOf = (one: unknown) =>
    options.find(choice => choice.value === one)?.label ??
    ('from' in field ? (isPending ? '' : `#${String(one)}`) : field.texts ? tOf(field.texts, one as string) : String(one));
  return (Array.isArray(value) ? value : [value]).map(textOf).join(', ');
}

/** Rows beside each other, as the form has them. */
function ListShown({
  field,
  rows,
  params,
}: {
  field: Extract<FormField, { kind: 'list' }>;
  rows: readonly Values[];
  params: Params;
}) {
  if (!rows.length) return none;
  return (
    <div className="view-list">
      <table>
        <thead>
          <tr>
            {field.fields.map(one => (
              <th key={one.name} scope="col">
                {t(`field.${one.label ?? one.name}`)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            // oxlint-disable-next-line react/no-array-index-key -- nothing moves in what is only read
            <tr key={index}>
              {field.fields.map(one => (
                <td key={one.name}>
                  <Shown field={one} value={row[one.name]} params={params} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
