/** What the shipper is given, and what it gives. */
import type { NatsConnection } from '@nats-io/transport-node';

export interface ShipperOptions {
  nc: NatsConnection;
  /** subjects, on a bus without accounts of nodes; default: a node's own names */
  names?: { log: string; mark: string };
  /** the folder where nginx writes `access.log`; made if missing. nginx must be able to create files in it. */
  logDir: string;
  /** Makes the writers open `access.log` anew. Default: USR1 to every process that has the old file open for writing. */
  reopen?: (() => Promise<void> | void) | undefined;
  /** a new file is begun at this size … */
  rotateBytes?: number;
  /** … or at this age; 0: by size alone */
  rotateSeconds?: number;
  /** all log files together; beyond it the oldest are dropped, and the loss is recorded */
  diskBudgetBytes?: number;
  log?: (event: string, facts?: Record<string, unknown>) => void;
}

export interface ShipperStats {
  /** bytes on disk that are not known to be stored */
  waitingBytes: number;
  files: number;
  /** bytes the bus took since the start, as they stand in the files */
  sentBytes: number;
  /** bytes dropped for lack of room since the start */
  lostBytes: number;
  /** bytes that were there and are missing at the ends of files since the start: power was cut, a snapshot restored, a file cut by hand */
  cutBytes: number;
  /** why nothing can be sent at the moment */
  problem: string | null;
  /** a log file that is there and cannot be read, and why */
  unread: string | null;
}

export interface Shipper {
  stop(): Promise<void>;
  stats(): ShipperStats;
  /** Begins a new log file now, if the current one holds anything. */
  rotate(): void;
  /** Changes what may change while running. */
  configure(settings: { rotateBytes?: number; rotateSeconds?: number; diskBudgetBytes?: number }): void;
}
