/** The tabs of a page: which one is open stands in the address, and who may not read one does not see it. */
import { Link, useSearch } from '@tanstack/react-router';
import { useCan } from './permissions.ts';
import type { Params } from './resource.ts';
import type { Tab } from './screens.ts';
import { t } from './text.ts';

export function Tabs({ tabs, params, label }: { tabs: readonly Tab[]; params: Params; label: string }) {
  const can = useCan();
  const search = useSearch({ strict: false }) as { tab?: string };
  const open = tabs.filter(tab => can(tab.call));
  const current = open.find(tab => tab.name === search.tab) ?? open[0];
  return (
    <>
      <nav className="tabs" aria-label={label}>
        {open.map(tab => (
          <Link
            key={tab.name}
            to="."
            search={{ tab: tab.name } as never}
            className="tab"
            aria-current={tab === current ? 'page' : undefined}
          >
            {t(`tab.${tab.name}`)}
          </Link>
        ))}
      </nav>
      {current && <current.Content key={current.name} params={params} />}
    </>
  );
}
