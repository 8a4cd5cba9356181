/** One's own name, language and time zone (§7 GET and PUT {area}/account/self). */
import '../node/fleet.css';
import { Link } from '@tanstack/react-router';
import { Select } from 'antd';
import { useMemo, useState } from 'react';
import { languages } from '#contract/kit/text.ts';
import { area } from '../kit/area.ts';
import { ofArea } from '../kit/of-area.ts';
import { Facts, Status } from '../kit/bits.tsx';
import { inPlace, later } from '../kit/later.tsx';
import { Page } from '../kit/page.tsx';
import { type FormField, options, type Values } from '../kit/resource.ts';
import { loadSelf, useSelf } from '../kit/session.ts';
import { chooseLanguage, language, type Language, t } from '../kit/text.ts';
import { dateTime } from '../kit/time.ts';

const CardForm = inPlace(async () => (await import('../kit/card-form.tsx')).CardForm);

const Sessions = inPlace(async () => (await import('./sessions.tsx')).Sessions);
const Passkeys = inPlace(async () => (await import('./passkeys.tsx')).Passkeys);
const Identities = inPlace(async () => (await import('./identities.tsx')).Identities);
const SecondFactor = later(async () => (await import('./second-factor.tsx')).SecondFactor);

/** `Asia/Taipei` with its distance to UTC now, which is what people know it by. */
function zoneOption(zone: string) {
  const offset = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' })
    .formatToParts(new Date())
    .find(part => part.type === 'timeZoneName')!.value;
  return { value: zone, label: `${zone} (${offset === 'GMT' ? 'UTC+00:00' : offset.replace('GMT', 'UTC')})` };
}
/** UTC is a time zone people choose, but not one the list holds. */
const zonesOf = (current: string) => [...new Set(['UTC', current, ...Intl.supportedValuesOf('timeZone')])].map(zoneOption);

const fieldsOf = (current: string, isProxied: boolean, isRoot: boolean): FormField[] => {
  const zones = zonesOf(current);
  return [
    { name: 'name', kind: 'text', label: 'displayName' },
    { name: 'language', kind: 'select', help: 'ownLanguage', ...options(languages, 'languageName') },
    {
      name: 'timezone',
      kind: 'custom',
      // the months of an operator are those of its root account
      help: isRoot && ofArea({ user: false, client: true, admin: false }) ? 'timezoneClient' : 'timezone',
      render: ({ value, ...input }) => (
        <Select {...input} value={value as string} showSearch={{ optionFilterProp: 'label' }} options={zones} />
      ),
    },
    ...(isProxied ? [] : [{ name: 'newDeviceMail', kind: 'switch', help: 'newDeviceMail' } as const]),
  ];
};

/** The vendor's people belong to no operator. */
const hasProvider = ofArea({ user: true, client: true, admin: false });

export default function UserInformation() {
  const self = useSelf();
  const { name, language: spoken, timezone, newDeviceMail, version, twoFactor } = self;
  const [isOpen, setOpen] = useState(false);
  // oxlint-disable-next-line react/exhaustive-deps -- hundreds of zones: the one that stood here first stays among them
  const fields = useMemo(() => fieldsOf(timezone, !!self.proxyName, self.isRoot), []);

  async function saved(values: Values) {
    await loadSelf();
    const chosen = values['language'] as Language; // one of its field's
    // A language is chosen for the whole page, so the page starts anew in it.
    if (chosen !== spoken && chosen !== language) chooseLanguage(chosen);
  }

  return (
    <Page>
      <div className="information">
        <div className="panel panel-padded">
          <Facts
            facts={[
              [t('field.email'), self.email],
              [t('field.auth'), self.isRoot ? t(`auth.${self.auth}`) : t('account.subOf', { auth: t(`auth.${self.auth}`) })],
              [t('field.status'), <Status key="status" value={self.status} />],
              [t('field.createdAt'), dateTime(self.createdAt)],
              [
                t('field.password'),
                self.proxyName ? (
                  <span key="password" className="ink-3">
                    {t('account.passwordNotYours')}
                  </span>
                ) : (
                  <Link key="password" to={`/${area}/changePassword`}>
                    {t('account.changePassword')}
                  </Link>
                ),
              ],
              [
                t('field.twoFactor'),
                <span key="twoFactor">
                  {t(`twoFactor.${twoFactor}`)}{' '}
                  {!self.proxyName && (
                    <button type="button" className="link is-alone" onClick={() => setOpen(true)}>
                      {t('factor.change')}
                    </button>
                  )}
                </span>,
              ],
            ]}
          />
          {isOpen && <SecondFactor now={twoFactor} onClose={() => setOpen(false)} />}
        </div>
        <section className="panel setting" aria-label={t('menu.userInformation')}>
          <CardForm
            call="PUT /{area}/account/self"
            params={{}}
            fields={fields}
            values={{ name, language: spoken, timezone, newDeviceMail }}
            version={version}
            saved={saved}
            success={t('message.updateInformationSuccess')}
            errors={{ otherwise: t('message.updateFailed') }}
            meanwhile={<div className="tab-wait" aria-busy />}
          />
        </section>
        {!self.proxyName && <Passkeys meanwhile={<div className="tab-wait" aria-busy />} />}
        {!self.proxyName && hasProvider && <Identities />}
        {!self.proxyName && <Sessions meanwhile={<div className="tab-wait" aria-busy />} />}
      </div>
    </Page>
  );
}
