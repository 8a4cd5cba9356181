/** The frame of everything behind the login: menu, header, content. */
import '../styles/shell.css';
import '../styles/pages.css';
import '../styles/parts.css';
import '../styles/app.css';
import '../styles/settings.css';
import '../styles/touch.css';
import { MenuOutlined } from '@ant-design/icons';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { Button } from 'antd';
import { useEffect, useState } from 'react';
import { Frame, setLocale } from '../kit/frame.tsx';
import { fillRules } from '../kit/rule-words.ts';
import { hasDraft } from '../kit/drafts.ts';
import { notify } from '../kit/notice.ts';
import { useCan } from '../kit/permissions.ts';
import { currentSelf } from '../kit/session.ts';
import { currentScreens, linkTo, screenAt } from '../kit/screens.ts';
import { t } from '../kit/text.ts';
import { useTheme } from '../kit/theme.ts';
import { AccountMenu, LanguageMenu, SearchButton, ThemeButton } from './header.tsx';
import { Bell } from './bell.tsx';
import { Announcements, setAnnouncements } from './announcements.tsx';
import { ActingBanner } from './acting-banner.tsx';
import { NetworkBanner } from './network-banner.tsx';
import { HealthBanner, setHealth } from './health.tsx';
import { Locked } from './locked.tsx';
import { SideMenu } from './side-menu.tsx';
import { TasksButton } from './tasks.tsx';

export { fillRules, setAnnouncements, setHealth, setLocale };

const draftTakenMs = 1500;

export function Shell() {
  const theme = useTheme();
  const [isMenuOpen, setMenuOpen] = useState(false);
  const { pathname } = useLocation();
  // A session ended over a form: what was typed comes back when the form is opened again, and nobody could know.
  useEffect(() => {
    const self = currentSelf();
    // a form that comes with the page takes its draft, and says so itself
    const timer = setTimeout(() => self && hasDraft(self.id) && notify.info(t('draft.kept')), draftTakenMs);
    return () => clearTimeout(timer);
  }, []);
  // another page closes the menu
  const [seen, setSeen] = useState(pathname);
  if (seen !== pathname) {
    setSeen(pathname);
    setMenuOpen(false);
  }
  return (
    <Frame>
      <div className={isMenuOpen ? 'shell menu-open' : 'shell'}>
        <SideMenu />
        <div className="shell-shade" onClick={() => setMenuOpen(false)} />
        <div className="shell-main">
          <header className="shell-head">
            <Button
              className="menu-button"
              type="text"
              icon={<MenuOutlined />}
              aria-label={t('shell.menu')}
              onClick={() => setMenuOpen(true)}
            />
            <Crumbs pathname={pathname} />
            <span className="grow" />
            <SearchButton />
            <TasksButton />
            <Bell />
            {/* where there is no room they stand in the menu of the account */}
            <span className="wide-only shell-choices">
              <ThemeButton theme={theme} />
              <LanguageMenu />
            </span>
            <AccountMenu theme={theme} />
          </header>
          <ActingBanner />
          <NetworkBanner />
          <HealthBanner />
          <Announcements />
          <main className="shell-content">
            <Content pathname={pathname} />
          </main>
        </div>
      </div>
    </Frame>
  );
}

/** A page that this account may not see says so, instead of waiting for answers that never come. */
function Content({ pathname }: { pathname: string }) {
  const can = useCan();
  return can(screenAt(pathname)?.call) ? <Outlet /> : <Locked />;
}

function Crumbs({ pathname }: { pathname: string }) {
  const screen = screenAt(pathname);
  const section = screen && currentScreens().sections.find(one => one.screens.includes(screen));
  const above = screen?.below && linkTo(screen.below);
  return (
    <nav className="crumbs" aria-label={t('shell.crumbs')}>
      {section && section.screens.length > 1 && !above && <span>{t(`menu.${section.name}`)}</span>}
      {above && <Link to={above}>{t(`menu.${screen.below!}`)}</Link>}
      {screen && <strong>{t(`menu.${screen.title}`)}</strong>}
    </nav>
  );
}
