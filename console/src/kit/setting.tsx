/** A setting as a panel: what counts now, whose value it is, and the form that changes it or gives it back. */
import { useQuery } from '@tanstack/react-query';
import { Button } from 'antd';
import { type ReactNode, useState } from 'react';
import type { SettingSource } from '#contract/kit/setting.ts';
import { call, type CallKey } from './client.ts';
import { isSure } from './confirm.tsx';
import { ErrorState } from './empty.tsx';
import { ResourceForm } from './form.tsx';
import { notify } from './notice.ts';
import { useCan } from './permissions.ts';
import { present } from './present.tsx';
import { query, queryClient } from './query.ts';
import type { FormField, Params, Values } from './resource.ts';
import { type Named, t } from './text.ts';

export interface SettingScreen {
  /** Names its texts: `page.<name>`. */
  name: Named<'page'>;
  read: CallKey;
  write: CallKey;
  reset?: CallKey;
  /** The level this screen is about. */
  level: SettingSource;
  fields: FormField[];
  /** What each field says, in the order of the fields; left out: its value as text. */
  shown?: Record<string, (value: never) => ReactNode>;
  /** What is said once it is saved; the general words unless given. */
  saved?: () => string;
}

type Answer = Values & { from: SettingSource; version: number };

export function SettingPanel({ setting, params }: { setting: SettingScreen; params: Params }) {
  const can = useCan();
  const [isOpen, setOpen] = useState(false);
  const found = useQuery(query(setting.read, params as never));
  const now = found.data as Answer | undefined;
  if (found.error && !now) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />;
  if (!now) return null;
  const { from, version, ...values } = now;
  const isOwn = from === setting.level;

  async function giveBack() {
    const verb = t('setting.reset');
    if (!(await isSure({ level: 'disruptive', title: verb, targets: [t(`page.${setting.name}`)], confirm: verb }))) return;
    try {
      await call(setting.reset!, ...([params] as unknown as [never]));
      notify.success(t('message.resetSuccess'));
    } catch (error) {
      present(error, { otherwise: t('message.resetFailed') });
    } finally {
      void queryClient.invalidateQueries();
    }
  }

  return (
    <section className="panel setting" aria-label={t(`page.${setting.name}`)}>
      <dl className="setting-values">
        {setting.fields.map(field => (
          <div key={field.name}>
            <dt>{t(`field.${field.label ?? field.name}`)}</dt>
            <dd>{shown(setting, field, values[field.name])}</dd>
          </div>
        ))}
      </dl>
      <footer className="setting-foot">
        <span className="ink-3">{t(isOwn ? 'setting.own' : 'setting.inherited', { from: t(`settingSource.${from}`) })}</span>
        {isOwn && setting.reset && can(setting.reset) && <Button onClick={() => void giveBack()}>{t('setting.reset')}</Button>}
        {can(setting.write) && (
          <Button type="primary" onClick={() => setOpen(true)}>
            {t('action.edit')}
          </Button>
        )}
      </footer>
      {isOpen && (
        <ResourceForm
          title={t(`page.${setting.name}`)}
          call={setting.write}
          params={params}
          fields={setting.fields}
          values={values}
          isEdit
          version={version}
          success={setting.saved?.() ?? t('message.modifySuccess')}
          errors={{ otherwise: t('message.modifyFailed') }}
          onClose={() => setOpen(false)}
        />
      )}
    </section>
  );
}

function shown({ shown: own }: SettingScreen, field: FormField, value: unknown): ReactNode {
  if (own?.[field.name]) return own[field.name]!(value as never);
  if (typeof value === 'boolean') return t(value ? 'state.enabled' : 'state.disabled');
  return Array.isArray(value) ? value.join(', ') : String(value);
}
