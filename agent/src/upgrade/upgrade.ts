/**
 * Another version of a node, while it serves. The old agent does all of it, for it is known to be good:
 *
 * 1. the archives are fetched and checked, and placed beside what runs (place.ts);
 * 2. the new agent tells its options; then it starts for itself, in a folder of its own, with an nginx of its own on loopback and all
 *    records of now (`--shadow`): `nginx -t` runs no Lua. Each host is asked of both, and the answers compared;
 * 3. the old agent lets go of nginx, which serves on, and watches the new one take it over (`--trial`): it reloads, must know itself in the
 *    new workers, and is asked for the same hosts. Until it has passed, what is started is the old version: a power cut, a crash and
 *    silence end in it;
 * 4. the choice is written down, and the process replaces itself by the new version. Should that not come up several times, `PREFIX/run`
 *    goes back (server/src/services/join.sh).
 */
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { readJson, writeWhole } from '#host/files.ts';
import { Tried, selfCheck } from './child.ts';
import { fetchPart, roomFor } from './fetch.ts';
import { type IsSigned, place, readSigned, runtimeName } from './place.ts';
import { type Answers, type Door, compare, nobody } from './probe.ts';
import { type Programs, isThere, mayPlace, programOf, sentenceOf, upgradeFiles, version as ours } from './programs.ts';

export const upgradeSteps = ['fetching', 'placing', 'checking', 'shadow', 'trial', 'changing', 'done', 'failed'] as const;
type Step = (typeof upgradeSteps)[number];
const State = z.object({
  /** of the command */
  id: z.int(),
  from: z.string(),
  to: z.string(),
  steps: z.array(z.object({ step: z.enum(upgradeSteps), at: z.string() })),
  why: z.nullable(z.string()),
});
export type UpgradeState = z.infer<typeof State>;
const isState = (value: unknown): value is UpgradeState => State.safeParse(value).success;

const Body = z.object({
  id: z.int(),
  manifest: z.string(),
  signature: z.string(),
  /** at the control plane, in front of the name of an archive */
  path: z.string().check(z.regex(/^\/[\w./-]{1,300}$/)),
});

const placeMs = 180_000;
const shadowMs = 120_000;
export const trialMs = 240_000;

export interface UpgradeOptions {
  /** the node's folder */
  data: string;
  programs: Programs | undefined;
  server(): { url: string; ca: string | undefined; isSigned: IsSigned } | undefined;
  /** some hosts that it serves, and where it does */
  hosts(most: number): string[];
  doors(): Door[];
  /** Writes what the shadow starts with into its folder. */
  copy(folder: string): Promise<void>;
  /** what a shadow is told beside its folder; its ports */
  shadow(folder: string): Promise<{ args: string[]; doors: Door[] }>;
  /** Lets go of nginx and tries the version; we are replaced then, whatever comes of it. Left out: nobody can. */
  change: ((how: Change) => void) | undefined;
  isConnected(): boolean;
  /** there is something to tell */
  changed(): void;
  log(message: string): void;
}
/** What the old agent does once it has let go of nginx. */
export interface Change {
  node: string;
  main: string;
  args: string[];
  /** It passed or not. @returns the program to go on as */
  over(why: string | null): { node: string; main: string } | undefined;
}
export interface TrialPlan {
  version: string;
  doors: Door[];
  answers: Answers;
  /** the bus was there: it must be there again */
  connected: boolean;
}

const hostsMost = { shadow: 40, trial: 10 };

export class Upgrade {
  readonly #options: UpgradeOptions;
  readonly #files: ReturnType<typeof upgradeFiles>;
  #state: UpgradeState | undefined;
  readonly #settled = Promise.withResolvers<void>();
  #isBusy = false;

  constructor(options: UpgradeOptions) {
    this.#options = options;
    this.#files = upgradeFiles(options.data);
    this.#state = readJson(this.#files.state, isState);
  }

