/**
 * The few tabs of a page: which one is open stands in the address, and who may not read one does not see it. Where they do not fit beside
 * each other they take another line; a page with many has sections (sections.tsx).
 */
import { Link, useSearch } from '@tanstack/react-router';
import { Empty } from './empty.tsx';
import { inPlace } from './later.tsx';
import { useCan } from './permissions.ts';
import type { Params } from './resource.ts';
import type { Tab } from './screens.ts';
import { t } from './text.ts';
import { asSearch } from './search.ts';

/** What a tab holds, loaded when it is opened: a page does not grow with the tabs it has. */
export function tabContent(load: () => Promise<Tab['Content']>): Tab['Content'] {
  const Content = inPlace(load);
  return ({ params }) => <Content params={params} meanwhile={<div className="panel tab-wait" aria-busy />} />;
}

/** Those that may be seen, and the one that is open. */
export function openTab<T extends Tab>(tabs: readonly T[], name: string | undefined, can: (call: Tab['call']) => boolean) {
  const allowed = tabs.filter(tab => can(tab.call));
  const asked = tabs.find(tab => tab.name === name);
  // An address that names a tab which may not be seen is told so; another one in its place would be taken for it.
  return { allowed, current: asked ? allowed.find(tab => tab === asked) : allowed[0] };
}

export const LockedTab = () => (
  <div className="panel" role="alert">
    <Empty drawing="locked" title={t('empty.locked')}>
      {t('empty.lockedText')}
    </Empty>
  </div>
);

export function Tabs({ tabs, params, label }: { tabs: readonly Tab[]; params: Params; label: string }) {
  const can = useCan();
  const search = useSearch({ strict: false }) as { tab?: string };
  const { allowed, current } = openTab(tabs, search.tab, can);
  return (
    <>
      <Strip tabs={allowed} current={current} label={label} />
      {current ? <current.Content key={current.name} params={params} /> : <LockedTab />}
    </>
  );
}

function Strip({ tabs, current, label }: { tabs: readonly Tab[]; current: Tab | undefined; label: string }) {
  return (
    <nav className="tabs" aria-label={label}>
      {tabs.map(tab => (
        <Link
          key={tab.name}
          to="."
          search={asSearch({ tab: tab.name })}
          className="tab"
          aria-current={tab === current ? 'page' : undefined}
        >
          {t(`tab.${tab.name}`)}
        </Link>
      ))}
    </nav>
  );
}
