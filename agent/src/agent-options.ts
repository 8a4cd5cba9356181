/** What an agent is started with, and what it is then. */
import type { HealthReport } from './health.ts';

export interface AgentOptions {
  /** everything the node keeps */
  data: string;
  server?: string;
  /** PEM of who vouches for the control plane; default: the one it was told of before, else those every machine knows */
  serverCA?: string;
  joinToken?: string;
  /** default: the machine's name */
  name?: string;
  httpPorts: number[];
  httpsPorts: number[];
  /** loopback port of /healthz, /readyz and /metrics; 0: any free one */
  healthPort: number;
  /** addresses nginx listens on; default: all */
  listen?: string[];
  /** default: as many as cores */
  workers?: number;
  /** DNS servers for origins' names; default: the machine's */
  dnsServers?: string[];
  log?: (message: string) => void;
  /** ends this process, `stop` first, and has another one begin in its place; left out: nobody can restart it from afar */
  restart?: () => void;
  /** ends a start that takes its time: an nginx that runs is ended then, as by `stop`, which is still to be called */
  ending?: AbortSignal;
}
export interface Agent {
  healthPort: number;
  report(): HealthReport;
  stop(): Promise<void>;
}
