/** The pages of one area as routes. Who may see them is decided in kit/guard.ts. */
import { createRootRoute, createRoute, createRouter, Outlet, redirect } from '@tanstack/react-router';
import { startCodes } from '#contract/errors/codes-start.ts';
import { display } from '#contract/limits-start.ts';
import { area } from './kit/area.ts';
import { call, onSessionEnd } from './kit/client.ts';
import { decide, type Place, wanted } from './kit/guard.ts';
import { pageLater } from './kit/later.tsx';
import { guardHistory, keepTyped } from './kit/leaving.ts';
import { notify } from './kit/notice.ts';
import { ofArea } from './kit/of-area.ts';
import { deployment } from './kit/deployment.ts';
import { type AreaScreens, screensOf, setScreens, withTexts } from './kit/screens.ts';
import { currentSelf, forget, hasSession, linkDataStore, loadSelf, loginDataStore, reset } from './kit/session.ts';
import { addTexts, language, loadTexts, t } from './kit/text.ts';
import { ApiError } from './kit/transport.ts';
import Login from './account/login.tsx';
import { LoginShell } from './shell/login-shell.tsx';
import { Broken, Loading, NotFound } from './shell/states.tsx';

const home = `/${area}`;

interface At {
  location: { href: string };
}

function guarded(where: Place | (() => Place), hasLoginData?: () => boolean) {
  return ({ location }: At) => {
    const place = typeof where === 'function' ? where() : where;
    const decision = decide({
      area,
      place,
      hasSession: hasSession(),
      hasLoginData: hasLoginData?.(),
      offlineMode: deployment.offlineMode,
    });
    if (decision === 'notFound') throw redirect({ to: '/404' });
    if (decision === 'dashboard') throw redirect({ to: `${home}/dashboard` });
    if (decision === 'login')
      throw redirect({ to: home, search: place === 'inside' ? { next: wanted(location.href, area) } : {} });
  };
}

/** What is wrong, asked beside who this is: a banner that comes later would push the page away from under a finger. */
let health: Promise<unknown[]> | undefined;
const healthWaitMs = 1000;
const nothing = async () => undefined;
const announced = ofArea({
  user: () => call('GET /user/announcements', { query: { pageSize: display.announcementsMax } }).catch(() => undefined),
  client: nothing,
  admin: nothing,
});
/** What is wrong, and what a customer's operator has to say. */
const strips = () => Promise.all([call('GET /{area}/systemHealth').catch(() => undefined), announced()]);

/** The first page of a visit asks who this is; a refusal ends the session, a cut cable does not. */
async function inside(at: At) {
  guarded('inside')(at);
  if (currentSelf()) return;
  health = strips();
  try {
    await loadSelf();
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500 || error.status === 0) throw error;
    reset();
    // the API refuses an account of another area before it says who it is
    notify.info(error.code === startCodes.permissionDenied[0] ? t('message.authMismatch') : error.message);
    throw redirect({ to: home });
  }
}

const words = {
  zh_TW: () => import('./words.zh_TW.ts'),
  zh_CN: () => import('./words.zh_CN.ts'),
  en_US: () => import('./words.en_US.ts'),
};
/** The shell comes with the words of everything in it. */
async function loadShell() {
  const [shell, { texts, rules, antd }] = await Promise.all([import('./shell/shell.tsx'), words[language]()]);
  addTexts(texts);
  shell.fillRules(language, rules);
  shell.setLocale(antd);
  // after signing in by the form nobody has asked yet
  health ??= strips();
  const none: unknown[] = [];
  const [wrong, said] = await Promise.race([health, new Promise<unknown[]>(resolve => setTimeout(resolve, healthWaitMs, none))]);
  shell.setHealth(wrong);
  shell.setAnnouncements(said);
  return shell;
}

export function createAppRouter(screens: AreaScreens) {
  setScreens(screens, loadTexts);
  const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound });
  const start = createRoute({ getParentRoute: () => root, path: '/', beforeLoad: () => location.replace('/user') });
  const notFound = createRoute({ getParentRoute: () => root, path: '/404', component: NotFound });

  const loginShell = createRoute({ getParentRoute: () => root, id: 'login', component: LoginShell });
  const login = (
    path: string,
    place: Place | (() => Place),
    load: () => Promise<{ default: () => React.ReactNode }>,
    hasLoginData?: () => boolean,
  ) =>
    createRoute({
      getParentRoute: () => loginShell,
      path: home + path,
      beforeLoad: guarded(place, hasLoginData),
      component: pageLater(load),
    });
  const loginPages = [
    login('/', 'login', async () => ({ default: Login })),
    login(
      '/verifyAccount',
      'login',
      () => import('./account/verifyAccount.tsx'),
      () => loginDataStore.get() !== null,
    ),
    login(
      '/verifyMail',
      'open',
      withTexts('account', () => import('./account/verifyMail.tsx')),
    ),
    // a link is opened by whoever received it, also where another account is signed in
    login(
      '/createPassword',
      () => (linkDataStore.get() ? 'open' : 'login'),
      withTexts('account', () => import('./account/createPassword.tsx')),
      () => linkDataStore.get() !== null,
    ),
    login('/oidc', 'open', () => import('./account/oidc.tsx')),
    login(
      '/changePassword',
      'own',
      withTexts('account', () => import('./account/changePassword.tsx')),
    ),
    login('/switchUser', 'open', () => import('./account/switchUser.tsx')),
  ];

  const shell = createRoute({
    getParentRoute: () => root,
    id: 'shell',
    beforeLoad: inside,
    component: pageLater(
      async () => ({ default: (await loadShell()).Shell }),
      note => <main className="fullpage">{note}</main>,
    ),
  });
  const pages = screensOf(screens).map(screen =>
    createRoute({
      getParentRoute: () => shell,
      path: `${home}/${screen.path}`,
      component: pageLater(screen.load),
      staticData: { title: screen.title },
    }),
  );
  // A section's own address opens its first page.
  const sections = screens.sections
    .filter(section => !section.screens.some(screen => screen.path === section.name))
    .map(section =>
      createRoute({
        getParentRoute: () => root,
        path: `${home}/${section.name}`,
        beforeLoad: () => {
          throw redirect({ to: `${home}/${section.screens[0]!.path}` });
        },
      }),
    );

  const router = createRouter({
    routeTree: root.addChildren([start, notFound, loginShell.addChildren(loginPages), shell.addChildren(pages), ...sections]),
    context: {},
    defaultPreload: 'intent',
    defaultPreloadDelay: 80,
    defaultPendingMs: 150,
    defaultPendingComponent: Loading,
    defaultErrorComponent: Broken,
    // A list keeps its state in the address: numbers and words as they are, without quotes.
    scrollRestoration: true,
  });
  guardHistory(router.history);
  // Signed out in another tab: this one learns it when somebody looks at it.
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible' && currentSelf() && !hasSession()) sessionEnded();
  });
  onSessionEnd(sessionEnded);
  function sessionEnded() {
    keepTyped();
    forget();
    notify.info(t('message.sessionEnded'));
    void router.navigate({ to: home, search: { next: wanted(router.history.location.href, area) } });
  }
  return router;
}