  /** For the heartbeat. */
  report(): (UpgradeState & { able: boolean }) | { able: boolean } {
    const able = this.#options.programs !== undefined;
    return this.#state ? { able, ...this.#state } : { able };
  }

  /** This start has come up, `isGood`: what was begun before it is over. */
  came(): void {
    const state = this.#state;
    const last = state?.steps.at(-1)?.step;
    if (state && last !== 'done' && last !== 'failed') {
      if (ours === state.to && last === 'changing') this.#end(null);
      // `run` went back, or the machine lost its power in the midst of it
      else if (last === 'trial' || last === 'changing') {
        const why =
          last === 'trial' ? 'the node was restarted while the new version was tried' : 'the new version did not come up';
        this.#choose(ours);
        this.#end(`${why}: it goes on with ${ours}`);
      }
      // before it changed anything: begun anew when it is told again
    }
    for (const file of [this.#files.previous, this.#files.starts, this.#files.plan]) rmSync(file, { force: true });
    this.#settled.resolve();
  }

  /** The verb. @throws why it is as it was */
  async run(body: string): Promise<void> {
    await this.#settled.promise;
    const asked = Body.parse(JSON.parse(body));
    const over = this.#over(asked.id);
    if (over) return over();
    if (this.#isBusy) throw new Error('another upgrade is under way');
    this.#isBusy = true;
    try {
      await this.#work(asked);
    } catch (error) {
      if (this.#state?.id === asked.id) this.#end(sentenceOf(error));
      throw error;
    } finally {
      this.#isBusy = false;
    }
    // replaced; whoever comes after answers
    await new Promise<never>(() => {});
  }

  #over(id: number): (() => void) | undefined {
    const state = this.#state;
    const last = state?.steps.at(-1)?.step;
    if (state?.id !== id || (last !== 'done' && last !== 'failed')) return undefined;
    return () => {
      if (state.why !== null) throw new Error(state.why);
    };
  }

  async #work({ id, manifest, signature, path }: z.infer<typeof Body>): Promise<void> {
    const { programs, server, change, log } = this.#options;
    if (!programs) throw new Error('this node runs in the folder of the installation: it is upgraded together with it');
    if (!change) throw new Error('this agent cannot be replaced by itself');
    const to = server();
    if (!to) throw new Error('this node has not joined');
    const bundle = readSigned(manifest, signature, to.isSigned);
    const { prefix } = programs;
    const next = bundle.version;
    this.#state = { id, from: ours, to: next, steps: [], why: null };
    if (next === ours) return (this.#end(null), this.#over(id)!());
    log(`upgrade to ${next}`);
    const { folder } = this.#files;
    this.#step('fetching');
    if (!isThere(prefix, next)) {
      const hasRuntime = existsSync(join(prefix, 'runtime', runtimeName(bundle.runtime), 'node'));
      const parts = [['application', bundle.application] as const, ...(hasRuntime ? [] : [['runtime', bundle.runtime] as const])];
      await roomFor(
        folder,
        prefix,
        parts.map(([, part]) => part),
      );
      for (const [name, part] of parts) await fetchPart(new URL(`${path}/${name}`, to.url), to.ca, folder, part);
      this.#step('placing');
      writeWhole(join(folder, 'bundle.json'), manifest);
      writeWhole(join(folder, 'bundle.sig'), signature);
      await this.#place(programs, next, to.isSigned);
      for (const [, part] of parts) await rm(join(folder, part.file), { force: true });
    }
    const program = programOf(prefix, next);
    this.#step('checking');
    await selfCheck(program);
    this.#step('shadow');
    const answers = await this.#shadow(program);
    this.#step('trial');
    this.#change(program, { version: next, doors: this.#options.doors(), answers, connected: this.#options.isConnected() });
    // there is no way back from here but through the next start
    await new Promise<never>(() => {});
  }

  async #place(programs: Programs, next: string, isSigned: IsSigned): Promise<void> {
    const { prefix } = programs;
    if (mayPlace(programs)) {
      await place({ prefix, from: this.#files.folder, isSigned, keep: [ours] });
      return;
    }
    const said = join(prefix, 'placed.json');
    const isSaid = (value: unknown): value is { version: string; why: string | null; asked: string } =>
      typeof value === 'object' && value !== null && 'why' in value && 'asked' in value;
    if (!existsSync(join(prefix, 'places')))
      throw new Error(
        `the programs below ${prefix} are root's, and nobody places new ones: run a join line of the console there`,
      );
    const asked = `${next} ${ours} ${Date.now()}`;
    writeWhole(this.#files.place, asked);
    for (const end = performance.now() + placeMs; performance.now() < end;) {
      await new Promise(done => setTimeout(done, 200));
      const answer = readJson(said, isSaid);
      if (answer?.asked !== asked) continue;
      if (answer.why) throw new Error(`the new version is not placed: ${answer.why.slice(0, 200)}`);
      return;
    }
    rmSync(this.#files.place, { force: true });
    throw new Error(`the new version is not placed below ${prefix}: breakwater-node-placer does not answer`);
  }

  /** @returns what is to be answered after the change @throws a sentence */
  async #shadow(program: { node: string; main: string }): Promise<Answers> {
    const { data, hosts, doors, copy, shadow, log } = this.#options;
    const folder = join(data, 'shadow');
    await rm(folder, { recursive: true, force: true });
    mkdirSync(folder, { mode: 0o711 });
    let tried: Tried | undefined;
    try {
      await copy(folder);
      const { args, doors: theirs } = await shadow(folder);
      tried = new Tried(program, args);
      const { why } = await tried.said(shadowMs);
      if (why !== null) throw new Error(`the new version does not serve beside the old one: ${why}`);
      const asked = [nobody, ...hosts(hostsMost.shadow)];
      const { differs, answers } = await compare(doors(), theirs, asked);
      if (differs) throw new Error(`the new version answers otherwise: ${differs}`);
      log(`the new version answers like the old one: ${asked.length} hosts`);
      const some = new Set(asked.slice(0, hostsMost.trial + 1));
      return Object.fromEntries(Object.entries(answers).filter(([key]) => some.has(key.slice(key.indexOf('//') + 2))));
    } finally {
      await tried?.end();
      await rm(folder, { recursive: true, force: true });
    }
  }

  #change(program: { node: string; main: string }, plan: TrialPlan): void {
    const { change, programs, log } = this.#options;
    writeWhole(this.#files.plan, JSON.stringify(plan));
    change!({
      ...program,
      args: ['--trial', this.#files.plan],
      over: why => {
        if (why === null) {
          log(`${plan.version} serves: the node goes on with it`);
          this.#choose(plan.version, ours);
          this.#step('changing');
          return program;
        }
        log(`${plan.version} is given up: ${why}`);
        this.#end(`the new version did not pass its trial: ${why}`);
        rmSync(this.#files.plan, { force: true });
        return programOf(programs!.prefix, ours);
      },
    });
  }

  #choose(version: string, previous?: string): void {
    if (previous) writeWhole(this.#files.previous, previous);
    writeWhole(this.#files.current, version);
  }

  #step(step: Step): void {
    this.#state!.steps.push({ step, at: new Date().toISOString() });
    this.#save();
  }
  #end(why: string | null): void {
    this.#state!.why = why?.slice(0, 300) ?? null;
    this.#options.log(why === null ? `this is ${this.#state!.to} now` : `upgrade to ${this.#state!.to}: ${why}`);
    this.#step(why === null ? 'done' : 'failed');
  }
  #save(): void {
    try {
      mkdirSync(this.#files.folder, { recursive: true, mode: 0o700 });
      writeWhole(this.#files.state, JSON.stringify(this.#state));
    } catch (error) {
      // a full disk: what it said is known as long as it runs
      this.#options.log(`the state of the upgrade cannot be written: ${sentenceOf(error)}`);
    }
    this.#options.changed();
  }
}
