/** Starts the application of one area: its texts, its pages, its router. */
import './styles/tokens.css';
import './styles/base.css';
import './styles/brand.css';
import { RouterProvider } from '@tanstack/react-router';
import { createRoot } from 'react-dom/client';
import type { Area } from './kit/area.ts';
import { area } from './kit/area.ts';
import { loadBrand } from './kit/brand.ts';
import { lookForRelease } from './kit/release.ts';
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

// After a release the chunks of an open tab may be gone. Whoever asked for one hears of it too (kit/later.tsx).
addEventListener('vite:preloadError', () => void lookForRelease());

document.documentElement.lang = languageTag;
// No await at the top: a chunk that waits for another which imports it would wait for ever.
const root = document.getElementById('root')!;
Promise.all([areas[area](), loadTexts('start'), loadBrand()]).then(
  ([{ screens }]) =>
    createRoot(root).render(
      <>
        <RouterProvider router={createAppRouter(screens)} />
        <Notices />
      </>,
    ),
  (error: unknown) => {
    console.error(error);
    // the texts are part of what did not come: the page itself has these words
    root.append(document.querySelector('template')!.content.cloneNode(true));
  },
);
