/** The bar over a list: filters, columns, refresh. */
import { ReloadOutlined, SettingOutlined } from '@ant-design/icons';
import { Button, Checkbox, Input, Popover, Segmented, Select } from 'antd';
import { useEffect, useRef, useState } from 'react';
import type { FilterValue, ListState } from './list-state.ts';
import { useChoices } from './choices.ts';
import type { Filter, Params, Resource } from './resource.ts';
import type { Row } from './table.tsx';
import { t, tOf } from './text.ts';
import { shortcut } from './shortcuts.ts';

interface FilterBarProps {
  resource: Resource<never, Row>;
  params: Params;
  state: ListState;
  change: (part: Partial<ListState>) => void;
  refresh: () => void;
  isFetching: boolean;
  hidden: readonly string[];
  setHidden: (hidden: string[]) => void;
  create?: React.ReactNode;
}

export function FilterBar({ resource, params, state, change, refresh, isFetching, hidden, setHidden, create }: FilterBarProps) {
  useEffect(() => shortcut('r', refresh), [refresh]);
  function set(name: string, value: FilterValue | undefined) {
    const { [name]: _, ...rest } = state.filters;
    const isEmpty = value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
    change({ filters: isEmpty ? rest : { ...rest, [name]: value } });
  }
  return (
    <div className="toolbar">
      {resource.filters?.map(filter => (
        <FilterInput
          key={filter.name}
          filter={filter}
          params={params}
          value={state.filters[filter.name]}
          onChange={value => set(filter.name, value)}
        />
      ))}
      <span className="grow" />
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
                {t(`field.${(column.label ?? column.name) as never}`)}
              </Checkbox>
            ))}
          </div>
        }
      >
        <Button type="text" icon={<SettingOutlined />} aria-label={t('list.columns')} title={t('list.columns')} />
      </Popover>
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

interface InputProps {
  filter: Filter;
  params: Params;
  value: FilterValue | undefined;
  onChange: (value: FilterValue | undefined) => void;
}

function FilterInput({ filter, params, value, onChange }: InputProps) {
  const label = t(`field.${filter.name}`);
  switch (filter.kind) {
    case 'search':
    case 'text':
      return (
        <SearchInput
          value={String(value ?? '')}
          onChange={onChange}
          label={filter.kind === 'search' ? t('list.search') : label}
          isMain={filter.kind === 'search'}
        />
      );
    case 'tags':
      return (
        <Select
          mode="tags"
          className="filter-select"
          placeholder={label}
          aria-label={label}
          value={(value as string[]) ?? []}
          onChange={onChange}
          tokenSeparators={[',', ' ']}
          maxTagCount={2}
        />
      );
    case 'segments':
      return (
        <Segmented
          aria-label={label}
          value={(value as string) ?? ''}
          options={[
            { value: '', label: t('list.all') },
            ...filter.values.map(one => ({ value: one, label: tOf(filter.texts ?? '', one) })),
          ]}
          onChange={next => onChange(next as string)}
        />
      );
    case 'select':
      return <SelectFilter filter={filter} params={params} value={value} onChange={onChange} label={label} />;
  }
}

function SelectFilter({
  filter,
  params,
  value,
  onChange,
  label,
}: InputProps & { label: string; filter: Extract<Filter, { kind: 'select' }> }) {
  const { options, isPending } = useChoices(filter, params);
  return (
    <Select
      className="filter-select"
      allowClear
      showSearch={{ optionFilterProp: 'label' }}
      placeholder={label}
      aria-label={label}
      loading={isPending}
      options={options}
      value={value as never}
      onChange={onChange}
    />
  );
}

/** Enter searches; leaving the field does too. */
function SearchInput({
  value,
  onChange,
  label,
  isMain,
}: {
  value: string;
  onChange: (value: string) => void;
  label: string;
  isMain: boolean;
}) {
  const [typed, setTyped] = useState(value);
  const input = useRef<{ focus: () => void }>(null);
  useEffect(() => setTyped(value), [value]);
  useEffect(() => (isMain ? shortcut('/', () => input.current?.focus()) : undefined), [isMain]);
  const apply = () => typed.trim() !== value && onChange(typed.trim());
  return (
    <Input.Search
      ref={input as never}
      className="filter-search"
      allowClear
      placeholder={label}
      aria-label={label}
      value={typed}
      onChange={event => setTyped(event.target.value)}
      onSearch={text => onChange(text.trim())}
      onBlur={apply}
    />
  );
}
