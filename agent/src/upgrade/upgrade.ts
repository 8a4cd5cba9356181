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
 *    goes back (server/src/services/join.sh);
 * 5. it is watched for some minutes more, here (watch.ts) and by the control plane, which may tell it to go back.
 */
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { readJson, writeWhole } from '#host/files.ts';
import { Tried, selfCheck } from './child.ts';
import { dropOthers, fetchPart, roomFor } from './fetch.ts';
import { missingPackages } from './packages.ts';
import { type IsSigned, place, readSigned, runtimeName } from './place.ts';
import { type Answers, type Door, compare, nobody } from './probe.ts';
import { type Programs, isThere, isVersion, mayPlace, programOf, sentenceOf, upgradeFiles, version as ours } from './programs.ts';
import { type TrialPlan, isPlan } from './trial.ts';
import { Watch, type WatchPlan, isWatchPlan, reachesWith } from './watch.ts';

export const upgradeSteps = ['fetching', 'placing', 'checking', 'shadow', 'trial', 'changing', 'done', 'failed', 'back'] as const;
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

const Back = z.object({ from: z.string(), to: z.string() });

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
  /** Lets go of nginx and goes on as this program, whatever it was. Left out: nobody can. */
  become: ((program: Program) => void) | undefined;
  isConnected(): boolean;
  /** there is something to tell */
  changed(): void;
  log(message: string): void;
}
type Program = ReturnType<typeof programOf>;
/** What the old agent does once it has let go of nginx. */
export interface Change {
  node: string;
  main: string;
  args: string[];
  /** It passed or not. @returns the program to go on as */
  over(why: string | null): { node: string; main: string } | undefined;
}
const hostsMost = { shadow: 40, trial: 10 };

export class Upgrade {
  readonly #options: UpgradeOptions;
  readonly #files: ReturnType<typeof upgradeFiles>;
  #state: UpgradeState | undefined;
  readonly #settled = Promise.withResolvers<void>();
  #isBusy = false;
  #watch: Watch | undefined;
  #next: Program | undefined;

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
    const { watch, previous, starts, plan } = this.#files;
    // the choice is on the disk, though the step behind it may not be: the power was cut in between, or the disk was full
    const isChosen = last === 'changing' || (last === 'trial' && existsSync(previous));
    if (state && ours === state.to && isChosen) {
      this.#end(null);
      const tried = readJson(plan, isPlan);
      if (tried) this.#write(watch, JSON.stringify({ ...tried, from: state.from }));
    } else if (state && (last === 'trial' || last === 'changing')) {
      // `run` went back, or the machine lost its power in the midst of it
      const why = last === 'trial' ? 'the node was restarted while the new version was tried' : 'the new version did not come up';
      this.#choose(ours);
      this.#end(`${why}: it goes on with ${ours}`);
    } else if (state && last === 'done' && ours === state.from && existsSync(watch)) {
      this.#choose(ours);
      this.#wentBack(`${state.to} ended again and again: it goes on with ${ours}`);
    }
    // else what was begun changed nothing: it begins anew when it is told again
    const watched = ours === state?.to ? readJson(watch, isWatchPlan) : undefined;
    for (const file of watched ? [plan] : [plan, previous, starts, watch]) rmSync(file, { force: true });
    if (watched) this.#begin(watched);
    this.#settled.resolve();
  }

  /** Until then what ends again and again is left for what was before (server/src/services/join.sh, `run`). */
  #begin(plan: WatchPlan): void {
    const { programs, data, isConnected, log } = this.#options;
    const before = programOf(programs?.prefix ?? '', plan.from);
    const { watch, previous, starts } = this.#files;
    const over = () => {
      for (const file of [watch, previous, starts]) rmSync(file, { force: true });
    };
    const back = (why: string) => {
      try {
        this.#next = this.#goBack(plan.from, why);
        this.leave();
      } catch (error) {
        log(`${why}. It goes on as it is: ${sentenceOf(error)}`);
        over();
      }
    };
    this.#watch = new Watch({ plan, isConnected, reaches: () => reachesWith(before, data), back, over, log });
    this.#watch.start();
  }
  stop(): void {
    this.#watch?.stop();
  }

  /** The verb by which the control plane takes it back: all but the leaving, which comes after the answer. @throws why it goes on as it is */
  back(body: string): void {
    const { from, to } = Back.parse(JSON.parse(body));
    if (ours === to) return;
    if (ours !== from) throw new Error(`it runs ${ours}, not ${from}`);
    if (this.#isBusy) throw new Error('another upgrade is under way');
    this.#next = this.#goBack(to, `the control plane took it back to ${to}`);
  }
  /** What `back` prepared. */
  leave(): void {
    this.stop();
    if (this.#next) this.#options.become!(this.#next);
  }

  /** @returns what is to be started @throws a sentence; nothing was changed then */
  #goBack(to: string, why: string): Program {
    const { programs, become } = this.#options;
    if (!programs || !become) throw new Error('this agent cannot be replaced by itself');
    if (!isVersion(to) || !isThere(programs.prefix, to)) throw new Error(`${to} is no longer on its disk`);
    this.#choose(to);
    const { watch, previous, starts } = this.#files;
    for (const file of [watch, previous, starts]) rmSync(file, { force: true });
    this.#wentBack(why);
    return programOf(programs.prefix, to);
  }
  #wentBack(why: string): void {
    this.#options.log(why);
    if (!this.#state) return;
    this.#state.why = why.slice(0, 300);
    this.#step('back');
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
    if (state?.id !== id || (last !== 'done' && last !== 'failed' && last !== 'back')) return undefined;
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
    const missing = await missingPackages(bundle.packages);
    if (missing.length)
      throw new Error(
        `Debian packages are missing that ${next} needs: ${missing.join(' ')}. Install them there, or run a join line of the console`,
      );
    const { folder } = this.#files;
    this.#step('fetching');
    if (!isThere(prefix, next)) {
      const hasRuntime = existsSync(join(prefix, 'runtime', runtimeName(bundle.runtime), 'node'));
      const parts = [['application', bundle.application] as const, ...(hasRuntime ? [] : [['runtime', bundle.runtime] as const])];
      const wanted = parts.map(([, part]) => part);
      await dropOthers(folder, wanted);
      await roomFor(folder, prefix, wanted);
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

  /** @throws a sentence */
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
    this.#write(this.#files.state, JSON.stringify(this.#state));
    this.#options.changed();
  }
  /** On a full disk: what it said is known as long as it runs. */
  #write(file: string, text: string): void {
    try {
      mkdirSync(this.#files.folder, { recursive: true, mode: 0o700 });
      writeWhole(file, text);
    } catch (error) {
      this.#options.log(`${file} cannot be written: ${sentenceOf(error)}`);
    }
  }
}
