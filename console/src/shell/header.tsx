import { DownOutlined, MoonOutlined, SearchOutlined, SunOutlined, TranslationOutlined, UserOutlined } from '@ant-design/icons';
import { useNavigate } from '@tanstack/react-router';
import { Button, Dropdown } from 'antd';
import { useEffect } from 'react';
import { languages, languageTags } from '#contract/kit/text.ts';
import { area } from '../kit/area.ts';
import { later } from '../kit/later.tsx';
import { mayLeave } from '../kit/leaving.ts';
import { overlay } from '../kit/overlay.ts';
import { currentScreens, screensOf } from '../kit/screens.ts';
import { useSelf } from '../kit/session.ts';
import { signOut } from '../kit/sign-out.ts';
import { commandKey, shortcut } from '../kit/shortcuts.ts';
import { chooseLanguage, language, languageNames, t } from '../kit/text.ts';
import { chooseTheme, type ThemeName } from '../kit/theme.ts';

const Palette = later(async () => (await import('./palette.tsx')).Palette);
let isPaletteOpen = false;
async function openPalette() {
  if (isPaletteOpen) return;
  isPaletteOpen = true;
  await overlay(close => <Palette onClose={() => close()} />);
  isPaletteOpen = false;
}

export function SearchButton() {
  useEffect(() => shortcut('mod+k', () => void openPalette()), []);
  return (
    <Button
      type="text"
      className="search-button"
      icon={<SearchOutlined />}
      aria-label={t('shell.find')}
      onClick={() => void openPalette()}
    >
      <span className="wide-only">
        {t('shell.find')} <kbd>{commandKey === '⌘' ? '⌘K' : 'Ctrl K'}</kbd>
      </span>
    </Button>
  );
}

export function ThemeButton({ theme }: { theme: ThemeName }) {
  const isDark = theme === 'dark';
  const label = t(isDark ? 'shell.light' : 'shell.dark');
  return (
    <Button
      type="text"
      icon={isDark ? <SunOutlined /> : <MoonOutlined />}
      aria-label={label}
      title={label}
      onClick={() => chooseTheme(isDark ? 'light' : 'dark')}
    />
  );
}

const languageItems = () =>
  languages.map(name => ({
    key: String(name),
    label: <span lang={languageTags[name]}>{languageNames[name]}</span>,
    onClick: () => void mayLeave().then(isSure => isSure && chooseLanguage(name)),
  }));

export function LanguageMenu() {
  return (
    <Dropdown trigger={['click']} menu={{ items: languageItems(), selectedKeys: [language] }}>
      <Button type="text" icon={<TranslationOutlined />} aria-label={t('page.language')}>
        <span className="wide-only">{languageNames[language]}</span>
      </Button>
    </Dropdown>
  );
}

/** What a wide window has beside the menu of the account. */
const narrowItems = (theme: ThemeName) =>
  [
    { type: 'divider' as const },
    {
      key: 'theme',
      label: t(theme === 'dark' ? 'shell.light' : 'shell.dark'),
      onClick: () => chooseTheme(theme === 'dark' ? 'light' : 'dark'),
    },
    ...languageItems().filter(({ key }) => key !== language),
    { type: 'divider' as const },
  ].map(item => ({ ...item, className: 'narrow-entry' }));

export function AccountMenu({ theme }: { theme: ThemeName }) {
  const self = useSelf();
  const navigate = useNavigate();
  const information = 'userManagement/userInformation';
  const items = [
    { key: 'name', disabled: true, label: <span className="account-name">{self.name || self.email}</span> },
    ...(self.proxyName ? [{ key: 'proxy', disabled: true, label: t('shell.proxy', { name: self.proxyName }) }] : []),
    { type: 'divider' as const },
    ...(screensOf(currentScreens()).some(screen => screen.path === information)
      ? [
          {
            key: 'information',
            label: t('menu.userInformation'),
            onClick: () => void navigate({ to: `/${area}/${information}` }),
          },
        ]
      : []),
    // nobody changes it for somebody else
    ...(self.proxyName
      ? []
      : [{ key: 'password', label: t('password.title'), onClick: () => void navigate({ to: `/${area}/changePassword` }) }]),
    ...narrowItems(theme),
    { key: 'out', label: t('shell.signOut'), onClick: () => void signOut().then(() => navigate({ to: `/${area}` })) },
  ];
  return (
    <Dropdown trigger={['click']} placement="bottomRight" menu={{ items }}>
      <Button type="text" icon={<UserOutlined className="narrow-only" />} aria-label={self.email}>
        <span className="wide-only account-mail">{self.email}</span> <DownOutlined className="wide-only" />
      </Button>
    </Dropdown>
  );
}
