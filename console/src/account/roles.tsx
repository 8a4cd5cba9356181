/** Roles: sets of permissions for sub-accounts, never more than one holds. */
import { call, type RowOf } from '../kit/client.ts';
import { eachRow } from '../kit/each.ts';
import { notify } from '../kit/notice.ts';
import { present } from '../kit/present.tsx';
import { queryClient } from '../kit/query.ts';
import { resource } from '../kit/resource.ts';
import { ResourcePage } from '../kit/resource-page.tsx';
import { t } from '../kit/text.ts';
import { number } from '../kit/units.ts';
import { matrixField, summary } from './permission-matrix.tsx';

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

/** How many people are left without a role: before it is done. */
function lost(roles: Role[]): string {
  const count = roles.reduce((sum, { holders }) => sum + holders, 0);
  return count ? t('role.lost', { count: number(count) }) : t('role.unheld');
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
    { name: 'holders', kind: 'number', width: 120 },
    { name: 'createdAt', kind: 'time', sort: true },
    { name: 'updatedAt', kind: 'time', sort: true, isOptional: true },
  ],
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
