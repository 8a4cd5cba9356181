/** What a setting is, for whoever may look at it and not change it: why not, and each field with its value; secrets are never read back. */
import type { FormField, Values } from '../kit/resource.ts';
import { t } from '../kit/text.ts';
import { valueText } from '../kit/value-text.ts';

interface Props {
  why: string;
  fields: readonly FormField[];
  values: Values;
}
export function SettingValues({ why, fields, values }: Props) {
  return (
    <>
      <p className="ink-3">{why}</p>
      <dl className="setting-values">
        {fields
          .filter(field => field.kind !== 'password' && (field.when?.(values) ?? true))
          .map(field => (
            <div key={field.name}>
              <dt>{t(`field.${field.label ?? field.name}`)}</dt>
              <dd className="view-lines">{valueText(field, values[field.name])}</dd>
            </div>
          ))}
      </dl>
    </>
  );
}
