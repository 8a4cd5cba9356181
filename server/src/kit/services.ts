/** What a handler reaches beyond PostgreSQL. Made once per process by main.ts. */
import type { Database } from '../store/db.ts';
import type { Analytics } from '../store/analytics/client.ts';
import type { Health } from './health.ts';
import type { Notices } from './notices.ts';
import type { Sessions } from './session.ts';

export interface Services {
  database: Database;
  sessions: Sessions;
  notices: Notices;
  /** the analytics store; left out where there is none */
  analytics?: Analytics;
  nodes?: NodeGate;
  /** what this process and its peers find */
  health?: Health;
  /** address people reach the console at */
  publicURL: string;
}

/** Joining of nodes; made by server/src/bus. */
export interface NodeGate {
  join(body: { token: string; name: string; publicKey: string; addresses: string[]; version: string }): Promise<NodeGrant>;
  renew(body: { nodeID: number; time: number; signature: string }): Promise<NodeGrant>;
  /** tells a node to fetch its credentials again: its zone changed, or it is no longer one of ours */
  notify(nodeID: number): Promise<void>;
}
export interface NodeGrant {
  nodeID: number;
  zoneID: number | null;
  jwt: string;
  natsUrl: string;
  documentKey: string;
  tls: { ca: string; servername?: string | undefined } | null;
}
