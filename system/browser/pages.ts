/**
 * Every page of an area, out of the area's own data, and every tab of a page: as somebody who may do everything, in both themes and on a
 * telephone, and as somebody who holds what that one page asks for and nothing else.
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { groups } from '#contract/index.ts';
import { mounted } from '#contract/kit/call.ts';
import { password } from '#system/whole.ts';
import { screens as admin } from '../../console/src/areas/admin.ts';
import { screens as client } from '../../console/src/areas/client.ts';
import { screens as user } from '../../console/src/areas/user.ts';
import { callsOf } from '../../console/src/kit/needs.ts';
import { type Screen, screensOf } from '../../console/src/kit/screens.ts';
import { type Area, picture, Visitor } from './browser.ts';
import { demo } from './demo.ts';
import { serious } from './serious.ts';
import { cramped } from './touch.ts';

interface Page {
  path: string;
  title: Screen['title'];
  /** what somebody must hold to open it, and no more */
  keys: string[];
}
/** What stands in an address for the parameters of a page. */
const parameters: Partial<Record<Screen['title'], string>> = { sitesSetting: '/1/demo' };
const areas = { admin, client, user };

const keyOf = new Map([...mounted(groups)].map(call => [`${call.area} ${call.key}`, call.permission]));
function keysOf(area: Area, calls: readonly string[]): string[] {
  return calls.flatMap(call => {
    const key = keyOf.get(`${area} ${call}`);
    assert.notEqual(key, undefined, `${area} has no ${call}`);
    return key ?? [];
  });
}

/** Tabs of a page's settings, as the folders declare them (their files hold components: they are read, not imported). */
const tabFiles: Partial<Record<Screen['title'], string>> = {
  sitesSetting: 'console/src/{*/tabs,site/tabs}.ts',
  systemSetting: 'console/src/*/sections.ts',
};
function tabs(pattern: string | undefined): { name: string; call: string }[] {
  const files = pattern ? globSync(pattern).sort() : [];
  return [...new Set(files)].flatMap(file =>
    [...readFileSync(file, 'utf8').matchAll(/name: '(\w+)',\s*order: \d+,\s*group: '\w+',\s*call: '([^']+)'/g)].map(
      ([, name, call]) => ({
        name: name!,
        call: call!,
      }),
    ),
  );
}

export function pagesOf(area: Area): Page[] {
  return screensOf(areas[area]).flatMap(({ path, title, call = [] }) => {
    const address = path.split('/{-$')[0]! + (parameters[title] ?? '');
    // of several ways in the first
    const keys = keysOf(area, typeof call === 'object' && 'anyOf' in call ? call.anyOf.slice(0, 1) : callsOf(call));
    const below = tabs(tabFiles[title]);
    return [
      { path: address, title, keys },
      ...below.map(tab => ({ path: `${address}?tab=${tab.name}`, title, keys: [...keys, ...keysOf(area, [tab.call])] })),
    ];
  });
}

const isTab = ({ path }: Page) => path.includes('?');
/** An operator sees a site's settings as its customer does: on a telephone, and key by key, they are walked in the customer's area alone. */
const isWalkedElsewhere = (area: Area, page: Page) => area === 'client' && page.title === 'sitesSetting' && isTab(page);
const named = (path: string) => path.replace(/\W+/g, '-');

