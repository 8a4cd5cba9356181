/** `npm start`: installs what is missing, builds what is stale, then goes on as bin/launch.ts under Node 24. */
import { join } from 'node:path';
import {
  continueUnderNode24,
  debianPackages,
  ensureBundle,
  ensureConsole,
  ensureDebianPackages,
  ensureNpmPackages,
  projectFolder,
} from './bootstrap.js';

const args = process.argv.slice(2);
if (!args.includes('--help')) ensureDebianPackages(debianPackages);
ensureNpmPackages();
const only = args.find(arg => arg.startsWith('--only='));
if (!args.includes('--help') && (!only || only.includes('server'))) {
  ensureConsole();
  // nodes of other machines come to what others can reach
  if (process.env.BREAKWATER_HOST || process.env.BREAKWATER_PUBLIC_URL) ensureBundle();
}
continueUnderNode24([join(projectFolder, 'bin/launch.ts'), ...args]);
