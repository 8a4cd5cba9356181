/** The bar over a list: filters, columns, refresh. */
import { FilterOutlined, ReloadOutlined, SettingOutlined } from '@ant-design/icons';
import { Button, Checkbox, Popover } from 'antd';
import { useEffect, useState } from 'react';
import type { FilterValue, ListState } from './list-state.ts';
import { FilterInput } from './filter-input.tsx';
import { filterNamesOf, type Params, type Resource, type Row } from './resource.ts';
import { SaveButton, type Saving } from './save-button.tsx';
import { t, tOf } from './text.ts';
import { shortcut } from './shortcuts.ts';
import { useNarrow } from './use-narrow.ts';

const without = (filters: ListState['filters'], names: readonly string[]) =>
  Object.fromEntries(Object.entries(filters).filter(([name]) => !names.includes(name)));
const given = (ends: Record<string, string | undefined>) =>
  Object.fromEntries(Object.entries(ends).flatMap(([name, value]) => (value ? [[name, value]] : [])));

interface FilterBarProps {
  resource: Resource<never, Row>;
  params: Params;
  state: ListState;
  change: (part: Partial<ListState>) => void;
  refresh: () => void;
  isFetching: boolean;
  hidden: readonly string[];
  setHidden: (hidden: string[]) => void;
  /** Hands over what the list finds, as a file. */
  save: (saving: Saving) => Promise<void>;
  create?: React.ReactNode;
}

export function FilterBar({
  resource,
  params,
  state,
  change,
  refresh,
  isFetching,
  hidden,
  setHidden,
  save,
  create,
}: FilterBarProps) {
  const isNarrow = useNarrow();
  const [isOpen, setOpen] = useState(false);
  const filters = resource.filters ?? [];
  // on a telephone the first one stands alone: all of them would be all there is to see
  const isFolded = isNarrow && filters.length > 2;
  const folded = isFolded ? filterNamesOf(filters.slice(1)).filter(name => name in state.filters).length : 0;
  useEffect(() => shortcut('r', refresh), [refresh]);
  function set(name: string, value: FilterValue | undefined) {
    const { [name]: _, ...rest } = state.filters;
    const isEmpty = value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
    change({ filters: isEmpty ? rest : { ...rest, [name]: value } });
  }
  return (
    <div className="toolbar">
      {(isFolded && !isOpen ? filters.slice(0, 1) : filters).map(filter => (
        <FilterInput
          key={filter.name}
          filter={filter}
          params={params}
          filters={state.filters}
          onChange={value => set(filter.name, value)}
          onRange={ends => change({ filters: { ...without(state.filters, Object.keys(ends)), ...given(ends) } })}
        />
      ))}
      <span className="grow" />
      {isFolded && <FilterToggle isOpen={isOpen} count={folded} onToggle={() => setOpen(!isOpen)} />}
      <Popover
        trigger="click"
        placement="bottomRight"
        content={
          <div className="column-list">
            {resource.columns.slice(1).map(column => (
              <Checkbox
                key={column.name}
                checked={!hidden.includes(column.name)}
                onChange={({ target }) =>
                  setHidden(target.checked ? hidden.filter(name => name !== column.name) : [...hidden, column.name])
                }
              >
                {tOf('field', column.label ?? column.name)}
              </Checkbox>
            ))}
          </div>
        }
      >
        <Button type="text" icon={<SettingOutlined />} aria-label={t('list.columns')} title={t('list.columns')} />
      </Popover>
      {!resource.export && <SaveButton save={save} note={resource.file && t(`note.${resource.file.note}`)} />}
      <Button
        type="text"
        icon={<ReloadOutlined spin={isFetching} />}
        aria-label={t('list.refresh')}
        title={`${t('list.refresh')} (R)`}
        onClick={refresh}
      />
      {create}
    </div>
  );
}

/** Shows the filters that have no room on a telephone; how many of them are set is said. */
export function FilterToggle({ isOpen, count, onToggle }: { isOpen: boolean; count: number; onToggle: () => void }) {
  return (
    <Button icon={<FilterOutlined />} aria-expanded={isOpen} onClick={onToggle}>
      {t('list.filters')}
      {count > 0 && ` (${count})`}
    </Button>
  );
}
