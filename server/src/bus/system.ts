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
  /** What all accounts have sent and were sent since the bus began, also over connections that are closed. */
  traffic(): Promise<Traffic>;
  close(): Promise<void>;
}
export interface Traffic {
  /** by the clock of the bus, in milliseconds since 1970 */
  at: number;
  accounts: AccountTraffic[];
}
/** The bus's words: `received` is what clients sent, `sent` what they were sent. */
export interface AccountTraffic {
  acc: string;
  received: { msgs: number; bytes: number };
  sent: { msgs: number; bytes: number };
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
    traffic: async () => {
      // Unused ones too: who is gone at each look has sent all the same.
      const body = JSON.stringify({ include_unused: true });
      const answer = (await nc.request('$SYS.REQ.ACCOUNT.PING.STATZ', body, { timeout })).json<
        Answer<{ now: string; account_statz?: AccountTraffic[] | null }>
      >();
      if (answer.error || !answer.data) throw new Error(`the bus does not count: ${answer.error?.description ?? 'no data'}`);
      return { at: Date.parse(answer.data.now), accounts: answer.data.account_statz ?? [] };
    },
    close: () => nc.close(),
  };
}
