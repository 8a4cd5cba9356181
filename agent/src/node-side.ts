/** What is this very machine's matter, and no site's: what an operator set of it, its share for nginx, how busy it is. */
import { totalmem } from 'node:os';
import { join } from 'node:path';
import type { DocumentOf } from '#contract/edge/kinds/index.ts';
import type { Disk } from '#contract/system/room.ts';
import type { AgentOptions } from './agent-options.ts';
import type { Connections } from './control.ts';
import { allowedCPUs, Machine, type MachineFacts } from './machine.ts';
import type { NginxFolders } from './nginx-files.ts';
import { cacheSizeDefaultMb, type NodeFacts, type Release, type ZonePort } from './render/nginx.ts';
import { NodeLog, type Verbose } from './node-log.ts';
import { NodeSettings } from './node-settings.ts';
import { rotateErrorLog } from './rotate.ts';
import { cpuList, factsOf } from './shares.ts';

export interface NodeSideOptions {
  options: Pick<AgentOptions, 'listen' | 'httpPorts' | 'httpsPorts' | 'workers' | 'isShadow' | 'isTrial'>;
  data: string;
  folders: NginxFolders;
  disk: Disk;
  release: Release | undefined;
  /** as the node reckons where its zone says nothing */
  usual: Pick<NodeFacts, 'certificatesMb' | 'cacheFiles'>;
  /** of this node */
  document(): DocumentOf<'node'> | undefined;
  /** of its zone */
  zone(): { resource: DocumentOf<'zone'>['resource']; ports: readonly ZonePort[]; log: DocumentOf<'zone'>['log'] };
  /** the disk gets short */
  isShort(): boolean;
  /** nginx opens its logs anew */
  reopen(): void;
  connections(): Promise<Connections>;
  rotateLogs(): Promise<void>;
  /** nginx is to be given `facts` anew */
  changed(): void;
  log(message: string): void;
}

const lookMs = 2000;

export class NodeSide {
  /** What was seen of the machine last; undefined before the first look. */
  machine: MachineFacts | undefined;
  readonly #options: NodeSideOptions;
  readonly #machine: Machine;
  readonly #settings: NodeSettings;
  readonly #log: NodeLog;
  readonly #cpus = cpuList(allowedCPUs());
  #timer: NodeJS.Timeout | undefined;

  constructor(given: NodeSideOptions) {
    this.#options = given;
    const { options, data, folders, release } = given;
    const usualPorts = [...options.httpPorts, ...options.httpsPorts];
    this.#settings = new NodeSettings({
      data,
      wanted: given.document,
      listen: options.listen,
      ports: () => [...usualPorts, ...given.zone().ports.map(({ port }) => port)],
      usualPorts,
      configFile: join(folders.home, 'nginx.conf'),
      rotateLogs: given.rotateLogs,
      changed: given.changed,
      log: given.log,
    });
    this.#log = new NodeLog({
      logs: folders.logs,
      wish: () => given.zone().log,
      isShort: given.isShort,
      rotate: () => rotateErrorLog(folders.logs, given.reopen),
      changed: given.changed,
      log: given.log,
    });
    this.#machine = new Machine({
      folder: data,
      cacheFolder: folders.cache,
      nginx: release?.join('.') ?? '',
      connections: given.connections,
      cacheMaxBytes: () => (this.facts().cacheSizeMb ?? cacheSizeDefaultMb) * 2 ** 20,
    });
  }

  get problems(): { addresses: string | null; geneva: string | null; verbose: Verbose | null } {
    const { listenProblem: addresses, genevaProblem: geneva } = this.#settings;
    return { addresses, geneva, verbose: this.#log.verbose() ?? null };
  }

  /** What of nginx's configuration follows from this machine. */
  facts(): Partial<NodeFacts> {
    const { options, disk, usual, zone } = this.#options;
    const size = { cpus: this.#cpus, memoryBytes: totalmem(), diskBytes: disk.totalBytes };
    const { listen } = this.#settings;
    return {
      ...(listen && { listen }),
      ...this.#log.facts(),
      ...factsOf(zone().resource, size, { ...usual, workers: options.workers }),
    };
  }

  /** Resolves when it knows how the machine is: the first heartbeat tells it. */
  async start(): Promise<void> {
    const look = () =>
      this.#machine.facts().then(
        facts => (this.machine = facts),
        () => {}, // the check `disk` says so
      );
    await look();
    this.#timer = setInterval(() => void look(), lookMs);
    this.#log.start();
    void this.look();
  }

  /** Holds what is set. One that is only looked at changes nothing of the machine. @param again also where nothing was told */
  look(again = false): Promise<void> {
    const { isShadow, isTrial } = this.#options.options;
    return isShadow || isTrial ? Promise.resolve() : this.#settings.look(again);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#log.stop();
  }
  /** nginx ended with us: nobody listens any more. */
  end(): Promise<void> {
    const { isShadow, isTrial } = this.#options.options;
    return isShadow || isTrial ? Promise.resolve() : this.#settings.end();
  }
}
