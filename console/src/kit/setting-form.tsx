/** A setting as a card of a page: its form, which tells what differs from what would count without it. */
import { CardForm } from './card-form.tsx';
import type { Above } from './differs.tsx';
import { historyOfSetting } from './history-of.ts';
import type { Params, Values } from './resource.ts';
import type { SettingScreen } from './setting-screen.ts';
import { t } from './text.ts';

interface Props {
  setting: SettingScreen;
  params: Params;
  values: Values;
  version: number;
  above: Above;
}

export const SettingForm = ({ setting, params, ...now }: Props) => (
  <CardForm
    {...now}
    call={`PUT ${setting.path}`}
    params={params}
    fields={setting.fields}
    history={historyOfSetting(`GET ${setting.path}`, params)}
    success={setting.saved?.() ?? t('message.modifySuccess')}
    errors={{ otherwise: t('message.modifyFailed') }}
  />
);
