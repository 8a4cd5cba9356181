/** Below a field of a setting: what would count if nothing were set here, where that is something else, and a way back to it. */
import type { SettingSource } from '#contract/kit/setting.ts';
import { isSame } from './form-state.ts';
import type { FormField, Values } from './resource.ts';
import { t } from './text.ts';
import { valueText } from './value-text.ts';

/** Whose value would count, and which. */
export interface Above {
  from: SettingSource;
  value: Values;
}
interface Props {
  field: FormField;
  value: unknown;
  above: Above;
  onTake: () => void;
}

export function Differs({ field, value, above, onTake }: Props) {
  const other = above.value[field.name];
  if (isSame(value, other)) return null;
  return (
    <span className="field-differs">
      <span>{t('setting.differs', { from: t(`settingSource.${above.from}`), value: inLine(field, other) })}</span>{' '}
      <button type="button" className="link" onClick={onTake}>
        {t('setting.take')}
      </button>
    </span>
  );
}

const inLine = (field: FormField, value: unknown) => valueText(field, value).replaceAll('\n', t('list.comma'));
