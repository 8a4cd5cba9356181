/** Light and dark, both designed (design: one accent, neutral petrol greys, no shadows on cards). */
import { theme as antd, type ThemeConfig } from 'antd';
import { useSyncExternalStore } from 'react';
import { stored } from './stored.ts';

export type ThemeName = 'light' | 'dark';

const choice = stored('theme');
const system = matchMedia('(prefers-color-scheme: dark)');
const listeners = new Set<() => void>();
const nameNow = (): ThemeName => {
  const chosen = choice.get();
  return chosen === 'light' || chosen === 'dark' ? chosen : system.matches ? 'dark' : 'light';
};
function apply() {
  document.documentElement.dataset['theme'] = nameNow();
  for (const listener of listeners) listener();
}
system.addEventListener('change', apply);

export function chooseTheme(name: ThemeName) {
  choice.set(name);
  apply();
}
export function useTheme(): ThemeName {
  return useSyncExternalStore(listener => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, nameNow);
}

const fontFamily = 'var(--font)';
const common: ThemeConfig['token'] = {
  fontFamily,
  fontSize: 13,
  borderRadius: 6,
  borderRadiusLG: 8,
  borderRadiusSM: 4,
  controlHeight: 32,
  controlHeightLG: 38,
  controlHeightSM: 26,
  fontWeightStrong: 600,
  motion: !matchMedia('(prefers-reduced-motion: reduce)').matches,
  motionDurationFast: '0.08s',
  motionDurationMid: '0.14s',
  motionDurationSlow: '0.2s',
};
const light: ThemeConfig['token'] = {
  colorPrimary: '#0b6168',
  colorInfo: '#2f6db0',
  colorSuccess: '#1d7f52',
  colorWarning: '#a86a00',
  colorError: '#b3362f',
  colorLink: '#0b6168',
  colorTextBase: '#17201f',
  colorTextSecondary: '#4d5b5a',
  colorTextTertiary: '#5f6d6c',
  colorTextPlaceholder: '#6b7978',
  colorBgLayout: '#f6f7f7',
  colorBorder: '#cdd4d4',
  colorBorderSecondary: '#e1e5e5',
};
const dark: ThemeConfig['token'] = {
  colorPrimary: '#3fb3b3',
  colorTextLightSolid: '#06201f',
  colorInfo: '#6aa5e0',
  colorSuccess: '#4db88a',
  colorWarning: '#d99a2b',
  colorError: '#e5695f',
  colorLink: '#5bc4c4',
  colorTextBase: '#e6ecec',
  colorTextSecondary: '#aab6b6',
  colorTextTertiary: '#8b9a9b',
  colorTextPlaceholder: '#8b9a9b',
  colorBgBase: '#0e1314',
  colorBgLayout: '#0e1314',
  colorBgContainer: '#151c1d',
  colorBgElevated: '#1b2425',
  colorBorder: '#384546',
  colorBorderSecondary: '#263031',
};

/** A finger needs 44 px (design: touch rows); tags within a field stay small, for they are taken off by a press beside them. */
const touchPx = 44;
const touch: ThemeConfig['token'] = { controlHeight: touchPx, controlHeightLG: touchPx, controlHeightSM: touchPx };

export function themeOf(name: ThemeName, isNarrow: boolean): ThemeConfig {
  const isDark = name === 'dark';
  return {
    algorithm: isDark ? antd.darkAlgorithm : antd.defaultAlgorithm,
    cssVar: { key: 'app' },
    hashed: false,
    token: { ...common, ...(isNarrow && touch), ...(isDark ? dark : light) },
    components: {
      Table: {
        headerBg: isDark ? '#182021' : '#fafbfb',
        rowHoverBg: isDark ? '#1a2324' : '#f4f8f8',
        rowSelectedBg: isDark ? '#173031' : '#e9f3f3',
        rowSelectedHoverBg: isDark ? '#1b3738' : '#e2efef',
        bodySortBg: 'transparent',
        headerSortActiveBg: isDark ? '#182021' : '#fafbfb',
        headerSortHoverBg: isDark ? '#1d2728' : '#f1f4f4',
        headerSplitColor: 'transparent',
        cellPaddingBlock: 8,
        cellPaddingBlockMD: 6,
        cellPaddingBlockSM: 3,
      },
      // darkened by the palette, the word on a dangerous button would be too faint to read
      Button: {
        ...(isDark && { colorError: dark!.colorError }),
        fontWeight: 520,
        primaryShadow: 'none',
        defaultShadow: 'none',
        dangerShadow: 'none',
      },
      Drawer: { footerPaddingBlock: 10, footerPaddingInline: 16 },
      // what is wrong with a field is read there, and is no fainter than elsewhere
      Form: { ...(isDark && { colorError: dark!.colorError }), itemMarginBottom: 18, verticalLabelPadding: '0 0 5px' },
      Segmented: {
        itemSelectedBg: isDark ? '#2a3738' : '#ffffff',
        trackBg: isDark ? '#11181a' : '#ecefef',
        ...(isNarrow && { trackPadding: 0 }),
      },
      Modal: { titleFontSize: 15 },
      ...(isNarrow && { Select: { multipleItemHeight: 30 } }),
    },
  };
}
