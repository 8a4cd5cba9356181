/** The control plane's side of the bus in one handle: relay, what nodes say and ask, joining, accounts, watchdog. */
import { type NatsConnection, connect, credsAuthenticator } from '@nats-io/transport-node';
import type { Queryable } from '../compile/load.ts';
import type { Sealing } from '../kit/sealed.ts';
import type { NodeGate } from '../kit/services.ts';
import { startAccounts } from './accounts.ts';
import { startAcks } from './acks.ts';
import { startAnswers } from './answers.ts';
import { command } from './commands.ts';
import { type BusKeys, Signer } from './credentials.ts';
import { gateOf } from './gate.ts';
import type { BusAuthority } from './join.ts';
import { startDispatch } from './dispatch.ts';
import { type Relay, startRelay } from './relay.ts';
import { type BusTls, clientTls } from './tls.ts';
import { startUp } from './up.ts';
import { type FloodLimits, startWatchdog } from './watchdog.ts';
import { outward } from './zone-keys.ts';

export interface BusOptions {
  /** PostgreSQL; the relay opens a connection of its own */
  databaseUrl: string;
  db: Queryable;
  nats: NatsConnection;
  keys: BusKeys;
  /** where we reach NATS */
  natsUrl: string;
  /** where nodes reach it; default: there */
  toldUrl?: string;
  tls?: BusTls | undefined;
  /** opens what rows hold sealed; left out: private keys cannot be published */
  sealing?: Sealing | undefined;
  floodLimits?: FloodLimits;
  tokenSeconds?: number;
  log?: (message: string) => void;
  /** the relay went round */
  turn?: (() => void) | undefined;
}

/** The server's connection: it reconnects for ever, and what is published meanwhile fails by its own time limit. */
export async function connectServer(url: string, creds: string, tls?: BusTls): Promise<NatsConnection> {
  return connect({
    servers: url.split(','),
    authenticator: credsAuthenticator(new TextEncoder().encode(creds)),
    name: 'server',
    maxReconnectAttempts: -1,
    reconnectTimeWait: 100,
    reconnectJitter: 50,
    pingInterval: 5000,
    waitOnFirstConnect: true,
    ...clientTls(tls, url),
  });
}

/** Whether this connection stands: what is published meanwhile would wait in the client. */
export function isThere(nats: NatsConnection): () => boolean {
  let isConnected = true;
  void (async () => {
    for await (const { type } of nats.status())
      if (type === 'disconnect' || type === 'reconnect') isConnected = type === 'reconnect';
  })();
  return () => isConnected && !nats.isClosed();
}

export interface Bus extends NodeGate {
  relay: Relay;
  stop(): Promise<void>;
}

export function startBus({
  databaseUrl,
  db,
  nats,
  keys,
  natsUrl,
  toldUrl = natsUrl,
  tls,
  sealing,
  floodLimits,
  tokenSeconds,
  log = () => {},
  turn,
}: BusOptions): Bus {
  const signer = new Signer(keys.documentSeed);
  let hearingSince = Number.POSITIVE_INFINITY;
  // A lost command is sent again after the node's next heartbeat.
  const notify = async (nodeID: number) => void (await command({ db, nats, signer }, nodeID, 'renew'));
  const tell = (nodeID: number) =>
    void notify(nodeID).catch(error => log(`node ${nodeID} could not be told: ${(error as Error).message}`));
  const relay = startRelay({ databaseUrl, nats, signer, outward: outward(keys.documentSeed, sealing), log, turn });
  const acks = startAcks({ db, log, renew: tell, hearingSince: () => hearingSince });
  const answers = startAnswers({ db, nats, signer, log });
  const up = startUp({ nats, acks, answers, log }, yes => {
    if (!yes) hearingSince = Number.POSITIVE_INFINITY;
    else if (hearingSince === Number.POSITIVE_INFINITY) hearingSince = performance.now();
  });
  const dispatch = startDispatch({ databaseUrl, db, nats, signer, log });
  const accounts = startAccounts({ databaseUrl, db, natsUrl, tls, keys, log });
  const watchdog = startWatchdog({ db, keys, system: accounts.system, limits: floodLimits, log });
  const authority: BusAuthority = { keys, natsUrl: toldUrl, tls, tokenSeconds, settled: accounts.settled };
  return {
    relay,
    ...gateOf(db, authority),
    notify,
    reaches: isThere(nats),
    stop: async () => {
      // the watchdog asks over the connection that ends with the accounts
      await Promise.all([relay.stop(), up.stop(), watchdog.stop(), accounts.stop()]);
      await Promise.all([acks.stop(), answers.stop(), dispatch.stop()]);
    },
  };
}
