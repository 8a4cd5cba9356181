/** The licences of what is bundled, written beside it: most of them ask for their text wherever the code goes. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'vite';

export const noticesFile = 'NOTICES/third-party.txt';

interface Manifest {
  name: string;
  version: string;
  license?: string;
  homepage?: string;
  author?: string | { name?: string };
}

/** The folder of the package a module belongs to; undefined for our own. A nested package is its own. */
export function packageFolder(id: string): string | undefined {
  const path = id.replace(/^\0/, '').replace(/[?#].*$/, '');
  return /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1];
}

/** Fonts and pictures that style sheets name; they are copied, and are no modules. */
function namedByStyles(css: string, modules: string): string[] {
  return [...css.matchAll(/url\(\s*['"]?((?:@[^/'")]+\/)?[^/'")]+)\/[^'")]*['"]?\s*\)/g)]
    .map(match => join(modules, match[1]!))
    .filter(folder => existsSync(join(folder, 'package.json')));
}

const licenceFile = /^(licen[cs]e|copying|notice|copyright)([-.].*)?$/i;

const mit = (who: string) => `MIT License

Copyright (c) ${who}

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;

/** @throws for a package that says no licence: then nobody may pass it on */
export function noticeOf(folder: string): string {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
  const { name, version, license, homepage, author } = manifest;
  if (!license) throw new Error(`${name} ${version} names no licence`);
  const files = readdirSync(folder)
    .filter(file => licenceFile.test(file))
    .sort();
  const who = typeof author === 'string' ? author : author?.name;
  const texts = files.map(file => readFileSync(join(folder, file), 'utf8').trim());
  if (!texts.length && license !== 'MIT') throw new Error(`${name} ${version} brings no text of its licence ${license}`);
  // the MIT licence has one text; some packages leave it out and name the licence alone
  const body = texts.length ? texts.join('\n\n') : mit(who ?? `the authors of ${name}`);
  return [`${name} ${version} (${license})${homepage ? `\n${homepage}` : ''}`, '', body].join('\n');
}

/** Writes `NOTICES/third-party.txt` with every package of which something is in the bundle. */
export function notices(styles: () => string, modules: string): Plugin {
  return {
    name: 'third-party-notices',
    apply: 'build',
    generateBundle() {
      const folders = new Set([...this.getModuleIds()].flatMap(id => packageFolder(id) ?? []));
      for (const folder of namedByStyles(styles(), modules)) folders.add(folder);
      const rule = `\n\n${'-'.repeat(80)}\n\n`;
      const all = [...folders].filter(folder => existsSync(join(folder, 'package.json'))).map(noticeOf);
      const text = ['Third-party software in the Breakwater console', ...[...new Set(all)].sort()].join(rule);
      this.emitFile({ type: 'asset', fileName: noticesFile, source: `${text}\n` });
    },
  };
}
