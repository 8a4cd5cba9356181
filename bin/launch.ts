/**
 * `npm start`, under Node 24: everything on one machine, one supervisor.
 * Starts the engines, the server and one local node in order, keeps them running, and ends them in reverse order on SIGINT or SIGTERM.
 */
import { join } from 'node:path';
import { StartError } from '#server/store/engine-process.ts';
import { watchBackups } from './launch/backups.ts';
import { demoHost, startDemo } from './launch/demo.ts';
import { handedOn } from './launch/environment.ts';
import { type Seeded, callProgram, has } from './launch/helpers.ts';
import { checkBusKeys, checkPrograms, installationKey } from './launch/keys.ts';
import { localNode, rememberLocalNode } from './launch/local-node.ts';
import { addressEnvironment } from './launch/own-authority.ts';
import { DataLock, endSession } from './launch/lock.ts';
import { Logs } from './launch/logs.ts';
import { type ChildEnv, checkDisk, makers } from './launch/parts.ts';
import { checkPort } from './launch/ports.ts';
import { halfRestored } from './launch/restoring.ts';
import { type Settings, partNames, projectFolder, readSettings, usage } from './launch/settings.ts';
import { type Supervised, supervise } from './launch/supervise.ts';
import { askServer, untilWell } from './launch/well.ts';

export { startNats } from '#server/bus/nats-launcher.ts';
export { startPostgres } from '#server/store/postgres-launcher.ts';
export { supervise } from './launch/supervise.ts';

