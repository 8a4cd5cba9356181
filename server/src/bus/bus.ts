/** The control plane's side of the bus in one handle: relay, acknowledgements, joining, revocation. */
import { type NatsConnection, connect, credsAuthenticator } from '@nats-io/transport-node';
import type { Queryable } from '../compile/load.ts';
import { type AckOptions, startAcks } from './acks.ts';
import type { BusKeys } from './credentials.ts';
import { type Grant, type JoinBody, type RenewBody, askToRenew, joinNode, renewNode } from './join.ts';
import { type Relay, startRelay } from './relay.ts';
import { startRevocations } from './revoke.ts';

export interface BusOptions {
  /** PostgreSQL; the relay opens a connection of its own */
  databaseUrl: string;
  db: Queryable;
  nats: NatsConnection;
  keys: BusKeys;
  /** where nodes reach NATS */
  natsUrl: string;
  log?: (message: string) => void;
}

/** The server's connection: it reconnects for ever, and what is published meanwhile fails by its own time limit. */
export function connectServer(url: string, creds: string): Promise<NatsConnection> {
  return connect({
    servers: url.split(','),
    authenticator: credsAuthenticator(new TextEncoder().encode(creds)),
    name: 'server',
    maxReconnectAttempts: -1,
    reconnectTimeWait: 100,
    reconnectJitter: 50,
    pingInterval: 5000,
    waitOnFirstConnect: true,
  });
}

export interface Bus {
  relay: Relay;
  /** the calls of `POST /node/join` and `POST /node/credentials`. @throws Fail */
  join(body: JoinBody): Promise<Grant>;
  renew(body: RenewBody): Promise<Grant>;
  /** tells a node to fetch its credentials again */
  notify(nodeID: number): Promise<void>;
  stop(): Promise<void>;
}

export function startBus({ databaseUrl, db, nats, keys, natsUrl, log }: BusOptions): Bus {
  const relay = startRelay({ databaseUrl, nats, log });
  const ackOptions: AckOptions = { db, nats, log, renew: nodeID => askToRenew(nats, nodeID) };
  const acks = startAcks(ackOptions);
  const revocations = startRevocations({ databaseUrl, db, natsUrl, keys, log });
  const authority = { keys, natsUrl };
  return {
    relay,
    join: body => joinNode(db, authority, body),
    renew: body => renewNode(db, authority, body),
    notify: async nodeID => askToRenew(nats, nodeID),
    stop: async () => {
      await Promise.all([relay.stop(), acks.stop(), revocations.stop()]);
    },
  };
}
