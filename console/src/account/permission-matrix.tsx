/** The permissions one may grant: a row for each resource, in groups; a search among them, boxes over a group or a column, presets. */
import '../node/fleet.css';
import { SearchOutlined } from '@ant-design/icons';
import { Button, Checkbox, Input } from 'antd';
import { useState } from 'react';
import { currentSelf } from '../kit/session.ts';
import { t, tOf } from '../kit/text.ts';
import { changed, changedAll, grouped, heldOf, keysOf, presetKeys, presets, resourcesOf, type Right, rights } from './matrix.ts';

/** Fewer rows are found at a glance. */
const searchFrom = 9;

interface Props {
  value: readonly string[];
  onChange: (keys: string[]) => void;
  disabled?: boolean;
  /** what can be granted here, where that is less than one holds */
  grantable?: readonly string[];
  id?: string;
}

/** "sites (edit), logs (view)": what a role or a token holds, at a glance. */
export function summary(keys: readonly string[]): string {
  return resourcesOf(keys)
    .map(name => t(keys.includes(`${name}.edit`) ? 'role.mayEdit' : 'role.mayView', { resource: tOf('resource', name) }))
    .join(t('role.comma'));
}

export function Matrix({ value, onChange, disabled, grantable = currentSelf()?.permissionKeys ?? [], id }: Props) {
  const [word, setWord] = useState('');
  const held = new Set(value);
  const all = resourcesOf(grantable);
  const shown = all.filter(name => tOf('resource', name).toLowerCase().includes(word.trim().toLowerCase()));
  const setColumn = (right: Right, isOn: boolean, resources: readonly string[]) =>
    onChange(changedAll(value, right, isOn, grantable, resources));
  /** A box over several rows. */
  const over = (right: Right, resources: readonly string[], label: string, isNamed: boolean) => {
    const keys = keysOf(grantable, right).filter(key => resources.includes(key.slice(0, key.lastIndexOf('.'))));
    if (!keys.length) return null;
    const state = heldOf(keys, held);
    return (
      <Checkbox
        disabled={disabled}
        aria-label={isNamed ? undefined : label}
        checked={state === 'all'}
        indeterminate={state === 'some'}
        onChange={({ target }) => setColumn(right, target.checked, resources)}
      >
        {isNamed && label}
      </Checkbox>
    );
  };
  return (
    <div className="matrix-box" id={id}>
      {!disabled && (
        <div className="matrix-tools">
          <span className="ink-3">{t('role.presets')}</span>
          {presets.map(name => (
            <Button key={name} size="small" onClick={() => onChange(presetKeys(name, grantable))}>
              {t(`rolePreset.${name}`)}
            </Button>
          ))}
          <Button size="small" type="text" disabled={!value.length} onClick={() => onChange([])}>
            {t('role.clear')}
          </Button>
        </div>
      )}
      {all.length >= searchFrom && (
        <Input
          allowClear
          type="search"
          prefix={<SearchOutlined className="ink-3" />}
          aria-label={t('role.search')}
          placeholder={t('role.search')}
          value={word}
          onChange={event => setWord(event.target.value)}
          // the form is not meant
          onPressEnter={event => event.preventDefault()}
        />
      )}
      <table className="matrix">
        <thead>
          <tr>
            <th scope="col">
              {t('role.resource')}{' '}
              <span aria-live="polite">{t('role.held', { count: value.length, total: grantable.length })}</span>
            </th>
            {rights.map(right => (
              <th key={right} scope="col">
                {over(right, shown, t(`role.${right}`), true)}
              </th>
            ))}
          </tr>
        </thead>
        {grouped(shown).map(group => (
          <tbody key={group.name}>
            <tr className="matrix-group">
              <th scope="rowgroup">{t(`roleGroup.${group.name}`)}</th>
              {rights.map(right => (
                <td key={right}>
                  {over(right, group.resources, `${t(`roleGroup.${group.name}`)}: ${t(`role.${right}`)}`, false)}
                </td>
              ))}
            </tr>
            {group.resources.map(name => (
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
        ))}
      </table>
      {!shown.length && <p className="ink-3">{t('role.noMatch')}</p>}
    </div>
  );
}

/** The same as a field of a form. */
export const matrixField = ({ value, ...input }: { value: unknown } & Omit<Props, 'value'>) => (
  // what such a field holds, it began with a list
  <Matrix {...input} value={(value as string[] | undefined) ?? []} />
);