class Launcher {
  readonly #settings: Settings;
  readonly #running: Supervised[] = [];
  readonly #env: ChildEnv;
  #lock: DataLock | undefined;
  #logs: Logs | undefined;
  #ending: Promise<void> | undefined;
  #seeded: Seeded | undefined;
  /** Nodes that joined another bus join this one anew. */
  #busIsNew = false;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#env = {
      ...handedOn(process.env),
      BREAKWATER_DATA: settings.dataFolder,
      BREAKWATER_PORT: String(settings.consolePort),
      BREAKWATER_EDGE_HTTP: String(settings.edgeHttpPort),
      BREAKWATER_EDGE_HTTPS: String(settings.edgeHttpsPort),
      BREAKWATER_EDGE_HOST: settings.edgeHosts.join(','),
      BREAKWATER_DNS: String(settings.dnsPort),
      BREAKWATER_URL: `http://127.0.0.1:${settings.consolePort}`,
      BREAKWATER_SECRET_FILE: join(settings.dataFolder, 'secret.key'),
    };
  }

  async start(): Promise<void> {
    const settings = this.#settings;
    const half = halfRestored(settings.dataFolder);
    if (half) throw new StartError(half);
    this.#lock = await DataLock.take(settings.dataFolder);
    const left = await this.#lock.endLeftovers();
    if (left > 0) console.log(`Ended ${left} process${left === 1 ? '' : 'es'} an earlier run had left behind.`);
    checkPrograms(projectFolder);
    checkDisk(settings.dataFolder);
    await this.#checkPorts();
    installationKey(settings);
    Object.assign(this.#env, addressEnvironment(settings));
    this.#busIsNew = !settings.natsUrl && checkBusKeys(join(settings.dataFolder, 'nats'));
    const logs = (this.#logs = new Logs(join(settings.dataFolder, 'logs')));
    const log = (name: string, text: string) => logs.line(name, text);
    for (const name of partNames) {
      if (!settings.parts.has(name)) continue;
      if (name === 'server') await this.#seed();
      const part = await makers[name]({ settings, logs, env: this.#env });
      if (!part) continue;
      if (this.#ending) return;
      log(name, 'starting');
      const started = await supervise(part, { log, onStart: (part, pid) => this.#lock?.remember(part, pid) });
      this.#running.push(started);
      if (this.#ending) {
        await started.stop();
        return;
      }
    }
    if (settings.parts.has('server') && this.#env.DATABASE_URL) {
      const say = (line: string) => log('backup', line);
      this.#running.push(watchBackups({ databaseUrl: this.#env.DATABASE_URL, dataFolder: settings.dataFolder, say }));
    }
    if (settings.demo && settings.parts.has('server')) {
      this.#running.push(
        ...(await startDemo({ env: this.#env, settings, logs, onStart: (part, pid) => this.#lock?.remember(part, pid) })),
      );
    }
    if (this.#ending) return;
    this.printSignIn();
    if (settings.demo) console.log(`The demo: curl -i -H 'Host: ${demoHost}' http://127.0.0.1:${settings.edgeHttpPort}/\n`);
    if (!settings.parts.has('server')) {
      console.log(`ready ${this.#running.map(part => part.name).join(', ')}`);
      return;
    }
    const origin = `http://127.0.0.1:${settings.consolePort}`;
    await untilWell({
      ask: () => askServer(origin),
      say: line => console.error(line),
      ready: () => console.log(`ready ${origin}`),
      ending: () => this.#ending !== undefined,
    });
  }

  async #checkPorts(): Promise<void> {
    const { parts, consolePort, edgeHttpPort, edgeHttpsPort, dnsPort, dnsHosts, addresses } = this.#settings;
    const { outer, bus } = addresses;
    if (parts.has('server')) {
      await checkPort(consolePort, 'BREAKWATER_PORT');
      if (outer) await checkPort(outer.port, 'BREAKWATER_TLS_PORT', 'tcp', outer.host);
    }
    if (parts.has('nats') && bus?.port) await checkPort(bus.port, 'BREAKWATER_BUS_PORT', 'tcp', bus.host);
    if (parts.has('dns'))
      for (const kind of ['tcp', 'udp'] as const) await checkPort(dnsPort, 'BREAKWATER_DNS', kind, dnsHosts[0]);
    if (parts.has('agent')) {
      await checkPort(edgeHttpPort, 'BREAKWATER_EDGE_HTTP');
      await checkPort(edgeHttpsPort, 'BREAKWATER_EDGE_HTTPS');
    }
  }

  async #seed(): Promise<void> {
    if (!has('server/src/seed.ts')) return;
    const { dataFolder, parts, databaseUrl } = this.#settings;
    const facts = { busIsNew: this.#busIsNew, busKeys: this.#env.NATS_KEYS, databaseIsOurs: !databaseUrl };
    const env = { ...this.#env, ...(parts.has('agent') && (await localNode(dataFolder, facts))) };
    this.#seeded = await callProgram<Seeded>('server/src/seed.ts', env, line => this.#logs?.line('seed', line));
    if (this.#seeded.localNode !== undefined) rememberLocalNode(dataFolder, this.#seeded.localNode);
    if (this.#seeded.joinToken) this.#env.BREAKWATER_JOIN_TOKEN = this.#seeded.joinToken;
  }

  /** Whether passwords were made that nobody has seen yet. */
  hasNewPasswords(): boolean {
    return this.#seeded?.accounts.some(account => account.password) ?? false;
  }

  /** How to sign in, once: at the end of a start, or when it failed after passwords were made. */
  printSignIn(): void {
    const seeded = this.#seeded;
    if (!seeded) return;
    this.#seeded = undefined;
    const { publicUrl } = this.#settings.addresses;
    console.log(`\nSign in at ${this.#env.BREAKWATER_URL}${publicUrl ? ` or ${publicUrl}` : ''}`);
    for (const { email, password } of seeded.accounts) {
      const known = this.#env.BREAKWATER_PASSWORD
        ? 'BREAKWATER_PASSWORD, if it was set at the first start'
        : 'as shown at the first start';
      console.log(`  ${email.padEnd(28)}${password ?? known}`);
    }
    if (seeded.accounts.some(account => account.password)) console.log('These passwords are shown this once: note them down.');
    console.log('Lost one? node bin/breakwater.js account password EMAIL --area=admin|client|user\n');
  }

  /** Ends everything in reverse order; safe to call again. */
  stop(): Promise<void> {
    return (this.#ending ??= this.#stop());
  }

  async #stop(): Promise<void> {
    for (const part of this.#running.reverse()) {
      const pid = part.pid();
      this.#logs?.line(part.name, 'ending');
      await part.stop();
      if (pid) endSession(pid);
    }
    await this.#lock?.endLeftovers();
    await this.#logs?.close();
    this.#lock?.release();
  }
}

const args = process.argv.slice(2);
process.umask(0o022); // what is private says so itself; what parts must pass through is not closed by a stricter one
if (import.meta.main) {
  if (args.includes('--help')) {
    console.log(usage);
    process.exit(0);
  }
  let launcher: Launcher | undefined;
  let asked = false;
  const end = (code: number) =>
    void (launcher?.stop() ?? Promise.resolve()).then(
      () => process.exit(code),
      error => {
        console.error(error);
        process.exit(1);
      },
    );
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (!asked) console.log('\nEnding …');
      asked = true;
      end(0);
    });
  }
  try {
    launcher = new Launcher(readSettings(args, process.env));
    await launcher.start();
  } catch (error) {
    if (!asked) {
      if (launcher?.hasNewPasswords()) launcher.printSignIn();
      console.error(`\n${sentence(error)}`);
      end(1);
    }
  }
}

/** One sentence for a person; a stack only for what nobody foresaw. */
function sentence(error: unknown): string {
  if (error instanceof StartError) return error.message;
  const { code, message, path, stack } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC') return `The disk is full: ${message}. Free some space and start again.`;
  if (code === 'EACCES' || code === 'EPERM') return `A file may not be used: ${message}.`;
  if (code === 'EROFS')
    return `The disk is read-only: ${message}. Make it writable, or set BREAKWATER_DATA to a folder on another one.`;
  if (code && path) return `A file cannot be used: ${message}. Restore it from the backup of the data folder.`;
  return `Starting failed: ${stack ?? message}`;
}
