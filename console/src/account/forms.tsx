/** Drawers of the accounts list that are not the plain form of a row. */
import { ofArea } from '../kit/of-area.ts';
import { ResourceForm } from '../kit/form.tsx';
import { call } from '../kit/client.ts';
import { overlay } from '../kit/overlay.ts';
import { present } from '../kit/present.tsx';
import { currentSelf } from '../kit/session.ts';
import type { FormField, Values } from '../kit/resource.ts';
import { t } from '../kit/text.ts';
import { createFields } from './fields.ts';
import { type Account, authName } from './state.ts';

const narrowPx = 480;

/** Of which kind the accounts are that are made here; an operator chooses. */
const made = ofArea({ user: 'user', client: undefined, admin: 'client' });
function bodyOf(values: Values): Values {
  const { password, ...account } = values;
  return {
    ...account,
    ...(password ? { password } : {}),
    auth: made ?? account['auth'],
  };
}

export const createAccount = (auth: string | undefined) =>
  overlay(close => (
    <ResourceForm
      title={t('form.create', { name: t('noun.accounts') })}
      call="POST /{area}/account"
      params={{}}
      fields={createFields}
      values={{ auth: auth ?? 'user', language: currentSelf()?.language }}
      body={bodyOf}
      isEdit={false}
      errors={{ fields: { duplicateEmail: 'email' } }}
      // the schema of the call has passed what was sent
      success={values => t('message.createAuthSuccess', { auth: authName(bodyOf(values) as Pick<Account, 'auth'>) })}
      onClose={() => close()}
    />
  ));

const passwordFields: FormField[] = [{ name: 'password', label: 'newPassword', kind: 'password', help: 'setPassword' }];

export const setPassword = (account: Account) =>
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
