/**
 * A page of settings: its sections in groups beside what is open, narrowed by what one looks for. Which one is open stands in the address,
 * and who may not read one does not see it. On a telephone the sections are one choice above.
 */
import { SearchOutlined } from '@ant-design/icons';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Input } from 'antd';
import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { useCan } from './permissions.ts';
import type { Params } from './resource.ts';
import type { FoundTab } from './screens.ts';
import { asSearch } from './search.ts';
import { useAnyDirty } from './sections-state.ts';
import { LockedTab, openTab } from './tabs.tsx';
import { type Named, t } from './text.ts';

/** A section: a tab that stands in a group. */
export interface SettingSection extends FoundTab {
  group: Named<'group'>;
}
interface Props {
  sections: readonly SettingSection[];
  params: Params;
  label: string;
}

export function Sections({ sections, params, label }: Props) {
  const can = useCan();
  // any page's address: which section is open is this one's own
  const search = useSearch({ strict: false }) as { tab?: string };
  const { allowed, current } = openTab(sections, search.tab, can);
  return (
    <div className="sections">
      <Choice sections={allowed} current={current} label={label} />
      <Navigation sections={allowed} current={current} label={label} />
      <div className="section">
        {current ? (
          <>
            <h2 className="section-name">{t(`tab.${current.name}`)}</h2>
            <current.Content key={current.name} params={params} />
          </>
        ) : (
          <LockedTab />
        )}
      </div>
    </div>
  );
}

interface NavigationProps {
  sections: readonly SettingSection[];
  current: SettingSection | undefined;
  label: string;
}

function Navigation({ sections, current, label }: NavigationProps) {
  const [typed, type] = useState('');
  const navigate = useNavigate();
  const isDirty = useAnyDirty();
  const list = useRef<HTMLElement>(null);
  const found = groupsOf(sections).flatMap(([, its]) => its.filter(section => holds(section, typed)));
  useEffect(() => {
    list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
  }, [current?.name]);
  const [first] = found;
  return (
    <nav ref={list} className="sections-nav wide-only" aria-label={label}>
      <Input
        className="sections-search"
        prefix={<SearchOutlined className="ink-3" />}
        allowClear
        placeholder={t('sections.search')}
        aria-label={t('sections.search')}
        value={typed}
        onChange={event => type(event.target.value)}
        onPressEnter={() => {
          if (!typed.trim() || !first) return;
          void navigate({ to: '.', search: asSearch({ tab: first.name }) });
          type('');
        }}
      />
      {groupsOf(found).map(([group, its]) => (
        <Group key={group} name={t(`group.${group}`)}>
          {its.map(section => (
            <Link
              key={section.name}
              to="."
              search={asSearch({ tab: section.name })}
              className="sections-link"
              aria-current={section === current ? 'page' : undefined}
            >
              {t(`tab.${section.name}`)}
              {section === current && isDirty && (
                <span className="status-dot warn" role="img" aria-label={t('setting.unsaved')} />
              )}
            </Link>
          ))}
        </Group>
      ))}
      {!first && (
        <p className="ink-3" role="status">
          {t('empty.noMatch')}
        </p>
      )}
    </nav>
  );
}

function Group({ name, children }: { name: string; children: ReactNode }) {
  const id = useId();
  return (
    <div role="group" aria-labelledby={id}>
      <div id={id} className="sections-group">
        {name}
      </div>
      {children}
    </div>
  );
}

/** The telephone's own wheel holds any number of them. */
function Choice({ sections, current, label }: NavigationProps) {
  const navigate = useNavigate();
  return (
    <select
      className="sections-choice narrow-only"
      aria-label={label}
      value={current?.name ?? ''}
      onChange={event => void navigate({ to: '.', search: asSearch({ tab: event.target.value }) })}
    >
      {!current && <option value="">{t('sections.choose')}</option>}
      {groupsOf(sections).map(([group, its]) => (
        <optgroup key={group} label={t(`group.${group}`)}>
          {its.map(({ name }) => (
            <option key={name} value={name}>
              {t(`tab.${name}`)}
            </option>
          ))}
        </optgroup>
      ))}
    </select>
  );
}

/** In the order in which their first sections stand. */
const groupsOf = (sections: readonly SettingSection[]) => [...Map.groupBy(sections, section => section.group)];

function holds({ name, group, finds = [] }: SettingSection, typed: string): boolean {
  const wanted = typed.trim().toLocaleLowerCase();
  const words = [t(`tab.${name}`), t(`group.${group}`), name, ...finds.map(field => t(`field.${field}`))];
  return words.some(word => word.toLocaleLowerCase().includes(wanted));
}
