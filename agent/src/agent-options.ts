/** What an agent is started with, and what it is then. */
import { relayLimits } from '#contract/limits.ts';
import type { HealthReport } from './health.ts';
import type { TrialNode } from './upgrade/trial.ts';
import type { Change } from './upgrade/upgrade.ts';

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
  /** where edges of its zone reach it while it is a relay; default: `relayLimits.portDefault` */
  relayPort?: number;
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
  /** tries another version, `leave` first, and has this process replaced by what comes of it; left out: nobody can */
  change?: (how: Change) => void;
  /** `leave`, and has this process replaced by that program, even if leaving goes wrong; left out: nobody can */
  become?: (program: { node: string; main: string }) => void;
  /** It runs beside the agent of this node to be looked at: it asks nobody and tells nobody, and its nginx is small. */
  isShadow?: boolean;
  /** A version that is being tried: what upgrades it is not its matter. */
  isTrial?: boolean;
}
type Ports = Pick<AgentOptions, 'httpPorts' | 'httpsPorts' | 'healthPort' | 'relayPort'>;
/** Where this node listens: no origin lies there. */
export const portsOf = ({ httpPorts, httpsPorts, healthPort, relayPort = relayLimits.portDefault }: Ports): number[] => [
  ...httpPorts,
  ...httpsPorts,
  healthPort,
  relayPort,
];

export interface Agent {
  healthPort: number;
  report(): HealthReport;
  stop(): Promise<void>;
  /** As `stop`, but nginx serves on, for whoever takes it over. */
  leave(): Promise<void>;
  /** how it is, for who tries it */
  tried: TrialNode;
}
