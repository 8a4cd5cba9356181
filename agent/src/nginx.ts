/**
 * nginx as a child that outlives us: it has a session of its own, so that an agent that is killed or upgraded takes no visitor with
 * it. The next agent finds it by its state file and goes on with it, or ends what is left of it when the master is gone: workers
 * without a master would hold the ports.
 *
 * The configuration is rendered by render/nginx.ts and hardly ever changes; then nginx tests it and is told to reload.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, fstatSync, openSync } from 'node:fs';
import { readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readJson, writeWhole } from '#host/files.ts';
import { Control, ControlError, type Stat } from './control.ts';
import { isAbsent, lastError, takenPort, testConfig } from './nginx-said.ts';
import { isState, type NginxFolders, type NginxState as State, Relief, isFull, prepareFolders, writing } from './nginx-files.ts';
import { allProcesses, bootID, processFacts, shortly, signal, signalGroup, worksIn } from './processes.ts';
import { endOldest, oldWorkers } from './old-workers.ts';
import { HTTP3 } from './http3.ts';
import { ZonePorts } from './ports.ts';
import { pulseMs, silencesUntil, startPulse } from './pulse.ts';
import { hasBrotli, type NodeFacts, renderNginx } from './render/nginx.ts';
import { withMemoryOf } from './render/memory.ts';
import { recordsForm } from './render/records.ts';
import { workerAccount } from './worker-account.ts';

export interface NginxOptions {
  folders: NginxFolders;
  /** ports and sizes; folders, epoch and user are filled in */
  facts: Pick<NodeFacts, 'luaDir' | 'httpPorts' | 'httpsPorts'> & Partial<NodeFacts>;
  /** Writes snapshot.bin: nginx is about to be started. */
  beforeStart(): Promise<void>;
  /** nginx answers on its control socket; `adopted`: it was running before us. */
  up(adopted: boolean): void;
  /** It does not run, and why. */
  down(problem: string): void;
  log(message: string): void;
}

const watchMs = 250;
/** It reads all its records before it answers: 100,000 domains on a busy machine take their time. */
const startLimitMs = 60_000;
/** `settled`: it ran this long, and the next failure starts at the least delay again. */
const backoffMs = { least: 200, most: 5000, settled: 30_000 };

export class Nginx {
  readonly control: Control;
  readonly zonePorts: ZonePorts;
  readonly http3 = new HTTP3();
  restarts = 0;
  readonly #options: NginxOptions;
  readonly #configFile: string;
  readonly #stateFile: string;
  #state: State | undefined;
  #child: ChildProcess | undefined;
  #stopping = false;
  #wake: () => void = () => {};
  #first: () => void = () => {}; // `start` is over
  #running: Promise<void> = Promise.resolve();
  #restart = false;
  readonly #relief: Relief;

  constructor(options: NginxOptions) {
    this.#options = options;
    const { home, run } = options.folders;
    this.#configFile = join(home, 'nginx.conf');
    this.#stateFile = join(run, 'nginx.json');
    this.#relief = new Relief(options.folders, options.log);
    this.control = new Control(join(run, 'ctl', 'ctl.sock'));
    this.zonePorts = new ZonePorts(this.control);
  }

  get pid(): number | undefined {
    return this.#state?.pid;
  }
  get alive(): boolean {
    return this.#state !== undefined && processFacts(this.#state.pid)?.start === this.#state.start;
  }

