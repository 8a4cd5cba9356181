/** Modules, a kind of row for each type. */
import { letsIn, next } from '../generate.ts';
import { type ListRows, part } from '../list-rows.ts';
import type { Rows } from '../world.ts';

type Make = NonNullable<Rows['make']>[string];

/** What a module of each type holds. */
export const settings = (owner: string): Record<string, object> => ({
  cors: { allowOrigin: '*', allowMethods: ['GET'], allowHeaders: [], exposeHeaders: [], allowCredentials: false, maxAge: 60 },
  customHeader: { request: [letsIn(owner)], response: [letsIn(owner)] },
  proxyRewrite: { rules: [{ matchType: 'prefix', source: '/a/', target: '/b/' }] },
  urlRedirect: {},
});
const types = Object.keys(settings(''));

export const moduleRows: Rows = {
  make: {
    ...Object.fromEntries(
      types.map((type): [string, Make] => [
        `module ${type}`,
        async (rig, world) =>
          rig.insert('module', {
            siteID: await rig.at(world, 'site'),
            type,
            name: `${world.name}-${next()}`,
            settings: JSON.stringify(settings(world.name)[type]),
          }),
      ]),
    ),
    redirect: async (rig, world) =>
      rig.insert('redirect', {
        moduleID: await rig.at(world, 'module urlRedirect'),
        matchType: 'exact',
        source: `/${world.name}-${next()}`,
        target: '/',
        statusCode: 301,
      }),
  },
  kindOfField: { corsID: 'module cors', moduleId: 'module urlRedirect' },
  kindOfCall: {
    ...Object.fromEntries(
      ['customHeader', 'proxyRewrite', 'urlRedirect'].map(type => [
        `PUT /{area}/site/{siteID}/domains/module/${type}`,
        `module ${type}`,
      ]),
    ),
    ...Object.fromEntries(types.map(type => [`POST /{area}/site/{siteID}/${type}/copy`, `module ${type}`])),
    'PUT /{area}/site/{siteID}/module/proxyRewrite': 'module proxyRewrite',
  },
  parentParam: { ...Object.fromEntries(types.map(type => [`module ${type}`, 'siteID'])), redirect: 'moduleID' },
  bodies: {
    'DELETE /{area}/site/{siteID}/module/urlRedirect/{moduleID}/redirects': async (rig, world, area, ids) => ({
      ids: [await rig.fresh(world, 'redirect', area)],
      moduleId: ids['moduleID'],
    }),
  },
  lists: {
    'GET /{area}/site/{siteID}/module/urlRedirect/{moduleID}/redirects': {
      kind: 'redirect',
      filters: { keyword: part('source', 'target'), matchType: ['prefix', { matchType: 'prefix' }, {}] },
    },
    ...Object.fromEntries(
      types.flatMap(type =>
        [type, `${type}s`].map((path): [string, ListRows] => [
          `GET /{area}/site/{siteID}/module/${path}`,
          {
            kind: 'module',
            make: (rig, world, area) => rig.fresh(world, `module ${type}`, area),
            filters: { keyword: part('name', 'memo') },
          },
        ]),
      ),
    ),
  },
  values: {
    allowOrigin: () => 'https://shop.test',
    allowHeaders: () => ['X-Token'],
    exposeHeaders: () => ['X-Total'],
    rules: owner => [{ matchType: 'prefix', source: `/${owner}/`, target: '/b/' }],
    source: owner => `/${owner}-${next()}`,
    target: owner => `/to/${owner}-${next()}`,
  },
};
