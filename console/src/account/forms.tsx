/** Drawers of the accounts list that are not the plain form of a row. */
import { ofArea } from '../kit/of-area.ts';
import { ResourceForm } from '../kit/form.tsx';
import { call } from '../kit/client.ts';
import { isSure } from '../kit/confirm.ts';
import { overlay } from '../kit/overlay.ts';
import { present } from '../kit/present.tsx';
import { currentSelf } from '../kit/session.ts';
import type { FormField, Values } from '../kit/resource.ts';
import { t } from '../kit/text.ts';
import { createFields } from './fields.ts';
import { passwordRules } from './password-rules.tsx';
import { type Account, authName } from './state.ts';

const narrowPx = 480;

/** Of which kind the accounts are that are made here, where nobody chooses; and what is chosen at first. */
const made = ofArea({ user: 'user', client: undefined, admin: undefined });
const usual = ofArea({ user: 'user', client: 'user', admin: 'client' });
const makes: readonly string[] = ofArea({ user: ['user'], client: ['user', 'client'], admin: ['client', 'admin'] });
function bodyOf(values: Values): Values {
  const { password, ...account } = values;
  return {
    ...account,
    ...(password ? { password } : {}),
    auth: made ?? account['auth'],
  };
}

/** `auth`: of the list it is made from, where one may make such an account. */
export const createAccount = (auth: string | undefined) =>
  overlay(close => (
    <ResourceForm
      title={t('form.create', { name: t('noun.accounts') })}
      call="POST /{area}/account"
      params={{}}
      fields={createFields}
      values={{ auth: makes.some(one => one === auth) ? auth : usual, language: currentSelf()?.language }}
      body={bodyOf}
      isEdit={false}
      errors={{ fields: { duplicateEmail: 'email' } }}
      // the schema of the call has passed what was sent
      success={values => t('message.createAuthSuccess', { auth: authName(bodyOf(values) as Pick<Account, 'auth'>) })}
      saved={async (values, answer) => {
        const { ids, isMailed } = answer as Made; // of the call above
        if (!isMailed && !values['password']) void tellUnmailed({ id: ids[0]!, email: String(values['email']) });
      }}
      onClose={() => close()}
    />
  ));

/** What the call answers. */
type Made = { ids: number[]; isMailed: boolean };

/** Its person was to be mailed a link, and no mail can go out: whoever made it sets the first password, or mails the link later. */
async function tellUnmailed(account: Pick<Account, 'id' | 'email'>): Promise<void> {
  const sets = await isSure({
    title: t('account.unmailed'),
    warning: t('account.unmailedText'),
    targets: [account.email],
    level: 'disruptive',
    confirm: t('action.setPassword'),
    leave: t('action.later'),
  });
  if (sets) await setPassword(account);
}

const passwordFields: FormField[] = [
  { name: 'password', label: 'newPassword', kind: 'password', help: 'setPassword', rules: passwordRules },
];

export const setPassword = (account: Pick<Account, 'id' | 'email'>) =>
  overlay(close => (
    <ResourceForm
      title={t('account.setPasswordTitle', { email: account.email })}
      call="PUT /{area}/account/password"
      params={{}}
      draftOf={account.id}
      fields={passwordFields}
      values={{}}
      body={({ password }) => ({ id: account.id, password: password ?? '' })}
      isEdit
      success={t('message.changePasswordSuccess')}
      // §8: of a password the server's message alone
      errors={{ otherwise: '' }}
      widthPx={narrowPx}
      onClose={() => close()}
    />
  ));

const roleFields: FormField[] = [{ name: 'roleID', kind: 'remote', from: 'GET /{area}/metaRoles', help: 'role' }];

export const setRole = (account: Account) =>
  overlay(close => (
    <ResourceForm
      title={t('account.setRoleTitle', { email: account.email })}
      call="PUT /{area}/account/role"
      params={{}}
      draftOf={account.id}
      fields={roleFields}
      values={{ roleID: account.roleID ?? undefined }}
      body={({ roleID }) => ({ accountID: account.id, roleID })}
      isEdit
      version={account.version}
      success={t('message.updateUserRoleSuccess')}
      widthPx={narrowPx}
      onClose={() => close()}
    />
  ));

const zoneFields: FormField[] = [
  { name: 'zoneIDs', kind: 'remote', from: 'GET /client/metaZones', isMultiple: true, help: 'assignZones' },
];

/** Which zones a sub-account sees: those it has are chosen already. */
export async function assignZones(account: Account): Promise<void> {
  let zones;
  try {
    zones = await call('GET /client/{clientId}/zones', { clientId: account.id });
  } catch (error) {
    present(error);
    return;
  }
  await overlay(close => (
    <ResourceForm
      title={t('account.assignZonesTitle', { email: account.email })}
      call="PUT /client/{clientId}/zones"
      params={{ clientId: account.id }}
      draftOf={account.id}
      fields={zoneFields}
      values={{ zoneIDs: zones.map(zone => zone.id) }}
      body={({ zoneIDs }) => ({ zoneIDs: zoneIDs ?? [] })}
      isEdit
      version={account.version}
      success={t('account.zonesAssigned')}
      widthPx={narrowPx}
      onClose={() => close()}
    />
  ));
}
