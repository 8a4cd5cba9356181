/** The bar over the access log. */
import { FilterOutlined, ReloadOutlined } from '@ant-design/icons';
import { useQuery } from '@tanstack/react-query';
import { Button, Input, Segmented, Select, Switch } from 'antd';
import { useEffect, useRef, useState } from 'react';
import { ofArea } from '../kit/of-area.ts';
import { inPlace } from '../kit/later.tsx';
import { useCan } from '../kit/permissions.ts';
import { query } from '../kit/query.ts';
import { shortcut } from '../kit/shortcuts.ts';
import { t, tOf } from '../kit/text.ts';
import { useNarrow } from '../kit/use-narrow.ts';
import {
  bodyOf,
  cacheStatuses,
  filterNames,
  isFiltered,
  logRanges,
  type LogProblem,
  type LogRange,
  type LogState,
  noFilters,
} from './log-query.ts';

const RangeInput = inPlace(async () => (await import('../kit/time-input.tsx')).RangeInput);
const ranges: LogRange[] = [...(Object.keys(logRanges) as LogRange[]), 'custom'];
export const liveSeconds = 5;

interface Props {
  state: LogState;
  change: (part: Partial<LogState>) => void;
  problem: LogProblem | undefined;
  refresh: () => void;
  isFetching: boolean;
}

const sites = ofArea({ user: 'GET /user/metaSites', client: 'GET /client/metaSites' });
export function useSites() {
  const can = useCan();
  return useQuery({ ...query(sites), enabled: can(sites), staleTime: 60_000 });
}

/** A range of one's own begins as the range seen so far. */
function customOf(state: LogState): Partial<LogState> {
  const { startTime, endTime } = bodyOf(state, Date.now());
  return { range: 'custom', startTime, endTime, isLive: false };
}

export function LogFilters({ state, change, problem, refresh, isFetching }: Props) {
  const isNarrow = useNarrow();
  const [isOpen, setOpen] = useState(false);
  useEffect(() => shortcut('r', refresh), [refresh]);
  const count = filterNames.filter(name => state[name].length > 0).length;
  return (
    <>
      <div className="toolbar">
        <Segmented
          aria-label={t('log.range')}
          value={state.range}
          options={ranges.map(value => ({ value, label: t(`log.${value}`) }))}
          onChange={range => change(range === 'custom' ? customOf(state) : { range, startTime: undefined, endTime: undefined })}
        />
        {state.range === 'custom' && (
          <RangeInput
            label={t('log.range')}
            startTime={state.startTime}
            endTime={state.endTime}
            onChange={(startTime, endTime) => change({ startTime, endTime })}
          />
        )}
        <span className="grow" />
        {isNarrow && (
          <Button icon={<FilterOutlined />} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {t('list.filters')}
            {count > 0 && ` (${count})`}
          </Button>
        )}
        {state.range !== 'custom' && (
          <label className="log-live" title={t('log.liveHelp', { seconds: liveSeconds })}>
            <Switch size="small" checked={state.isLive} onChange={isLive => change({ isLive, page: 1 })} />
            {t('log.live')}
          </label>
        )}
        <Button
          type="text"
          icon={<ReloadOutlined spin={isFetching && !state.isLive} />}
          aria-label={t('list.refresh')}
          title={`${t('list.refresh')} (R)`}
          onClick={refresh}
        />
      </div>
      {(!isNarrow || isOpen) && <Fields state={state} change={change} problem={problem} />}
    </>
  );
}

function Fields({ state, change, problem }: Pick<Props, 'state' | 'change' | 'problem'>) {
  const sites = useSites();
  const wrong = (field: LogProblem['field']) => (problem?.field === field ? 'error' : undefined);
  return (
    <div className="toolbar log-filters">
      <Select
        className="log-filter-wide"
        mode="multiple"
        allowClear
        maxTagCount="responsive"
        showSearch={{ optionFilterProp: 'label' }}
        placeholder={t('log.sites')}
        aria-label={t('log.sites')}
        loading={sites.isPending && sites.isFetching}
        options={sites.data?.map(site => ({ value: site.id, label: site.siteName }))}
        value={state.sites}
        onChange={next => change({ sites: next })}
      />
      <TextFilter label={t('log.uri')} value={state.uri} onChange={uri => change({ uri })} className="log-filter-wide" isMain />
      <TextFilter
        label={t('log.domain')}
        hint={t('log.domainHint')}
        value={state.domain}
        onChange={domain => change({ domain })}
        className="log-filter"
      />
      <TextFilter
        label={t('log.ip')}
        value={state.ip}
        onChange={ip => change({ ip })}
        className="log-filter"
        status={wrong('ip')}
      />
      <TextFilter
        label={t('log.status')}
        value={state.status}
        onChange={status => change({ status })}
        className="log-filter-short"
        status={wrong('status')}
      />
      <Select
        className="log-filter"
        allowClear
        placeholder={t('log.cache')}
        aria-label={t('log.cache')}
        options={cacheStatuses.map(value => ({
          value,
          label: value === '-' ? tOf('cacheState', value) : value,
          title: tOf('cacheState', value),
        }))}
        value={state.cache || undefined}
        onChange={cache => change({ cache: cache ?? '' })}
      />
      <TextFilter
        label={t('logField.requestID')}
        hint={t('log.requestIDHint')}
        value={state.id}
        onChange={id => change({ id })}
        className="log-filter"
      />
      {isFiltered(state) && (
        <Button type="text" onClick={() => change(noFilters)}>
          {t('list.clearFilters')}
        </Button>
      )}
    </div>
  );
}

interface TextProps {
  label: string;
  hint?: string;
  value: string;
  onChange: (value: string) => void;
  className: string;
  status?: 'error';
  isMain?: boolean;
}

/** Enter searches; leaving the field does too. */
function TextFilter({ label, hint, value, onChange, className, status, isMain }: TextProps) {
  const [typed, setTyped] = useState(value);
  const [last, setLast] = useState(value);
  // Cleared from elsewhere, or a step back in the history.
  if (last !== value) {
    setLast(value);
    setTyped(value);
  }
  const input = useRef<{ focus: () => void }>(null);
  useEffect(() => (isMain ? shortcut('/', () => input.current?.focus()) : undefined), [isMain]);
  const apply = (next: string) => next.trim() !== value && onChange(next.trim());
  return (
    <Input
      ref={input as never}
      className={className}
      allowClear
      placeholder={label}
      aria-label={label}
      aria-invalid={status === 'error'}
      title={hint}
      status={status}
      spellCheck={false}
      autoComplete="off"
      value={typed}
      onChange={event => setTyped(event.target.value)}
      onClear={() => apply('')}
      onPressEnter={() => apply(typed)}
      onBlur={() => apply(typed)}
    />
  );
}
