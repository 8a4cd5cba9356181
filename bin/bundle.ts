/**
 * `npm run bundle`: what a node of another machine runs, as two archives beside a list of them (`bundle/bundle.json`), so that an upgrade
 * of Breakwater moves a hundred kilobytes and one of Node forty megabytes. The same sources make the same bytes.
 *
 *   application: agent.mjs, edge/, NOTICES     runtime: node, LICENSE
 */
import { makeBundle } from './bundle/make.ts';

const { application, runtime, version } = await makeBundle();
for (const [name, { file, bytes, sha256 }] of Object.entries({ application, runtime }))
  console.log(`${name.padEnd(12)} ${version}  ${file}  ${(bytes / 1e6).toFixed(1)} MB  sha256 ${sha256}`);
