/** One filter of a list. */
import { CalendarOutlined } from '@ant-design/icons';
import { Input, Segmented, Select } from 'antd';
import { useEffect, useRef, useState } from 'react';
import { selectProps, useChoices, useTexts } from './choices.ts';
import { inPlace } from './later.tsx';
import type { FilterValue, ListState } from './list-state.ts';
import { endsOf, type Filter, type Params } from './resource.ts';
import { shortcut } from './shortcuts.ts';
import type { RangeProps } from './time-input.tsx';
import { t, tOf } from './text.ts';
import { useWanted } from './wanted.ts';

const RangeInput = inPlace(async () => (await import('./time-input.tsx')).RangeInput);

interface InputProps {
  filter: Filter;
  params: Params;
  filters: ListState['filters'];
  onChange: (value: FilterValue | undefined) => void;
  onRange: (ends: Record<string, string | undefined>) => void;
}

export function FilterInput({ filter, params, filters, onChange, onRange }: InputProps) {
  const label = t(`field.${filter.name}`);
  const value = filters[filter.name];
  switch (filter.kind) {
    case 'search':
    case 'text':
      return <SearchInput filter={filter} label={label} value={String(value ?? '')} onChange={onChange} />;
    case 'tags':
      return <TagsFilter filter={filter} label={label} value={(value as string[]) ?? []} onChange={onChange} />;
    case 'segments': {
      const { otherwise, texts = '' } = filter;
      const choices = filter.values.map(one => ({ value: one, label: tOf(texts, one) }));
      return (
        <Segmented
          aria-label={label}
          value={(value as string) ?? otherwise ?? ''}
          options={otherwise === undefined ? [{ value: '' as string | number, label: t('list.all') }, ...choices] : choices}
          onChange={next => onChange(next === otherwise ? undefined : next)}
        />
      );
    }
    case 'select':
      return <SelectFilter filter={filter} params={params} value={value} onChange={onChange} label={label} />;
    case 'range': {
      if (filter.when && !filter.when(filters)) return null;
      const [start, end] = endsOf(filter);
      return (
        <RangeFilter
          label={label}
          startTime={filters[start] as string}
          endTime={filters[end] as string}
          isClearable={!filter.when}
          onChange={(startTime, endTime) => onRange({ [start]: startTime, [end]: endTime })}
        />
      );
    }
  }
}

interface TagsProps {
  filter: Extract<Filter, { kind: 'tags' }>;
  label: string;
  value: string[];
  onChange: (value: string[]) => void;
}

function TagsFilter({ filter, label, value, onChange }: TagsProps) {
  const known = useTexts(filter.suggest);
  return (
    <Select
      mode="tags"
      className="filter-select"
      placeholder={label}
      aria-label={label}
      value={value}
      onChange={onChange}
      tokenSeparators={[',', ' ']}
      options={known.map(one => ({ value: one, label: one }))}
      maxTagCount={2}
    />
  );
}

/** The calendar is a tenth of a page, and few lists are narrowed by time: until somebody wants it, a field that looks like it. */
function RangeFilter(range: RangeProps) {
  const { isWanted, isHere, visits } = useWanted();
  const { label, startTime } = range;
  const place = (
    <span className="filter-range">
      <Input
        readOnly
        aria-label={label}
        title={label}
        placeholder={label}
        suffix={<CalendarOutlined className="ink-3" />}
        {...visits}
      />
    </span>
  );
  if (!isWanted && !startTime) return place;
  return <RangeInput {...range} isOpened={isHere} meanwhile={place} />;
}

interface SelectProps {
  filter: Extract<Filter, { kind: 'select' }>;
  params: Params;
  value: FilterValue | undefined;
  onChange: (value: FilterValue | undefined) => void;
  label: string;
}

function SelectFilter({ filter, params, value, onChange, label }: SelectProps) {
  const found = useChoices(filter, params, value);
  return (
    <Select
      className="filter-select"
      style={filter.width ? { width: filter.width, minWidth: 0 } : undefined}
      allowClear
      {...selectProps(found, true)}
      placeholder={label}
      aria-label={label}
      value={value as never}
      onChange={onChange}
    />
  );
}

interface SearchProps {
  filter: Extract<Filter, { kind: 'search' | 'text' }>;
  label: string;
  value: string;
  onChange: (value: string) => void;
}

/** Enter searches; leaving the field does too. */
function SearchInput({ filter, label, value, onChange }: SearchProps) {
  const isMain = filter.kind === 'search';
  const [typed, setTyped] = useState(value);
  const input = useRef<{ focus: () => void }>(null);
  // what the address says wins over what was typed before
  const [seen, setSeen] = useState(value);
  if (seen !== value) {
    setSeen(value);
    setTyped(value);
  }
  useEffect(() => (isMain ? shortcut('/', () => input.current?.focus()) : undefined), [isMain]);
  const common = {
    ref: input as never,
    allowClear: true,
    style: filter.width ? { width: filter.width } : undefined,
    placeholder: isMain ? t('list.search') : label,
    'aria-label': isMain ? t('list.search') : label,
    value: typed,
    onChange: (event: React.ChangeEvent<HTMLInputElement>) => {
      setTyped(event.target.value);
      // The cross at the end of the field.
      if (event.type === 'click') onChange('');
    },
    onBlur: () => typed.trim() !== value && onChange(typed.trim()),
  };
  return isMain ? (
    <Input.Search className="filter-search" {...common} onSearch={text => onChange(text.trim())} />
  ) : (
    <Input className="filter-text" {...common} onPressEnter={() => onChange(typed.trim())} />
  );
}
