import { globSync, readFileSync } from 'node:fs';
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import type { Declared, Mounted } from '../contract/src/kit/call.ts';
import { contextOfForms, nonceForStyles, withoutDefaultWords, withoutUnused } from './antd.ts';
import { notices } from './notices.ts';

const here = import.meta.dirname;
const keepAssetsDays = 14;

/**
 * `virtual:permissions`: which key each call asks for and in which areas it is, `['GET /{area}/sites', 'sites.view', ['user', 'client']]`
 * with the areas as bits, read from the table of calls when building. The whole table with its schemas would be far more than a shell
 * should load: `virtual:schemas` says where in that table the calls of each folder of the contract begin, and how the folder is loaded.
 */
function callTable(): Plugin {
  const names = ['virtual:permissions', 'virtual:schemas'];
  const source = join(here, '../contract/src');
  const contract = (path: string) => import(pathToFileURL(join(source, path)).href);
  const read = async () => {
    const [{ folders }, { groupsOf, mounted }] = await Promise.all([contract('index.ts'), contract('kit/call.ts')]);
    const bits = { user: 1, client: 2, admin: 4 } as const;
    const table = new Map<string, [key: string, permission: string | null, areas: number]>();
    const starts: [folder: string, first: number][] = [];
    for (const [folder, declared] of Object.entries<Record<string, Declared>>(folders)) {
      starts.push([folder, table.size]);
      for (const { area, key, permission } of mounted(Object.values(declared).flatMap(groupsOf)) as Iterable<Mounted>) {
        if (!area) continue;
        const row = table.get(`${key} ${permission}`) ?? [key, permission, 0];
        table.set(`${key} ${permission}`, [key, permission, row[2] | bits[area]]);
      }
    }
    return { table: [...table.values()], starts };
  };
  return {
    name: 'call-table',
    resolveId: id => (names.includes(id) ? `\0${id}` : undefined),
    async load(id) {
      if (id === `\0${names[0]}`) return `export default ${JSON.stringify((await read()).table)}`;
      if (id !== `\0${names[1]}`) return undefined;
      const folder = ([name, first]: [string, number]) =>
        `[${first}, () => import(${JSON.stringify(join(source, name, 'index.ts'))})]`;
      return `export default [${(await read()).starts.map(folder).join(', ')}]`;
    },
  };
}

/**
 * The sentences of the contract's rules, in one language: `virtual:rules-zh_TW`. A page is read in one language, and the tables hold three:
 * they come without sentences, and the words of the page fill them (src/kit/rule-words.ts).
 */
function ruleWords(): Plugin {
  const name = 'virtual:rules-';
  const file = (path: string) => join(here, '../contract/src/rules', path);
  const tables = [
    ['ruleTexts', file('texts.ts')],
    ['reasonTexts', file('reasons.ts')],
  ] as const;
  const read = async (): Promise<Record<string, Record<string, string>>[]> =>
    Promise.all(tables.map(async ([table, path]) => (await import(pathToFileURL(path).href))[table]));
  return {
    name,
    enforce: 'pre',
    resolveId: id => (id.startsWith(name) ? `\0${id}` : undefined),
    async load(id) {
      const at = tables.findIndex(([, path]) => path === id);
      if (at >= 0) {
        const empty = Object.fromEntries(Object.keys((await read())[at]!).map(rule => [rule, {}]));
        return `export const ${tables[at]![0]} = ${JSON.stringify(empty)}`;
      }
      if (!id.startsWith(`\0${name}`)) return;
      const language = id.slice(name.length + 1);
      const texts = (await read()).map(table =>
        Object.fromEntries(Object.entries(table).map(([rule, text]) => [rule, text[language]])),
      );
      return `export default ${JSON.stringify(texts)}`;
    },
  };
}

/** An open tab of the last release still asks for its chunks: they stay for a while, then go. */
function keepOldAssets(): Plugin {
  return {
    name: 'keep-old-assets',
    apply: 'build',
    async writeBundle(options, bundle) {
      const folder = join(options.dir!, 'assets');
      const oldest = Date.now() - keepAssetsDays * 86_400_000;
      for (const file of await readdir(folder).catch(() => []))
        if (!(`assets/${file.replace(/\.(br|gz)$/, '')}` in bundle) && (await stat(join(folder, file))).mtimeMs < oldest)
          await rm(join(folder, file));
    },
  };
}

/** Compressed once here instead of at every answer. */
function precompress(): Plugin {
  const options = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } };
  return {
    name: 'precompress',
    apply: 'build',
    async writeBundle({ dir }, bundle) {
      const files = Object.keys(bundle).filter(file => /^assets\/.*\.(js|css|svg)$/.test(file));
      await Promise.all(
        files.map(async file => {
          const path = join(dir!, file);
          const content = await readFile(path);
          await writeFile(`${path}.br`, await promisify(brotliCompress)(content, options));
          await writeFile(`${path}.gz`, await promisify(gzip)(content, { level: 9 }));
        }),
      );
    },
  };
}

/** theme-init.js runs before the first paint: as a file of its own it would be one more request that all else waits for. */
function inlineThemeInit(): Plugin {
  const place = '<!-- theme-init.js -->';
  return {
    name: 'inline-theme-init',
    transformIndexHtml: {
      order: 'pre',
      handler(html) {
        if (!html.includes(place)) throw new Error(`index.html has no ${place}`);
        const code = readFileSync(join(here, 'theme-init.js'), 'utf8')
          .replace(/^\/\/.*$/gm, '')
          .trim();
        return html.replace(place, () => `<script>${code}</script>`);
      },
    },
  };
}

