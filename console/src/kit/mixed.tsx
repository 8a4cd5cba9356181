/** A field in which the rows of a batch differ: what they have, and the button that overwrites it. */
import { Button, Form } from 'antd';
import type { ReactNode } from 'react';
import { useChoices } from './choices.ts';
import type { FormField, Params } from './resource.ts';
import type { Differing } from './row-values.ts';
import { t } from './text.ts';
import { dateTime } from './time.ts';
import { number } from './units.ts';

/** So many values are named. */
const shown = 5;

interface Props {
  field: FormField;
  label: ReactNode;
  differing: Differing;
  params: Params;
  onOverwrite: () => void;
}

export function MixedField({ field, label, differing, params, onOverwrite }: Props) {
  const choices = useChoices('from' in field || 'values' in field ? field : { values: [] }, params).options;
  const textOf = (value: unknown): string => {
    const known = choices.find(choice => choice.value === value)?.label;
    if (known !== undefined) return known;
    if (field.kind === 'time')
      return value ? dateTime(value as string) : field.presets?.includes('never') ? t('preset.never') : '–';
    if (typeof value === 'boolean') return t(value ? 'state.enabled' : 'state.disabled');
    const text = Array.isArray(value) ? value.join(', ') : String(value ?? '');
    return text || '–';
  };
  return (
    <Form.Item label={label} extra={field.help && t(`help.${field.help}`)} data-field={field.name}>
      <div className="mixed">
        <p>{t('form.mixed', { count: number(differing.length) })}</p>
        <ul>
          {differing.slice(0, shown).map(({ value, count }) => (
            <li key={JSON.stringify(value ?? null)}>
              <span>{textOf(value)}</span> <span className="ink-3">× {number(count)}</span>
            </li>
          ))}
          {differing.length > shown && <li className="ink-3">{t('confirm.more', { count: differing.length - shown })}</li>}
        </ul>
        <Button onClick={onOverwrite}>{t('form.overwrite')}</Button>
      </div>
    </Form.Item>
  );
}
