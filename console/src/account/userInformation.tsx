/** One's own name, language and time zone (§7 GET and PUT {area}/account/self). */
import '../node/fleet.css';
import { Link } from '@tanstack/react-router';
import { Button, Form, Input, Select } from 'antd';
import { useEffect, useState } from 'react';
import { languages } from '#contract/kit/text.ts';
import { ruleText } from '#contract/rules/rule.ts';
import { area } from '../kit/area.ts';
import { Facts, Status } from '../kit/bits.tsx';
import { call } from '../kit/client.ts';
import { isSame } from '../kit/form-state.ts';
import { useHold } from '../kit/leaving.ts';
import { notify } from '../kit/notice.ts';
import { Page } from '../kit/page.tsx';
import { presented, show } from '../kit/present.tsx';
import { bodyCheck } from '../kit/schema-of.ts';
import { loadSelf, useSelf } from '../kit/session.ts';
import { commandKey, shortcut } from '../kit/shortcuts.ts';
import { chooseLanguage, language, type Language, t } from '../kit/text.ts';
import { dateTime } from '../kit/time.ts';

const key = 'PUT /{area}/account/self';
interface Own {
  name: string;
  language: Language;
  timezone: string;
}

/** `Asia/Taipei` with its distance to UTC now, which is what people know it by. */
function zoneOption(zone: string) {
  const offset = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' })
    .formatToParts(new Date())
    .find(part => part.type === 'timeZoneName')!.value;
  return { value: zone, label: `${zone} (${offset === 'GMT' ? 'UTC+00:00' : offset.replace('GMT', 'UTC')})` };
}
/** UTC is a time zone people choose, but not one the list holds. */
const zonesOf = (current: string) => [...new Set(['UTC', current, ...Intl.supportedValuesOf('timeZone')])].map(zoneOption);

export default function UserInformation() {
  const self = useSelf();
  const [form] = Form.useForm<Own>();
  const [isBusy, setBusy] = useState(false);
  const [zones] = useState(() => zonesOf(self.timezone));

  function mark(fields: readonly { path: string; rule: string }[]) {
    form.setFields(fields.map(field => ({ name: field.path as keyof Own, errors: [ruleText(field as never, language)] })));
  }
  async function save() {
    if (isBusy) return;
    const body = form.getFieldsValue();
    setBusy(true);
    try {
      const problems = (await bodyCheck(key)).problems(body);
      if (problems.length) return mark(problems);
      await call(key, { body });
      await loadSelf();
      // A language is chosen for the whole page, so the page starts anew in it.
      if (body.language !== self.language && body.language !== language) return chooseLanguage(body.language);
      notify.success(t('message.updateInformationSuccess'));
    } catch (error) {
      const what = presented(error);
      if (what.kind === 'fields') mark(what.fields);
      else show(what);
    } finally {
      setBusy(false);
    }
  }
  useEffect(() => shortcut('mod+enter', () => void save()));
  useHold(() => {
    const { name, language: spoken, timezone } = self;
    const typed: Partial<Own> = form.getFieldsValue();
    return !isBusy && !isSame({ name, language: spoken, timezone, ...typed }, { name, language: spoken, timezone });
  });

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
            ]}
          />
          <Form
            form={form}
            layout="vertical"
            requiredMark={false}
            initialValues={{ name: self.name, language: self.language, timezone: self.timezone }}
            onFinish={() => void save()}
            style={{ marginTop: 20 }}
          >
            <Form.Item name="name" label={t('field.displayName')}>
              <Input autoComplete="name" />
            </Form.Item>
            <Form.Item name="language" label={t('field.language')} extra={t('help.ownLanguage')}>
              <Select options={languages.map(value => ({ value, label: t(`languageName.${value}`) }))} />
            </Form.Item>
            <Form.Item
              name="timezone"
              label={t('field.timezone')}
              extra={t(area === 'client' ? 'help.timezoneClient' : 'help.timezone')}
            >
              <Select showSearch={{ optionFilterProp: 'label' }} options={zones} />
            </Form.Item>
            <Button type="primary" htmlType="submit" loading={isBusy}>
              {t('action.save')} <kbd>{commandKey}↵</kbd>
            </Button>
          </Form>
        </div>
      </div>
    </Page>
  );
}
