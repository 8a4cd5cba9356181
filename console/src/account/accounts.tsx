/** Accounts below one's own: customers and sub-accounts of an operator, sub-users of a customer, everybody for an admin. */
import '../node/fleet.css';
import { Link, useSearch } from '@tanstack/react-router';
import { loginTwoFactorTypes } from '#contract/limits.ts';
import { accountStates } from '#contract/states.ts';
import { type Area, area } from '../kit/area.ts';
import { NewButton } from '../kit/new-button.tsx';
import { ofArea } from '../kit/of-area.ts';
import { Status } from '../kit/bits.tsx';
import { useChoices } from '../kit/choices.ts';
import { useCan } from '../kit/permissions.ts';
import { act, type Column, type Filter, options, type Resource, resource, type RowAction } from '../kit/resource.ts';
import { ResourcePage } from '../kit/resource-page.tsx';
import { useRow } from '../kit/use-row.ts';
import { dateTime } from '../kit/time.ts';
import { type Named, t } from '../kit/text.ts';
import { editFields } from './fields.ts';
import { assignZones, createAccount, setPassword, setRole } from './forms.tsx';
import { isRoot, signInAs } from './proxy.ts';
import { type Account, accountsPage, authName, why, whyOwn } from './state.ts';

/** The role's name; a role one may not assign keeps its number. */
function Role({ account }: { account: Account }) {
  const { options, isPending } = useChoices({ from: 'GET /{area}/metaRoles' }, {});
  const { roleID: id } = account;
  // roles of other trees are their own affair
  if (id === null || !takesRole(account)) return <span className="ink-3">–</span>;
  return options.find(role => role.value === id)?.label ?? (isPending ? '' : `#${id}`);
}

function Kind({ account }: { account: Account }) {
  // the vendor's are called what the filter calls them
  if (account.isRoot || account.auth === 'admin') return t(`auth.${account.auth}`);
  return t(account.auth === area ? 'accountKind.client' : 'account.subOf', { auth: t(`auth.${account.auth}`) });
}

function State({ account }: { account: Account }) {
  if (account.hasPassword) return <Status value={account.status} />;
  // whoever cannot sign in is not well, whatever else holds
  const note = t('account.noPassword');
  if (account.status === 'normal')
    return (
      <span className="status">
        <span className="status-dot warn" aria-hidden />
        {note}
      </span>
    );
  return (
    <span>
      <Status value={account.status} />
      <span className="cell-note">{note}</span>
    </span>
  );
}

/** Roles are of one's own tree: sub-accounts of one's own area have them, roots have everything. */
const takesRole = (account: Account) => !account.isRoot && account.auth === area;

function CreateButton() {
  const can = useCan();
  const { auth } = useSearch({ strict: false }) as { auth?: string };
  if (!can('POST /{area}/account')) return null;
  return <NewButton onPress={() => void createAccount(auth)} />;
}

/** What follows for those that hang on it: its sub-accounts, an operator's customers too; never sites. */
const stopped = (rows: Account[]) =>
  t(
    rows.some(one => one.isRoot && one.auth === 'client')
      ? 'warning.stopOperator'
      : rows.some(one => one.isRoot)
        ? 'warning.stopRoot'
        : 'warning.stopAccount',
  );

const status = (name: 'pause' | 'resume' | 'lock' | 'unlock', to: 'normal' | 'pause' | 'lock') =>
  act<Account, 'PUT /{area}/account'>('PUT /{area}/account', {
    name,
    why: why(name),
    level: to === 'normal' ? 'reversible' : 'disruptive',
    warning: to === 'normal' ? undefined : stopped,
    body: ([account]) => ({ id: account!.id, status: to }),
  });

const search: Filter = { name: 'name', kind: 'search' };
const state: Filter = { name: 'status', kind: 'select', ...options(accountStates, 'state') };
const operator: Filter = {
  name: 'client',
  kind: 'select',
  from: 'GET /{area}/accounts',
  query: { auth: 'client' },
  searchBy: 'name',
  text: row => String(row['email']),
};
/** Whom a role is given to: by the number of a role, too (roles.tsx). */
const ofRole: Filter = { name: 'roleID', kind: 'select', from: 'GET /{area}/metaRoles' };
const kinds = ['user', 'client'] as const;
const vendorKinds = ['user', 'client', 'admin'] as const;
const role: Column<Account> = { name: 'roleID', width: 130, render: account => <Role account={account} /> };

/** An operator's root says which zones a sub-account sees. */
const zones: RowAction<Account> = {
  name: 'assignZones',
  call: 'PUT /client/{clientId}/zones',
  when: account => isRoot() && takesRole(account),
  why: whyOwn,
  run: ([account]) => assignZones(account!),
};