/** To be called at the top of a test file. */
export function walked(area: Area): void {
  const stand = demo();
  const pages = pagesOf(area);
  const email = `one-key@${area}.test`;

  for (const [turn, theme] of (['light', 'dark'] as const).entries())
    test(`${area}, ${theme}: every page stands, and axe finds nothing serious`, async () => {
      const visitor = await Visitor.open(stand.browser, stand.whole.origin, {
        theme,
        language: theme === 'light' ? 'zh_TW' : 'en_US',
      });
      await visitor.go(`/${area}`);
      assert.deepEqual(await serious(visitor), [], 'login');
      await picture(visitor.page, `${area}-login-${theme}`);
      await visitor.signIn(area, `${area}@breakwater.test`, password);
      // a tab in one theme: what is around it was seen in both
      for (const page of pages.filter((one, index) => !isTab(one) || index % 2 === turn)) {
        // each page is loaded by its address once; after that it is come to as by a link
        await visitor[theme === 'light' ? 'load' : 'follow'](`/${area}/${page.path}`);
        assert.deepEqual(visitor.takeProblems(), [], page.path);
        // in the second theme a page has other colours, and is else the same
        const what = theme === 'dark' && !isTab(page) ? 'colours' : 'all';
        assert.deepEqual(await serious(visitor, undefined, what), [], page.path);
        await picture(visitor.page, `${area}-${named(page.path)}-${theme}`);
        // every section there is is one that is walked
        const found = await visitor.page
          .locator('a.sections-link')
          .evaluateAll(all => all.map(a => a.getAttribute('href') ?? ''));
        const own = page.path.split('?')[0]!;
        if (pages.some(one => isTab(one) && one.path.startsWith(`${own}?`)))
          assert.deepEqual(
            found.map(href => new URL(href, stand.whole.origin).searchParams.get('tab')).sort(),
            tabs(tabFiles[page.title])
              .map(tab => tab.name)
              .sort(),
            page.path,
          );
      }
      assert.deepEqual(visitor.takeProblems(), []);
      await visitor.close();
    });

  test(`${area}: no page is wider than a telephone, and a finger finds all that is pressed`, async () => {
    const visitor = await stand.inside(area, { width: 390, height: 844 });
    const small: string[] = [];
    for (const page of pages) {
      if (isWalkedElsewhere(area, page)) continue;
      const { path } = page;
      await visitor.follow(`/${area}/${path}`);
      const width = await visitor.page.evaluate(() =>
        Math.max(...['html', '.shell-content'].map(name => document.querySelector(name)!.scrollWidth)),
      );
      assert.ok(width <= 390, `${path} is ${width} px wide`);
      await picture(visitor.page, `${area}-${named(path)}-narrow`);
      for (const one of await cramped(visitor.page)) small.push(`${path}: ${one}`);
    }
    assert.deepEqual(small, [], small.join('\n'));
    assert.deepEqual(visitor.takeProblems(), []);
    await visitor.close();
  });

  if (area === 'admin') return; // an admin makes operators and customers, no accounts of its own area: nobody there has a role
  test(`${area}: somebody who holds what a page asks for, and nothing else, sees it without a refusal`, async () => {
    const { whole } = stand;
    const token = await whole.signIn(area);
    const done = async (method: string, path: string, body: unknown) => {
      const answer = await whole.call(method, `/${area}${path}`, token, body);
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      return answer.body as { ids: [number] };
    };
    const hold = (role: number, permissionKeys: string[]) => done('PUT', `/role/${role}`, { name: 'one key', permissionKeys });
    const role = (await done('POST', '/role', { name: 'one key', permissionKeys: [] })).ids[0];
    const id = (await done('POST', '/account', { email, name: 'one key', auth: area, role, password })).ids[0];
    if (area === 'user') await done('POST', '/site/users', { siteIDs: [1], userIDs: [id] });
    const site = area === 'client' ? await siteOfTheirs() : 1;
    /** An operator's people see the sites of their zones: those that they made. */
    async function siteOfTheirs(): Promise<number> {
      await hold(role, ['zones.view', 'zones.edit']);
      const { body } = await whole.call('POST', '/client/verify', undefined, { email, password });
      const zone = await whole.call('POST', '/client/zone', (body as { accessToken: string }).accessToken, { name: 'theirs' });
      assert.equal(zone.status, 200, JSON.stringify(zone.body));
      const [zoneID] = (zone.body as { ids: [number] }).ids;
      const [groupID] = (await done('POST', '/group', { zoneID, name: 'theirs' })).ids;
      const [productID] = (await done('POST', '/product', { groupID, name: 'theirs' })).ids;
      const { userID } = (await whole.call('GET', '/client/site/1', token)).body as { userID: number };
      return (await done('POST', '/site', { siteName: 'theirs', productID, userID })).ids[0];
    }
    await hold(role, []);
    const visitor = await Visitor.open(stand.browser, whole.origin, { language: 'zh_CN' });
    await visitor.signIn(area, email, password);
    const locked = visitor.page.getByText('没有权限', { exact: true });
    const isLocked = async () => (await locked.count()) > 0;
    const [guarded] = pages.filter(({ keys }) => keys.length > 0);
    await visitor.go(`/${area}/${guarded!.path}`);
    await locked.waitFor(); // without its key a page says so
    for (const page of pages) {
      if (isWalkedElsewhere(area, page)) continue;
      await hold(role, page.keys);
      const path = page.path.replace(parameters.sitesSetting!, `/${site}/any`);
      await visitor.load(`/${area}/${path}`);
      assert.deepEqual(visitor.takeProblems(), [], `${page.path} with ${page.keys.join()}`);
      assert.equal(new URL(visitor.page.url()).pathname, `/${area}/${path.split('?')[0]}`, page.path);
      // settings of a site whose tabs one may see none of say so; every other page is there
      const below = pages.filter(one => one.path.startsWith(`${page.path}?`));
      const isBare = below.length > 0 && !below.some(({ keys }) => keys.every(key => page.keys.includes(key)));
      assert.equal(await isLocked(), isBare, page.path);
      await picture(visitor.page, `${area}-${named(page.path)}-one-key`);
    }
    await visitor.close();
  });
}
