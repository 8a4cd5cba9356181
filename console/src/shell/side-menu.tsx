import {
  BarChartOutlined,
  ClusterOutlined,
  DashboardOutlined,
  GlobalOutlined,
  GoldOutlined,
  KeyOutlined,
  MonitorOutlined,
  SettingOutlined,
  TeamOutlined,
} from '@ant-design/icons';
import { Link, useLocation } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { area } from '../kit/area.ts';
import { useBrand } from '../kit/brand.ts';
import { useCan } from '../kit/permissions.ts';
import { currentScreens, type IconName, type Screen, screenAt, type Section } from '../kit/screens.ts';
import { t } from '../kit/text.ts';
import { Named } from './brand.tsx';

const icons: Record<IconName, typeof DashboardOutlined> = {
  dashboard: DashboardOutlined,
  globe: GlobalOutlined,
  nodes: ClusterOutlined,
  chart: BarChartOutlined,
  people: TeamOutlined,
  settings: SettingOutlined,
  key: KeyOutlined,
  package: GoldOutlined,
  monitor: MonitorOutlined,
};

export function SideMenu() {
  const can = useCan();
  const brand = useBrand();
  const sections = currentScreens()
    .sections.map(section => ({ ...section, screens: section.screens.filter(screen => !screen.hidden && can(screen.call)) }))
    .filter(section => section.screens.length > 0);
  return (
    <aside className="sider">
      <Link to={`/${area}/dashboard`} className="sider-brand">
        <Named title={brand.title} logo={brand.sidebarLogo} sign={brand.sidebarSimpleLogo} size={24} />
      </Link>
      <nav className="sider-menu" aria-label={t('shell.menu')}>
        {sections.map(section =>
          section.screens.length === 1 ? (
            <Entry key={section.name} section={section} />
          ) : (
            <Folder key={section.name} section={section} />
          ),
        )}
      </nav>
      <p className="sider-foot">
        {t(`area.${area}`)}
        {brand.copyright && <small>{brand.copyright}</small>}
      </p>
    </aside>
  );
}

function Entry({ section }: { section: Section }) {
  const Icon = icons[section.icon];
  return (
    <Page screen={section.screens[0]!}>
      <Icon />
    </Page>
  );
}

function Page({ screen, className = 'menu-entry', children }: { screen: Screen; className?: string; children?: ReactNode }) {
  const { pathname } = useLocation();
  const here = screenAt(pathname);
  const isHere = here === screen || here?.below === screen.title || here?.path === screen.path;
  const entry = useRef<HTMLAnchorElement>(null);
  // a low window shows half of the menu: that in which one is
  useEffect(() => {
    if (isHere) entry.current?.scrollIntoView({ block: 'nearest' });
  }, [isHere]);
  return (
    <Link ref={entry} to={`/${area}/${screen.path}`} className={className} aria-current={isHere ? 'page' : undefined}>
      {children}
      {t(`menu.${screen.title}`)}
    </Link>
  );
}

function Folder({ section }: { section: Section }) {
  const { pathname } = useLocation();
  const isHere = pathname.startsWith(`/${area}/${section.name}/`);
  const [isOpen, setOpen] = useState(true);
  const Icon = icons[section.icon];
  return (
    <div className={isHere ? 'menu-folder is-here' : 'menu-folder'}>
      <button type="button" className="menu-entry" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon />
        {t(`menu.${section.name}`)}
        <svg
          className="menu-arrow"
          width="10"
          height="10"
          viewBox="0 0 10 10"
          fill="none"
          stroke="currentColor"
          strokeWidth="1.4"
          aria-hidden
        >
          <path d="m1.5 6.500 3.500-3.500 3.500 3.500" />
        </svg>
      </button>
      {isOpen && section.screens.map(screen => <Page key={screen.path} screen={screen} className="menu-entry menu-child" />)}
    </div>
  );
}
