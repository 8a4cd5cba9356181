/** Roles: sets of permissions for sub-accounts, never more than one holds. */
import { Link } from '@tanstack/react-router';
import { call, type RowOf } from '../kit/client.ts';
import { eachRow } from '../kit/each.ts';
import { notify } from '../kit/notice.ts';
import { useCan } from '../kit/permissions.ts';
import { present } from '../kit/present.tsx';
import { queryClient } from '../kit/query.ts';
import { resource } from '../kit/resource.ts';
import { ResourcePage } from '../kit/resource-page.tsx';
import { t } from '../kit/text.ts';
import { number } from '../kit/units.ts';
import { matrixField, summary } from './permission-matrix.tsx';
import { accountsPage } from './state.ts';

type Role = RowOf<'GET /{area}/roles'>;
async function remove(roles: Role[]) {
  try {
    const remove = ({ id }: Role) => call('DELETE /{area}/role/{id}', { id });
    if (roles.length === 1) await remove(roles[0]!);
    else await eachRow(roles, role => role.name, remove);
    notify.success(t('message.removeRoleSuccess'));
    return true;
  } catch (error) {
    present(error, { otherwise: t('message.removeRoleFailed') });
    return false;
  } finally {
    void queryClient.invalidateQueries();
  }
}

const namedMax = 5;
/** Who is left without a role, by name as far as they are few: before it is done. */
async function lost(roles: Role[]): Promise<string> {
  const count = roles.reduce((sum, { holders }) => sum + holders, 0);
  if (!count) return t('role.unheld');
  return t('role.lost', { count, names: await namesOf(roles, count) });
}
async function namesOf(roles: Role[], count: number): Promise<string> {
  const names: string[] = [];
  try {
    for (const { id, holders } of roles)
      if (holders > 0 && names.length <= namedMax) {
        const found = await call('GET /{area}/accounts', { query: { roleID: id, pageSize: 10 } });
        names.push(...found.data.map(({ email }) => email));
      }
  } catch {
    // whoever may see roles and no accounts is told how many there are
    return '';
  }
  if (!names.length) return '';
  const shown = names.slice(0, namedMax);
  return t(count > shown.length ? 'role.holdersSome' : 'role.holdersAll', { names: shown.join(t('role.comma')) });
}

/** How many have it, and the way to them. */
function Holders({ role: { id, holders } }: { role: Role }) {
  const can = useCan();
  if (!holders || !can('GET /{area}/accounts')) return number(holders);
  return (
    <Link to={`${accountsPage()}?roleID=${id}`} title={t('role.seeHolders')}>
      {t('role.holders', { count: holders })}
    </Link>
  );
}

const roles = resource<'GET /{area}/roles'>({
  name: 'roles',
  list: 'GET /{area}/roles',
  defaultSort: 'name',
  rowName: role => role.name,
  columns: [
    { name: 'name', sort: true, link: 'edit', width: 200 },
    {
      name: 'permissionKeys',
      width: 460,
      render: role =>
        role.permissionKeys.length ? summary(role.permissionKeys) : <span className="ink-3">{t('role.nothing')}</span>,
    },
    { name: 'holders', label: 'roleHolders', width: 140, render: role => <Holders role={role} /> },
    { name: 'createdAt', kind: 'time', sort: true },
    { name: 'updatedAt', kind: 'time', sort: true, isOptional: true },
  ],
  filters: [{ name: 'name', kind: 'search' }],
  create: 'POST /{area}/role',
  errors: { fields: { duplicated: 'name' } },
  update: 'PUT /{area}/role/{id}',
  updateBody: values => values,
  said: {
    created: () => t('message.createRoleSuccess'),
    updated: () => t('message.updateRoleSuccess'),
    createFailed: () => t('message.createRoleFailed'),
    updateFailed: () => t('message.updateRoleFailed'),
  },
  fields: [
    { name: 'name', kind: 'text' },
    {
      name: 'permissionKeys',
      kind: 'custom',
      initial: [],
      help: 'permissionKeys',
      render: matrixField,
    },
  ],
  actions: [
    {
      name: 'remove',
      call: 'DELETE /{area}/role/{id}',
      isBatch: true,
      isDanger: true,
      level: 'destructive',
      warning: lost,
      run: remove,
    },
  ],
});

export default function Roles() {
  return <ResourcePage resource={roles} />;
}
