/** The frame of everything behind the login: menu, header, content. */
import '../styles/app.css';
import { MenuOutlined } from '@ant-design/icons';
import { QueryClientProvider } from '@tanstack/react-query';
import { Outlet, useLocation } from '@tanstack/react-router';
import { Button, ConfigProvider } from 'antd';
import type { Locale } from 'antd/es/locale';
import { useEffect, useState } from 'react';
import { OverlayHost } from '../kit/overlay-host.tsx';
import { queryClient } from '../kit/query.ts';
import { currentScreens, screensOf } from '../kit/screens.ts';
import { area } from '../kit/area.ts';
import { language, t } from '../kit/text.ts';
import { themeOf, useTheme } from '../kit/theme.ts';
import { AccountMenu, LanguageMenu, SearchButton, ThemeButton } from './header.tsx';
import { SideMenu } from './side-menu.tsx';

const locales = {
  zh_TW: () => import('antd/es/locale/zh_TW'),
  zh_CN: () => import('antd/es/locale/zh_CN'),
  en_US: () => import('antd/es/locale/en_US'),
};

/** antd's own words in the language of the page. Its Taiwan text counts rows the mainland way: mended here. */
let locale: Locale | undefined;
export async function loadLocale() {
  const { default: loaded } = await locales[language]();
  locale = language === 'zh_TW' ? { ...loaded, Pagination: { ...loaded.Pagination, items_per_page: '筆／頁' } } : loaded;
}

const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce;

export function Shell() {
  const theme = useTheme();
  const [isMenuOpen, setMenuOpen] = useState(false);
  const { pathname } = useLocation();
  useEffect(() => setMenuOpen(false), [pathname]);
  return (
    <QueryClientProvider client={queryClient}>
      <ConfigProvider
        theme={themeOf(theme)}
        locale={locale}
        csp={{ nonce }}
        button={{ autoInsertSpace: false }}
        wave={{ disabled: true }}
      >
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
              <ThemeButton theme={theme} />
              <LanguageMenu />
              <AccountMenu />
            </header>
            <main className="shell-content">
              <Outlet />
            </main>
          </div>
        </div>
        <OverlayHost />
      </ConfigProvider>
    </QueryClientProvider>
  );
}

function Crumbs({ pathname }: { pathname: string }) {
  const path = pathname.slice(area.length + 2);
  const section = currentScreens().sections.find(one => path.startsWith(one.name));
  const screen = screensOf(currentScreens()).find(one => path === one.path || path.startsWith(`${one.path.split('/{-$')[0]!}/`));
  return (
    <nav className="crumbs" aria-label={t('shell.crumbs')}>
      {section && screen && section.screens.length > 1 && <span>{t(`menu.${section.name}`)}</span>}
      {screen && <strong>{t(`menu.${screen.title}`)}</strong>}
    </nav>
  );
}