/**
 * The console in layers: each is all that its roots reach and that no layer before it has, and travels as one file. What a page loads is
 * the layers it stands on and its own few screens, however many screens there are. system/browser/weight.test.ts weighs every page.
 */
const ours = (folder: string, names: string) => new RegExp(`console/src/${folder}/(?:${names})[.]tsx?$`);
const contract = (names: string) => new RegExp(`contract/src/(?:${names})[.]ts$`);
const antd = (names: string) => new RegExp(`node_modules/antd/es/(?:${names})/`);
const layers: { name: string; roots: RegExp[] }[] = [
  // with the router in one file: a kilobyte less than in two, and both change as rarely
  { name: 'react', roots: [/node_modules\/(?:react|react-dom|scheduler|@tanstack\/react-router)\//, /rolldown[:/]runtime/] },
  // the pages before the shell: sign-in, states, how texts are said
  {
    name: 'start',
    roots: [
      ours('shell', 'login-shell|states|notices'),
      ours('account', 'login'),
      ours('kit', 'text|screens|leaving|guard|client|deployment|later|release|of-area'),
      ours('areas', 'area'),
      // the tables of pages: addresses and names alone
      ours('\\w+', 'screens'),
    ],
  },
  // the frame of everything behind it, and what nearly every page has; icons and helpers of antd would else drag whole pieces with them
  {
    name: 'inside',
    roots: [
      ours('shell', 'shell'),
      ours(
        'kit',
        'page|empty|status|permissions|query|form|form-state|sections-state|schema-of|confirm|copy|csv|overlay-host|return|units|time|use-narrow|present|search',
      ),
      antd('segmented|skeleton|_util'),
      /node_modules\/@ant-design\/icons\/es\/icons\//,
      // what the words of several languages share
      /node_modules\/@rc-component\/(?:picker\/es\/locale\/common|pagination\/es\/locale\/zh_CN)[.]js$/,
      /node_modules\/@tanstack\/react-query\/build\/modern\/(?:useQuery|useBaseQuery|QueryClientProvider)[.]js/,
    ],
  },
  {
    name: 'controls',
    roots: [
      ours('kit', 'filter-input|choices|resource|bits'),
      antd('select|input|switch|checkbox|popover|tag'),
      // what the system said is read on three pages, and has all languages
      contract('rules/(?!said[.])[\\w-]+|states'),
    ],
  },
  {
    name: 'lists',
    roots: [
      ours('site', 'state|share-needs'),
      ours('domain', 'upstream-fields'),
      ours('kit', 'resource-page|batch-form|row-values|rule-parts|each|history-of|value-text|members|export|setting|tabs'),
    ],
  },
  // what a form and a dialog share comes with the drawer; a question over a form comes when it is asked
  { name: 'dialogs', roots: [antd('drawer|grid')] },
  { name: 'modals', roots: [antd('modal')] },
  { name: 'forms', roots: [ours('kit', 'form-drawer|fields|why')] },
  // one card of a page is its form, whichever way it is saved
  { name: 'cards', roots: [ours('kit', 'card-form|setting-form')] },
  // what all schemas are made of; those of a folder come with the first form that needs one (kit/schema-of.ts)
  {
    name: 'contract',
    roots: [ours('kit', 'contract'), contract('kit/.*|[\\w-]+')],
  },
];
const startWords = (id: string) => {
  const [, language] = /console\/src\/text\/(?:first|start)[.](\w+)[.]ts$/.exec(id) ?? [];
  return language === undefined ? null : `start.${language}`;
};
/** What several screens of a folder share. */
const folderOf = (id: string) => {
  const [, folder] = /console\/src\/(\w+)\/[\w-]+\.tsx?$/.exec(id) ?? [];
  // of the kit whole layers hang on single files: one that is in none goes with whoever uses it
  return folder === undefined || folder === 'kit' ? null : folder;
};

const styles = () =>
  globSync('src/**/*.css', { cwd: here })
    .map(file => readFileSync(join(here, file), 'utf8'))
    .join('\n');

/** What the kit needs wherever it is built: here, and in its own gallery (gallery/vite.config.ts). */
export const forKit = () => [
  react(),
  callTable(),
  ruleWords(),
  nonceForStyles(),
  withoutUnused(),
  withoutDefaultWords(),
  contextOfForms(),
  inlineThemeInit(),
];
// what React has by itself, without the copy for older ones
export const resolve = { alias: { 'use-sync-external-store/shim/with-selector': 'use-sync-external-store/with-selector.js' } };

export default defineConfig({
  root: here,
  base: '/',
  plugins: [...forKit(), keepOldAssets(), precompress(), notices(styles, join(here, '../node_modules'))],
  resolve,
  html: { cspNonce: '__NONCE__' },
  build: {
    outDir: 'dist',
    emptyOutDir: false,
    manifest: true,
    target: 'es2022',
    // all browsers of that target know it
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 900,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            ...layers.map(({ name, roots }, index) => ({
              name,
              test: (id: string) => roots.some(root => root.test(id)),
              priority: layers.length - index,
            })),
            // what the pages before the shell say is said in it too: one file, for it is there already
            { name: startWords, priority: 1 },
            { name: folderOf, minShareCount: 2, priority: 0 },
          ],
        },
      },
    },
  },
  server: { proxy: { '/api': { target: process.env['BREAKWATER_URL'] ?? 'http://127.0.0.1:8080' } } },
});