  /** Whether it was started by us since the machine was. */
  get ranSinceBoot(): boolean {
    return readJson(this.#stateFile, isState)?.boot === bootID();
  }

  /** Starts it, or takes over the one that runs, and keeps it running until `stop`. Resolves when it is up for the first time, or has failed once. */
  async start(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#first = resolve;
    this.#running = this.#supervise();
    await promise;
  }

  /** Ends it gracefully: requests under way are answered, at most `limitMs`. */
  async stop(limitMs = 10_000): Promise<void> {
    this.#stopping = true;
    this.#wake();
    await this.#end('SIGQUIT', limitMs);
    await this.#running;
    await this.#end('SIGQUIT', limitMs); // one that was being started meanwhile
    this.control.close();
  }

  /** Lets go of it: it serves on, for whoever takes it over. */
  async leave(): Promise<void> {
    this.#stopping = true;
    this.#wake();
    await this.#running.then(() => this.control.close());
  }

  /** Takes another set of facts; nginx reloads when its configuration reads otherwise. @throws what `nginx -t` says */
  async configure(facts: Partial<NodeFacts>): Promise<boolean> {
    Object.assign(this.#options.facts, facts);
    const state = this.#state;
    if (!state) return false;
    const isOther = await this.#writeConfig(state.epoch);
    if (!isOther && !this.zonePorts.isLacking) return false;
    // one that was started meanwhile has read it, and the number of one that ended may be another's
    if (this.#state === state) this.tell('SIGHUP');
    await this.zonePorts.opened();
    return true;
  }

  /** SIGUSR1: its logs were renamed; SIGHUP: it is to read its configuration, and the files that names, anew. */
  tell(name: 'SIGUSR1' | 'SIGHUP'): void {
    if (!this.alive) return;
    const { pid } = this.#state!;
    const ended = name === 'SIGHUP' ? endOldest(pid) : [];
    if (ended.length) this.#options.log(`workers of reloads long ago are ended: ${ended.join(', ')}`);
    signal(pid, name);
  }

  /** Starts it anew from a fresh snapshot: for when it holds records that nobody can name any more. */
  restartNow(why: string): void {
    this.#options.log(`nginx is started anew: ${why}`);
    this.#restart = true;
    this.#wake();
  }

  async #supervise(): Promise<void> {
    let delay: number = backoffMs.least;
    while (!this.#stopping) {
      const since = performance.now();
      try {
        const adopted = await this.#startOrAdopt();
        if (this.#stopping) break;
        await this.#relief.restore();
        this.#options.up(adopted);
        this.#first();
        await this.#watch();
        if (this.#stopping) break;
        if (this.#restart) await this.#end('SIGQUIT', 2000);
        else this.#options.down('nginx ended and is started again');
      } catch (error) {
        this.#options.down((error as Error).message);
        this.#options.log((error as Error).message);
        this.#first();
      }
      await this.#endLeftovers();
      this.restarts++;
      if (this.#restart) {
        this.#restart = false;
        continue;
      }
      if (performance.now() - since > backoffMs.settled) delay = backoffMs.least;
      await this.#sleep(delay);
      delay = Math.min(delay * 2, backoffMs.most);
    }
    this.#first();
  }

  async #watch(): Promise<void> {
    const { up, down, log } = this.#options;
    const pulse = startPulse({
      ask: () => this.control.ping(),
      silent: () => down('nginx does not answer'),
      back: () => up(true),
      hung: () => {
        log('nginx hangs: it is killed and started again');
        // whole: a stopped process takes no other signal, and workers without a master would hold the ports
        if (this.alive) signalGroup(this.#state!.pid, 'SIGKILL');
      },
    });
    while (this.alive && !this.#stopping && !this.#restart) await this.#sleep(watchMs);
    pulse.stop();
  }

  #sleep(ms: number): Promise<void> {
    return new Promise(done => {
      const timer = setTimeout(done, ms);
      this.#wake = () => (clearTimeout(timer), done());
    });
  }

  /** @returns whether it had been running already */
  async #startOrAdopt(): Promise<boolean> {
    const { folders, facts } = this.#options;
    for (;;) {
      try {
        await writing(folders.home, () => prepareFolders(folders, facts.httpsPorts.length > 0));
        if (await this.#adopt()) return true;
        await this.#endLeftovers();
        if (!this.#stopping) await this.#launch();
        return false;
      } catch (error) {
        // Visitors come before what is cached and what can be told anew.
        if (!this.#stopping && isFull(error) && (await this.#relief.giveWay((error as Error).message))) continue;
        this.#relief.reset();
        throw error;
      }
    }
  }

  async #launch(): Promise<void> {
    const { folders, beforeStart } = this.#options;
    // nginx does not start on a socket that is there.
    for (const socket of ['ctl/ctl.sock', 'back/back.sock']) await rm(join(folders.run, socket), { force: true });
    const epoch = Date.now().toString(36);
    if (!this.#relief.bare) await writing(folders.snapshot, beforeStart);
    await this.#writeConfig(epoch, true);
    if (this.#stopping) return;
    const output = openSync(join(folders.logs, 'nginx.out'), 'a', 0o640);
    const { size: saidBefore } = fstatSync(output);
    // ours may include the firewall's; it needs ports below 1024 at most
    const child = spawn(
      'setpriv',
      ['--inh-caps=-net_admin', '--ambient-caps=-net_admin', 'nginx', ...this.#arguments(), '-g', 'daemon off;'],
      {
        cwd: folders.run,
        detached: true,
        stdio: ['ignore', output, output],
        env: { PATH: process.env.PATH ?? '/usr/sbin:/usr/bin:/sbin:/bin', TZ: 'UTC' },
      },
    );
    closeSync(output);
    this.#child = child;
    let ended: string | undefined;
    child.once('error', error => (ended = `nginx cannot be started: ${error.message}`));
    child.once('exit', (code, name) => ((ended = `nginx ended with ${name ?? code}`), this.#wake()));
    child.unref();
    const facts = child.pid && processFacts(child.pid);
    if (facts)
      await writing(this.#stateFile, () => this.#remember({ pid: facts.pid, start: facts.start, boot: bootID(), epoch }));
    const deadline = performance.now() + startLimitMs;
    while (!(await this.#answers())) {
      if (this.#stopping) return;
      if (ended || performance.now() > deadline)
        throw await this.#explain(ended ?? `nginx does not answer after ${startLimitMs / 1000} s`, saidBefore);
      await this.#sleep(20);
    }
    await this.zonePorts.ask();
  }

  /** Goes on with an nginx an earlier agent started, if it is whole. */
  async #adopt(): Promise<boolean> {
    // without it, or with half of it, what runs is found by its working folder and ended
    const state = readJson(this.#stateFile, isState);
    if (!state || state.boot !== bootID() || processFacts(state.pid)?.start !== state.start) return false;
    this.#state = state;
    const stat = await this.#statOfRunning();
    if (this.#stopping) return true; // `stop` ends it
    if (stat?.form !== recordsForm) {
      if (stat) this.#options.log('the running nginx reads records of another release: it is started anew');
      await this.#end(stat ? 'SIGQUIT' : 'SIGTERM', 2000);
      return false;
    }
    try {
      if (await this.#writeConfig(state.epoch)) this.tell('SIGHUP');
    } catch (error) {
      this.#options.log(`the running nginx keeps its configuration: ${(error as Error).message}`);
    }
    return true;
  }

  /**
   * What the nginx of an earlier agent says. It serves visitors: it is ended when the pulse would, and waited for while it is full (ping).
   */
  async #statOfRunning(): Promise<Stat | undefined> {
    let silences = 0;
    for (let asked = 0; silences < silencesUntil.hungAtFirst && this.alive && !this.#stopping; asked++) {
      if (asked === 1) {
        this.#options.log('the running nginx does not answer yet: it is waited for');
        this.#options.down('nginx does not answer yet');
        this.#first(); // the agent goes on meanwhile, and can be ended
      }
      const since = performance.now();
      let lives = false;
      try {
        await this.control.ping();
        lives = true;
        return await this.control.stat();
      } catch (error) {
        const status = error instanceof ControlError ? error.status : 0;
        // nobody listens there, or it answers and does not know the question
        if (isAbsent(error) || status === 404) return undefined;
        // refused by its Lua, or answering half, it is no more use to us than silent; hung up on, it is full
        if (lives && status === 0 && /hang up|ECONNRESET/.test((error as Error).message)) silences = 0;
        else silences++;
      }
      await this.#sleep(silences ? Math.max(watchMs, pulseMs - (performance.now() - since)) : watchMs); // as the pulse's
    }
    return undefined;
  }

  #answers(): Promise<boolean> {
    return this.control.stat().then(
      () => true,
      () => false,
    );
  }

  async #remember(state: State): Promise<void> {
    this.#state = state;
    writeWhole(this.#stateFile, JSON.stringify(state));
  }

  /** Ends the master, then whatever of its group is left. */
  async #end(name: NodeJS.Signals, limitMs: number): Promise<void> {
    if (this.alive) {
      signal(this.#state!.pid, name);
      const deadline = performance.now() + limitMs;
      while (this.alive && performance.now() < deadline) await shortly();
      if (this.alive) signal(this.#state!.pid, 'SIGTERM');
      for (const last = performance.now() + 1000; this.alive && performance.now() < last;) await shortly();
    }
    await this.#endLeftovers();
    this.#state = undefined;
  }

  /** Kills nginx processes of ours that have no master any more: they are in the master's process group and work in our folder. */
  async #endLeftovers(): Promise<void> {
    const { run } = this.#options.folders;
    const ours = () => {
      const me = process.pid;
      return allProcesses().filter(
        one => one.name === 'nginx' && one.pid !== me && one.pid !== this.#child?.pid && worksIn(one.pid, run),
      );
    };
    if (this.#child?.pid && this.#child.exitCode === null && this.#child.signalCode === null && processFacts(this.#child.pid))
      signal(this.#child.pid, 'SIGKILL');
    const left = ours();
    if (!left.length) return;
    this.#options.log(`ending ${left.length} nginx processes without a master`);
    // First politely: they write their buffered log lines.
    for (const { pid } of left) signal(pid, 'SIGTERM');
    for (const deadline = performance.now() + 1000; ours().length && performance.now() < deadline;) await shortly();
    for (const { pid } of ours()) signal(pid, 'SIGKILL');
    for (const deadline = performance.now() + 1000; ours().length && performance.now() < deadline;) await shortly();
  }

  #arguments(file = this.#configFile): string[] {
    return ['-p', this.#options.folders.run, '-c', file, '-e', join(this.#options.folders.logs, 'error.log')];
  }

  /**
   * @param always nginx is about to be started with it
   * @returns whether it reads otherwise than the one in place
   * @throws what `nginx -t` says about a new one, which is then not put in place
   */
  async #writeConfig(epoch: string, always = false): Promise<boolean> {
    const { facts, folders } = this.#options;
    const before = await readFile(this.#configFile, 'utf8').catch(() => '');
    const ports = await this.zonePorts.choose(facts, always);
    const http3 = await this.http3.choose(facts, always ? '' : before, () => oldWorkers(this.pid));
    const rendered = renderNginx({
      brotli: hasBrotli(facts.modulesDir),
      ...facts,
      ports,
      http3,
      run: folders.run,
      tempDir: folders.temp,
      cacheDir: folders.cache,
      logDir: folders.logs,
      snapshot: folders.snapshot,
      epoch,
      user: process.getuid?.() === 0 ? (await workerAccount(folders.home)).name : undefined,
    });
    const text = always ? rendered : withMemoryOf(before, rendered);
    if (before === text && !always) return false;
    const fresh = `${this.#configFile}.new`;
    await writing(this.#configFile, () => writeWhole(fresh, text));
    await testConfig(this.#arguments(fresh), folders.run);
    await writing(this.#configFile, () => rename(fresh, this.#configFile));
    return true;
  }

  /** @param from bytes of nginx.out that are of earlier starts, and no reason for this end */
  async #explain(what: string, from: number): Promise<Error> {
    const output = await readFile(join(this.#options.folders.logs, 'nginx.out')).catch(() => Buffer.alloc(0));
    // shorter: it was cut meanwhile (rotate.ts)
    const said = output
      .subarray(output.length < from ? 0 : from)
      .toString('utf8')
      .slice(-4000);
    const line = lastError(said);
    const taken = takenPort(said);
    if (taken) return new Error(`port ${taken} is taken by another program: end it, or give the node another port`);
    if (line && /No space left/.test(line))
      return Object.assign(new Error(`the disk that holds ${this.#options.folders.home} is full: ${line}`), { code: 'ENOSPC' });
    return new Error(line ? `${what}: ${line}` : what);
  }
}
