#!/usr/bin/env node
/** The breakwater command: brings what a fresh machine lacks, then goes on as bin/cli.ts under Node 24. */
import { join } from 'node:path';
import { continueUnderNode24, ensureNpmPackages, projectFolder } from './bootstrap.js';

ensureNpmPackages();
continueUnderNode24([join(projectFolder, 'bin/cli.ts'), ...process.argv.slice(2)]);
