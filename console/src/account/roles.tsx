/** Roles: sets of permissions for sub-accounts, never more than one holds. */
import '../node/fleet.css';
import { Checkbox } from 'antd';
import { call, type RowOf } from '../kit/client.ts';
import { eachRow } from '../kit/each.ts';
import { notify } from '../kit/notice.ts';
import { present } from '../kit/present.tsx';
import { queryClient } from '../kit/query.ts';
import { resource } from '../kit/resource.ts';
import { ResourcePage } from '../kit/resource-page.tsx';
import { currentSelf } from '../kit/session.ts';
import { t, tOf } from '../kit/text.ts';
import { changed, changedAll, keysOf, resourcesOf, rights } from './matrix.ts';

type Role = RowOf<'GET /{area}/roles'>;
/** The permissions one may grant, a row for each resource. */
function Matrix({
  value,
  onChange,
  disabled,
}: {
  value: readonly string[];
  onChange: (keys: string[]) => void;
  disabled?: boolean;
}) {
  const grantable = currentSelf()?.permissionKeys ?? [];
  const held = new Set(value);
  return (
    <table className="matrix">
      <thead>
        <tr>
          <th scope="col">{t('role.resource')}</th>
          {rights.map(right => {
            const keys = keysOf(grantable, right);
            const count = keys.filter(key => held.has(key)).length;
            return (
              <th key={right} scope="col">
                <Checkbox
                  disabled={disabled}
                  checked={count === keys.length && count > 0}
                  indeterminate={count > 0 && count < keys.length}
                  onChange={({ target }) => onChange(changedAll(value, right, target.checked, grantable))}
                >
                  {t(`role.${right}`)}
                </Checkbox>
              </th>
            );
          })}
        </tr>
      </thead>
      <tbody>
        {resourcesOf(grantable).map(name => (
          <tr key={name}>
            <th scope="row">{tOf('resource', name)}</th>
            {rights.map(right => {
              const key = `${name}.${right}`;
              return (
                <td key={right}>
                  {grantable.includes(key) && (
                    <Checkbox
                      disabled={disabled}
                      aria-label={`${tOf('resource', name)}: ${t(`role.${right}`)}`}
                      checked={held.has(key)}
                      onChange={({ target }) => onChange(changed(value, name, right, target.checked, grantable))}
                    />
                  )}
                </td>
              );
            })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** "sites (edit), logs (view)": what a role holds, at a glance. */
function summary(keys: readonly string[]): string {
  return resourcesOf(keys)
    .map(name => t(keys.includes(`${name}.edit`) ? 'role.mayEdit' : 'role.mayView', { resource: tOf('resource', name) }))
    .join(t('role.comma'));
}

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
      render: ({ value, onChange, disabled }) => (
        <Matrix value={(value as string[]) ?? []} onChange={onChange} disabled={disabled} />
      ),
    },
  ],
  actions: [
    {
      name: 'remove',
      call: 'DELETE /{area}/role/{id}',
      isBatch: true,
      isDanger: true,
      level: 'destructive',
      warning: 'removeRole',
      run: remove,
    },
  ],
});

export default function Roles() {
  return <ResourcePage resource={roles} />;
}
