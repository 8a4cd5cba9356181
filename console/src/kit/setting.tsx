/**
 * A setting as a card: whose value counts, a way to give it back, and the form itself where it may be changed. Who may only look reads the
 * values, without the form's code.
 */
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { SettingLevel, SettingSource } from '#contract/kit/setting.ts';
import { type CallKey, callAny } from './client.ts';
import { isSure } from './confirm.ts';
import type { Above } from './differs.tsx';
import { ErrorState } from './empty.tsx';
import { inPlace } from './later.tsx';
import { notify } from './notice.ts';
import { Page } from './page.tsx';
import { isCall, useCan } from './permissions.ts';
import { present } from './present.tsx';
import { query, queryClient } from './query.ts';
import type { FormField, Params, Values } from './resource.ts';
import type { SettingPath, SettingScreen } from './setting-screen.ts';
import { Stale } from './stale.tsx';
import { t } from './text.ts';
import { valueText } from './value-text.ts';

export type { SettingScreen };

const SettingForm = inPlace(async () => (await import('./setting-form.tsx')).SettingForm);

type Answer = Values & { from: SettingSource; version: number; above: Above };

export function SettingPanel({ setting, params }: { setting: SettingScreen; params: Params }) {
  const can = useCan();
  const found = useQuery(query(`GET ${setting.path}`, params as never));
  const now = found.data as Answer | undefined;
  if (found.error && !now) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />;
  const waits = <div className="tab-wait" aria-busy />;
  if (!now) return <div className="panel">{waits}</div>;
  const { from, version, above, ...values } = now;
  const isOwn = from === setting.level;
  const reset = `DELETE ${setting.path}`;

  async function giveBack(key: CallKey) {
    const verb = t('setting.reset');
    if (!(await isSure({ level: 'disruptive', title: verb, targets: [t(`tab.${setting.name}`)], confirm: verb }))) return;
    try {
      await callAny(key, params);
      notify.success(t('message.resetSuccess'));
    } catch (error) {
      present(error, { otherwise: t('message.resetFailed') });
    } finally {
      void queryClient.invalidateQueries();
    }
  }

  return (
    <section className="panel setting" aria-label={t(`tab.${setting.name}`)}>
      <Stale found={found} />
      <header className="setting-head">
        <span className={isOwn ? 'source own' : 'source'}>
          {t(isOwn ? 'setting.own' : 'setting.inherited', { from: t(`settingSource.${from}`) })}
        </span>
        {isOwn && isCall(reset) && can(reset) && (
          <button type="button" className="link" onClick={() => void giveBack(reset)}>
            {t('setting.reset')}
          </button>
        )}
      </header>
      {can(`PUT ${setting.path}`) ? (
        <SettingForm setting={setting} params={params} values={values} version={version} above={above} meanwhile={waits} />
      ) : (
        <>
          <p className="ink-3">{t('form.readOnly')}</p>
          <dl className="setting-values">
            {setting.fields.map(field => (
              <div key={field.name}>
                <dt>{t(`field.${field.label ?? field.name}`)}</dt>
                <dd>{shown(setting, field, values[field.name])}</dd>
              </div>
            ))}
          </dl>
        </>
      )}
    </section>
  );
}

/** One declaration for the panels of all levels: `at` says where each has its calls. */
export interface SettingOfLevels extends Omit<SettingScreen, 'level' | 'path'> {
  at: { [L in SettingLevel]?: SettingPath };
}
/** The panel of one level, for a tab or a page: `settingPanel(gzip, 'site')`. */
export function settingPanel({ at, ...rest }: SettingOfLevels, level: SettingLevel) {
  const setting: SettingScreen = { ...rest, level, path: at[level]! };
  return ({ params = {} }: { params?: Params }) => <SettingPanel setting={setting} params={params} />;
}

/** The same as a page of its own, for zones and the system: `settingPage(stamp, 'zone')`; the address says whose (`{-$id}`). */
export function settingPage(setting: SettingOfLevels, level: SettingLevel) {
  const Panel = settingPanel(setting, level);
  return function SettingPage() {
    const { id } = useParams({ strict: false }) as { id?: string };
    return (
      <Page>
        <Panel params={id === undefined ? {} : { id: Number(id) }} />
      </Page>
    );
  };
}

const shown = ({ shown: own }: SettingScreen, field: FormField, value: unknown): ReactNode =>
  own?.[field.name]?.(value as never) ?? <span className="view-lines">{valueText(field, value)}</span>;
