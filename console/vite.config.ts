import { globSync, readFileSync } from 'node:fs';
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import type { Mounted } from '../contract/src/kit/call.ts';
import { notices } from './notices.ts';

const here = import.meta.dirname;
const keepAssetsDays = 14;

/**
 * `virtual:permissions`: which key each call asks for, `{user: {'GET /{area}/sites': 'sites.view'}}`, read from the table of calls when
 * building. The whole table with its schemas would be far more than a shell should load.
 */
function permissions(): Plugin {
  const name = 'virtual:permissions';
  return {
    name,
    resolveId: id => (id === name ? `\0${name}` : undefined),
    async load(id) {
      if (id !== `\0${name}`) return;
      const contract = (path: string) => import(pathToFileURL(join(here, '../contract/src', path)).href);
      const [{ groups }, { mounted }] = await Promise.all([contract('index.ts'), contract('kit/call.ts')]);
      const table: Record<string, Record<string, string | null>> = { user: {}, client: {}, admin: {} };
      for (const call of mounted(groups) as Iterable<Mounted>) if (call.area) table[call.area]![call.key] = call.permission;
      return `export default ${JSON.stringify(table)}`;
    },
  };
}

/**
 * Two helpers of antd measure the scroll bar and lock the page through style tags without the page's nonce, which a strict content
 * security policy refuses. They get it from the tag Vite writes; a release that changes the line fails the build instead of the page.
 */
function nonceForStyles(): Plugin {
  const lines = /if \(csp\?\.nonce\) \{\s*styleNode\.nonce = csp\?\.nonce;\s*\}/;
  return {
    name: 'nonce-for-styles',
    transform(code, id) {
      if (!/@rc-component[\\/]util[\\/]es[\\/]Dom[\\/]dynamicCSS\.js$/.test(id)) return;
      if (!lines.test(code)) throw new Error(`${id} no longer has ${lines}`);
      return code.replace(
        lines,
        `styleNode.nonce = csp?.nonce ?? document.querySelector('meta[property="csp-nonce"]')?.nonce ?? '';`,
      );
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

/**
 * What is always loaded together travels together: the login pages with the router (`start`), the frame of everything inside (`inside`),
 * lists and forms (`lists`). The rest is cut by what each screen uses.
 */
const ours = (folder: string, names: string) => new RegExp(`console/src/${folder}/(?:${names})[.]tsx?$`);
const together = [
  { name: 'react', test: /node_modules\/(?:react|react-dom|scheduler)\// },
  { name: 'start', test: /node_modules\/@tanstack\/(?:react-router|router-core|history|react-store|store)\// },
  { name: 'start', test: /contract\/src\/(?:limits|kit\/text|kit\/call)\.ts$/ },
  {
    name: 'start',
    test: ours('kit', 'area|client|credentials|deployment|guard|notice|screens|session|spaced|stored|text|transport'),
  },
  { name: 'start', test: ours('shell', 'brand|login-shell|notices|states') },
  { name: 'start', test: ours('account', 'login|parts|said') },
  { name: 'inside', test: /node_modules\/@tanstack\/(?:react-query|query-core)\// },
  {
    name: 'inside',
    test: ours('kit', 'query|present|errors|overlay|overlay-host|permissions|theme|page|shortcuts|empty|units|time|use-narrow'),
  },
  { name: 'inside', test: ours('shell', 'shell|header|side-menu') },
  { name: 'lists', test: ours('kit', 'table|cells|filters|filter-input|choices|list-state|use-list-state|resource') },
  { name: 'lists', test: ours('kit', 'resource-page|bits|confirm|form|fields|form-paths|schema-of') },
];

const styles = () =>
  globSync('src/**/*.css', { cwd: here })
    .map(file => readFileSync(join(here, file), 'utf8'))
    .join('\n');

export default defineConfig({
  root: here,
  base: '/',
  plugins: [
    react(),
    permissions(),
    nonceForStyles(),
    keepOldAssets(),
    precompress(),
    notices(styles, join(here, '../node_modules')),
  ],
  html: { cspNonce: '__NONCE__' },
  build: {
    outDir: 'dist',
    emptyOutDir: false,
    manifest: true,
    target: 'es2022',
    chunkSizeWarningLimit: 900,
    rolldownOptions: {
      output: {
        // modules are cut without their dependencies (far smaller first pages), so their order has to be kept by hand
        strictExecutionOrder: true,
        codeSplitting: {
          includeDependenciesRecursively: false,
          groups: together.map((group, index) => ({ ...group, priority: together.length - index })),
        },
      },
    },
  },
  server: { proxy: { '/api': { target: process.env['BREAKWATER_URL'] ?? 'http://127.0.0.1:8080' } } },
});
