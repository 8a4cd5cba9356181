/**
 * The tabs of a page: which one is open stands in the address, and who may not read one does not see it. Where they do not all fit, an
 * arrow shows on which side there are more, and the open one is in sight.
 */
import { LeftOutlined, RightOutlined } from '@ant-design/icons';
import { Link, useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { Empty } from './empty.tsx';
import { useCan } from './permissions.ts';
import type { Params } from './resource.ts';
import type { Tab } from './screens.ts';
import { t } from './text.ts';

export function Tabs({ tabs, params, label }: { tabs: readonly Tab[]; params: Params; label: string }) {
  const can = useCan();
  const search = useSearch({ strict: false }) as { tab?: string };
  const allowed = tabs.filter(tab => can(tab.call));
  const asked = tabs.find(tab => tab.name === search.tab);
  // An address that names a tab which may not be seen is told so; another one in its place would be taken for it.
  const current = asked ? allowed.find(tab => tab === asked) : allowed[0];
  return (
    <>
      <Strip tabs={allowed} current={current} label={label} />
      {current ? (
        <current.Content key={current.name} params={params} />
      ) : (
        <div className="panel" role="alert">
          <Empty drawing="locked" title={t('empty.locked')}>
            {t('empty.lockedText')}
          </Empty>
        </div>
      )}
    </>
  );
}

/** An arrow takes one further by so much of what is in sight. */
const stepShare = 0.7;

function Strip({ tabs, current, label }: { tabs: readonly Tab[]; current: Tab | undefined; label: string }) {
  const strip = useRef<HTMLElement>(null);
  const [hidden, setHidden] = useState({ before: false, after: false });
  const measure = () => {
    const { scrollLeft, clientWidth, scrollWidth } = strip.current!;
    const now = { before: scrollLeft > 1, after: scrollLeft + clientWidth < scrollWidth - 1 };
    setHidden(was => (was.before === now.before && was.after === now.after ? was : now));
  };
  /** Brings the open tab into sight; asked again when its place or the room has changed (a font that came late, a turned telephone). */
  function reveal() {
    const box = strip.current!;
    const open = box.querySelector<HTMLElement>('[data-open]');
    if (open) box.scrollLeft = open.offsetLeft - (box.clientWidth - open.offsetWidth) / 2;
    measure();
  }
  useEffect(() => {
    reveal();
    const observer = new ResizeObserver(reveal);
    for (const one of [strip.current!, ...strip.current!.children]) observer.observe(one);
    return () => observer.disconnect();
  }, [current?.name, tabs.length]);
  const step = (by: number) => () =>
    strip.current!.scrollBy({
      left: by * strip.current!.clientWidth * stepShare,
      behavior: matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth',
    });
  // By keyboard the tabs themselves are reached, and come into sight: the arrows are for the pointer.
  const arrow = { type: 'button', className: 'tabs-arrow', tabIndex: -1, 'aria-hidden': true } as const;
  return (
    <div className="tabs-frame">
      {hidden.before && (
        <button {...arrow} onClick={step(-1)}>
          <LeftOutlined />
        </button>
      )}
      <nav
        ref={strip}
        className="tabs"
        aria-label={label}
        data-before={hidden.before || undefined}
        data-after={hidden.after || undefined}
        onScroll={measure}
      >
        {tabs.map(tab => (
          <Link
            key={tab.name}
            to="."
            search={{ tab: tab.name } as never}
            className="tab"
            aria-current={tab === current ? 'page' : undefined}
            data-open={tab === current || undefined}
          >
            {t(`tab.${tab.name}`)}
          </Link>
        ))}
      </nav>
      {hidden.after && (
        <button {...arrow} onClick={step(1)}>
          <RightOutlined />
        </button>
      )}
    </div>
  );
}
