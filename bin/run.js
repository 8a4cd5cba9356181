/**
 * Runs something of this project under the pinned Node 24, with its packages installed:
 *   node bin/run.js bin/test.ts …       a TypeScript program
 *   node bin/run.js --exec tsc …        a program of node_modules/.bin
 *   node bin/run.js --build             builds the console if it is stale
 */
import { delimiter, join } from 'node:path';
import {
  continueUnderNode24,
  debianBenchPackages,
  debianPackages,
  debianTestPackages,
  ensureConsole,
  ensureDebianPackages,
  ensureNpmPackages,
  fail,
  node24,
  projectFolder,
} from './bootstrap.js';

const [what, ...rest] = process.argv.slice(2);
if (!what) fail('Say what to run, for example: node bin/run.js bin/test.ts');
if (what === 'bin/test.ts') ensureDebianPackages([...debianPackages, ...debianTestPackages]);
if (what === 'bin/bench.ts') ensureDebianPackages([...debianPackages, ...debianTestPackages, ...debianBenchPackages]);
ensureNpmPackages();
process.env.PATH = [join(node24, '..'), join(projectFolder, 'node_modules/.bin'), process.env.PATH].join(delimiter);
if (what === '--build') ensureConsole();
else if (what === '--exec') continueUnderNode24([join(projectFolder, 'node_modules/.bin', rest[0]), ...rest.slice(1)]);
else continueUnderNode24([join(projectFolder, what), ...rest]);
