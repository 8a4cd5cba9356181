/** Versions of nodes for tests: made of these sources, placed as a join line does it, and packed as `npm run bundle` does. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { cpSync, existsSync, linkSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pack, stageApplication } from '#bin/bundle/make.ts';
import type { Bundle, Packed } from '#contract/node/bundle.ts';
import { TestNode } from './node.ts';

export class Versions {
  readonly home: string;
  readonly archives: string;
  /** the one that nodes begin with */
  first = '';
  #runtime!: Packed;

  private constructor(home: string) {
    this.home = home;
    this.archives = join(home, 'archives');
  }

  static async in(home: string): Promise<Versions> {
    const versions = new Versions(home);
    mkdirSync(versions.archives);
    await stageApplication(join(home, 'staged'));
    // stands for the runtime of a bundle; its archive is never unpacked here, for every version has the same
    mkdirSync(join(home, 'runtime'));
    writeFileSync(join(home, 'runtime/LICENSE'), 'x');
    versions.#runtime = await pack(join(home, 'runtime'), versions.archives, 'runtime', 1);
    const bundle = await versions.made('first');
    versions.first = bundle.version;
    return versions;
  }

  /** Programs of a machine, on which the first version is. */
  async prefix(name: string): Promise<string> {
    const prefix = join(this.home, name);
    const runtime = this.#runtime.sha256.slice(0, 12);
    const folder = join(prefix, 'runtime', runtime);
    mkdirSync(folder, { recursive: true });
    try {
      linkSync(process.execPath, join(folder, 'node'));
    } catch {
      cpSync(process.execPath, join(folder, 'node'));
    }
    await this.place(prefix);
    return prefix;
  }

  /** The first version below a prefix that has the runtime. */
  async place(prefix: string): Promise<void> {
    const place = join(prefix, 'versions', this.first);
    cpSync(join(this.home, 'first'), place, { recursive: true });
    writeFileSync(join(place, 'bundle.json'), JSON.stringify(await this.made('first')));
    symlinkSync(`../../runtime/${this.#runtime.sha256.slice(0, 12)}`, join(place, 'runtime'));
    symlinkSync(`versions/${this.first}`, join(prefix, 'current'));
  }

  /** A version of its own, which is this one but for what `change` does to its folder. */
  async made(name: string, change: (folder: string) => void = () => {}): Promise<Bundle> {
    const folder = join(this.home, name);
    if (!existsSync(folder)) cpSync(join(this.home, 'staged'), folder, { recursive: true });
    writeFileSync(join(folder, 'NOTICES'), name);
    change(folder);
    const application = await pack(folder, this.archives, 'application', 1);
    const version = `0.1.0-${application.sha256.slice(0, 12)}`;
    return { version, node: process.versions.node, packages: [], application, runtime: this.#runtime };
  }
}

export const edit = (path: string, act: (text: string) => string) => (folder: string) => {
  const before = readFileSync(join(folder, path), 'utf8');
  const text = act(before);
  assert.notEqual(text, before);
  writeFileSync(join(folder, path), text);
};

/** A node that runs a placed version. */
export class PlacedNode extends TestNode {
  id = 0;
  readonly #prefix: string;
  readonly #first: string;
  readonly #told: readonly string[];

  constructor(place: { prefix: string; first: string }, plane: { url: string }, token: string, name: string) {
    super(plane, token, name);
    this.#prefix = place.prefix;
    this.#first = place.first;
    this.#told = ['--server', plane.url, '--join', token, '--name', name];
  }

  override start(): void {
    const chosen = join(this.data, 'upgrade/current');
    const place = join(this.#prefix, 'versions', existsSync(chosen) ? readFileSync(chosen, 'utf8') : this.#first);
    const args = ['--data', this.data, ...this.#told, '--http', String(this.httpPort), '--health', String(this.healthPort)];
    this.process = spawn(join(place, 'runtime/node'), [join(place, 'agent.mjs'), ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [this.process.stdout!, this.process.stderr!])
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.log += text;
        if (process.env.TEST_ENGINE_LOG) console.error(text.trimEnd());
      });
  }
}
