/** Values as people read them: choices and switches by their words, rows of fields a line each. */
import { hidden, hiddenOther } from '#contract/kit/hidden.ts';
import type { FormField } from './resource.ts';
import { t, textOf } from './text.ts';
import { dateTime } from './time.ts';

const ofTheRow = ['id', 'createdAt', 'updatedAt', 'deletedAt', 'version'];

/** `–` where there is nothing. */
export function valueText(field: FormField | undefined, value: unknown): string {
  if (value === undefined || value === null || value === '' || (Array.isArray(value) && !value.length)) return '–';
  if (value === hidden) return t('value.secret');
  if (value === hiddenOther) return t('value.secretOther');
  if (Array.isArray(value)) return value.map(one => (isRow(one) ? rowText(field, one) : valueText(field, one))).join('\n');
  if (field && 'texts' in field && field.texts) return textOf(`${field.texts}.${String(value)}`) ?? String(value);
  if (typeof value === 'boolean') return t(value ? 'state.enabled' : 'state.disabled');
  if (field?.kind === 'time') return dateTime(String(value));
  if (field?.kind === 'number' && field.unit) return `${String(value)} ${t(`unit.${field.unit}`)}`;
  return isRow(value) ? rowText(field, value) : String(value);
}

const isRow = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** In the order of the row's own fields, where they are known. */
function rowText(field: FormField | undefined, row: Record<string, unknown>): string {
  const known = field?.kind === 'list' ? field.fields : [];
  const names = [...new Set([...known.map(one => String(one.name)), ...Object.keys(row)])].filter(
    name => name in row && !ofTheRow.includes(name),
  );
  return names
    .map(name =>
      valueText(
        known.find(one => one.name === name),
        row[name],
      ),
    )
    .join(' · ');
}
