/** The connection to the bus's own account: statements of accounts go in there, statistics come out. */
import { type NatsConnection, connect, credsAuthenticator } from '@nats-io/transport-node';
import { type BusTls, clientTls } from './tls.ts';
import { type BusKeys, deletion, mintSystem } from './credentials.ts';

export interface SystemBus {
  /** Makes the statement the one that counts. */
  put(statement: string): Promise<void>;
  /** Ends accounts, and whoever is connected in them. */
  remove(publicKeys: string[]): Promise<void>;
  /** Public keys of all accounts the bus has a statement of. */
  list(): Promise<string[]>;
  connections(): Promise<Connection[]>;
  close(): Promise<void>;
}
export interface Connection {
  cid: number;
  account?: string;
  in_msgs: number;
  in_bytes: number;
}

interface Answer<T> {
  error?: { description?: string };
  data?: T;
}
const timeout = 5000;

/** @param again the connection was lost and is there again: the bus may be another one */
export async function openSystem(keys: BusKeys, natsUrl: string, tls: BusTls | undefined, again: () => void): Promise<SystemBus> {
  const nc: NatsConnection = await connect({
    servers: natsUrl.split(','),
    authenticator: credsAuthenticator(new TextEncoder().encode(mintSystem(keys).creds)),
    name: 'system',
    maxReconnectAttempts: -1,
    reconnectTimeWait: 200,
    timeout,
    ...clientTls(tls),
  });
  void (async () => {
    for await (const status of nc.status()) if (status.type === 'reconnect') again();
  })();
  const ask = async <T>(subject: string, body: string): Promise<T | undefined> => {
    const answer = (await nc.request(subject, body, { timeout })).json<Answer<T>>();
    if (answer.error) throw new Error(`the bus refuses: ${answer.error.description ?? 'no reason given'}`);
    return answer.data;
  };
  return {
    put: async statement => void (await ask('$SYS.REQ.CLAIMS.UPDATE', statement)),
    remove: async publicKeys => void (await ask('$SYS.REQ.CLAIMS.DELETE', deletion(keys, publicKeys))),
    list: async () => (await ask<string[]>('$SYS.REQ.CLAIMS.LIST', '')) ?? [],
    connections: async () => {
      const query = JSON.stringify({ sort: 'msgs_from', limit: 256, auth: true });
      const data = await ask<{ connections?: Connection[] }>('$SYS.REQ.SERVER.PING.CONNZ', query);
      return data?.connections ?? [];
    },
    close: () => nc.close(),
  };
}
