/** Starts the application of one area: its texts, its pages, its router. */
import './styles/base.css';
import { RouterProvider } from '@tanstack/react-router';
import { createRoot } from 'react-dom/client';
import type { Area } from './kit/area.ts';
import { area } from './kit/area.ts';
import type { AreaScreens } from './kit/screens.ts';
import { languageTag, loadTexts } from './kit/text.ts';
import { createAppRouter } from './router.tsx';
import { Notices } from './shell/notices.tsx';

/** Each area is loaded by itself: an administrator's browser never sees a customer's screens. */
const areas: Record<Area, () => Promise<{ screens: AreaScreens }>> = {
  user: () => import('./areas/user.ts'),
  client: () => import('./areas/client.ts'),
  admin: () => import('./areas/admin.ts'),
};

// After a release the chunks of an open tab are gone: load once more, but never in a circle.
addEventListener('vite:preloadError', event => {
  const last = Number(sessionStorage.getItem('reloadedAt') ?? 0);
  if (Date.now() - last < 60_000) return;
  sessionStorage.setItem('reloadedAt', String(Date.now()));
  event.preventDefault();
  location.reload();
});

document.documentElement.lang = languageTag;
const [{ screens }] = await Promise.all([areas[area](), loadTexts('base'), loadTexts('messages')]);
createRoot(document.getElementById('root')!).render(
  <>
    <RouterProvider router={createAppRouter(screens)} />
    <Notices />
  </>,
);