interface Here {
  empty: Named<'empty'>;
  filters: Filter[];
  /** Whose customers are a list of their own. */
  hasCustomers: (account: Account) => boolean;
  more: RowAction<Account>[];
}
/** What the list is in each area. */
const lists: Record<Area, Here> = {
  user: {
    empty: 'accountsUser',
    filters: [search, state, ofRole],
    hasCustomers: () => false,
    more: [],
  },
  client: {
    empty: 'accounts',
    filters: [search, { name: 'auth', kind: 'segments', ...options(kinds, 'accountKind') }, state, ofRole],
    hasCustomers: () => false,
    more: [zones],
  },
  admin: {
    empty: 'accountsAdmin',
    filters: [search, { name: 'auth', kind: 'segments', ...options(vendorKinds, 'auth') }, state, operator, ofRole],
    hasCustomers: account => account.auth === 'client' && account.isRoot,
    more: [],
  },
};
const here = ofArea(lists);

const customersOf: RowAction<Account> = {
  name: 'customers',
  when: here.hasCustomers,
  to: account => `${accountsPage()}?auth=user&client=${account.id}`,
};

/** Everything below an account: of an operator also its customers, of a customer its sub-accounts. */
const subAccounts: RowAction<Account> = {
  name: 'subAccounts',
  call: 'GET /{area}/account/{id}/subs',
  to: account => `${accountsPage()}?below=${account.id}`,
};

const accounts = resource<'GET /{area}/accounts'>({
  name: 'accounts',
  list: 'GET /{area}/accounts',
  empty: here.empty,
  defaultSort: '-createdAt',
  rowName: account => account.email,
  columns: [
    { name: 'email', sort: true, link: 'edit', width: 230 },
    { name: 'name', sort: true, width: 150 },
    { name: 'auth', width: 120, render: account => <Kind account={account} /> },
    { name: 'status', sort: true, width: 130, render: account => <State account={account} /> },
    role,
    {
      name: 'expired',
      sort: true,
      width: 170,
      render: account => (account.expired ? dateTime(account.expired) : <span className="ink-3">{t('preset.never')}</span>),
    },
    { name: 'twoFactor', kind: 'option', texts: 'twoFactor', isOptional: true },
    { name: 'language', kind: 'option', texts: 'languageName', isOptional: true },
    { name: 'timezone', isOptional: true },
    { name: 'maxLogExportTimes', kind: 'number', isOptional: true },
    { name: 'createdBy', width: 200, isOptional: true },
    { name: 'createdAt', kind: 'time', sort: true },
    { name: 'id', kind: 'number', isOptional: true },
  ],
  filters: here.filters,
  update: 'PUT /{area}/account',
  remove: 'DELETE /{area}/account',
  removal: 'destructive',
  said: {
    updated: account => t('message.updateAuthSuccess', { auth: authName(account) }),
    removed: rows => t('message.removeAuthSuccess', { auth: authName(rows[0]!) }),
  },
  whyFixed: whyOwn,
  fields: editFields,
  actions: [
    {
      name: 'proxy',
      call: 'POST /{area}/proxy',
      when: () => isRoot(),
      why: why('switchTo'),
      run: ([account]) => signInAs(account!),
    },
    customersOf,
    subAccounts,
    { name: 'setPassword', call: 'PUT /{area}/account/password', why: whyOwn, run: ([account]) => setPassword(account!) },
    act<Account, 'POST /{area}/account/resendEmail'>('POST /{area}/account/resendEmail', {
      name: 'resendEmail',
      why: whyOwn,
      level: 'reversible',
      success: () => t('message.resendEmailSuccess'),
      body: ([account]) => ({ id: account!.id }),
    }),
    act<Account, 'PUT /{area}/account'>('PUT /{area}/account', {
      name: 'resetTwoFactor',
      why: whyOwn,
      level: 'disruptive',
      warning: 'resetTwoFactor',
      success: () => t('message.editAccountSuccess'),
      body: ([account]) => ({ id: account!.id, twoFactor: loginTwoFactorTypes.none }),
    }),
    { name: 'setRole', call: 'PUT /{area}/account/role', when: takesRole, why: whyOwn, run: ([account]) => setRole(account!) },
    ...here.more,
    status('resume', 'normal'),
    status('pause', 'pause'),
    status('unlock', 'normal'),
    status('lock', 'lock'),
  ],
});

/** The same list, of those below one account. */
const subs: Resource<'GET /{area}/account/{id}/subs'> = {
  ...accounts,
  list: 'GET /{area}/account/{id}/subs',
  empty: 'subAccounts',
  filters: [search],
};

function Below({ id }: { id: number }) {
  const account = useRow<Account>(accounts, {}, id);
  return (
    <ResourcePage
      resource={subs}
      params={{ id }}
      note={
        <>
          <Link to={accountsPage()}>← {t('account.all')}</Link>
          {account && ` · ${t('account.below', { email: account.email })}`}
        </>
      }
    />
  );
}

export default function Accounts() {
  const below = Number((useSearch({ strict: false }) as { below?: unknown }).below);
  if (Number.isInteger(below) && below > 0) return <Below key={below} id={below} />;
  return <ResourcePage resource={accounts} extra={<CreateButton />} emptyAction={<CreateButton />} />;
}
