/** What ingest is given, and what it tells of itself. */
import type { NatsConnection } from '@nats-io/transport-node';
import type { Analytics } from '../store/analytics/client.ts';
import type { MemberSource } from './members.ts';

export interface IngestOptions {
  nc: NatsConnection;
  db: Analytics;
  /** which node could have served which site, and when */
  members: MemberSource;
  /** an insert is made when this many lines wait … */
  flushLines?: number;
  /** … or this long after the last insert, three times as long for a few lines: the first line after a pause goes at once */
  flushMs?: number;
  /**
   * how long to wait for the next range of an unfinished insert, when neither the bus nor a node gives it: the node may be starting. For all
   * of it at most five times as long
   */
  recoverMs?: number;
  /** size of the stream on the bus's disk, as it shall be when it is looked for */
  busMaxBytes?: () => number | undefined;
  log?: (event: string, facts?: Record<string, unknown>) => void;
  /** called each time the loop goes round, also when it goes round in vain */
  turn?: () => void;
  /** waits until no other process takes what the bus holds; @param isOver asked meanwhile: whether to give up waiting */
  leading?: (isOver: () => boolean) => Promise<void>;
  /** told of each node's lines once they are stored; `outcome`: counted, torn or why they are set aside */
  stored?: (nodeID: number, outcome: string, lines: number) => void;
}

export interface IngestStats {
  inserts: number;
  /** lines taken from the bus that wait for their insert */
  held: number;
  lines: number;
  torn: number;
  lostBytes: number;
  /** messages that were not well formed */
  refused: number;
  /** lines set aside: all, and by `node reason` */
  setAside: number;
  aside: Record<string, number>;
  /** why zones and sites cannot be looked up; what is known of them goes on */
  unsure: string | null;
  /** times a node was told to keep lines that cannot be looked up */
  kept: number;
  rewinds: number;
  /** unfinished inserts that could not be repeated: their lines are in the figures or are lost */
  unrepeated: number;
  /** epoch seconds of the last insert */
  lastInsertAt: number;
  problem: string | null;
}

export interface Ingest {
  /** Inserts what is held, then ends. */
  stop(): Promise<void>;
  stats(): IngestStats;
}

/** Before anything was taken. */
export const noStats = (): Omit<IngestStats, 'held' | 'unsure'> => ({
  inserts: 0,
  lines: 0,
  torn: 0,
  lostBytes: 0,
  refused: 0,
  setAside: 0,
  aside: {},
  kept: 0,
  rewinds: 0,
  unrepeated: 0,
  lastInsertAt: 0,
  problem: null,
});
