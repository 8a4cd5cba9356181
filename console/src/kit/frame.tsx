/** What every piece of the kit stands in: the answers of the API, the look, antd's words, and the host of dialogs. */
import { QueryClientProvider } from '@tanstack/react-query';
import { ConfigProvider } from 'antd';
import type { Locale } from 'antd/es/locale';
import { type ReactNode, useEffect } from 'react';
import { keepFocus } from './focus.ts';
import { OverlayHost } from './overlay-host.tsx';
import { queryClient } from './query.ts';
import { language } from './text.ts';
import { themeOf, useTheme } from './theme.ts';
import { useNarrow } from './use-narrow.ts';

/** antd's own words in the language of the page. Its Taiwan text counts rows the mainland way: mended here. */
let locale: Locale | undefined;
export function setLocale(given: Locale) {
  locale = language === 'zh_TW' ? { ...given, Pagination: { ...given.Pagination, items_per_page: '筆／頁' } } : given;
}

const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce;

export function Frame({ children }: { children: ReactNode }) {
  const theme = useTheme();
  const isNarrow = useNarrow();
  useEffect(keepFocus, []);
  return (
    <QueryClientProvider client={queryClient}>
      <ConfigProvider
        theme={themeOf(theme, isNarrow)}
        locale={locale}
        csp={{ nonce }}
        button={{ autoInsertSpace: false }}
        wave={{ disabled: true }}
      >
        {children}
        <OverlayHost />
      </ConfigProvider>
    </QueryClientProvider>
  );
}
