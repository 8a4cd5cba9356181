/** Void credentials, from the table `revocation` (a trigger on `node` fills it) to NATS, which ends their connections at once. */
import { type NatsConnection, connect, credsAuthenticator } from '@nats-io/transport-node';
import type { Queryable } from '../compile/load.ts';
import { listen } from '../store/db.ts';
import { type BusKeys, mintSystem, pushRevocations } from './credentials.ts';

export interface RevocationOptions {
  databaseUrl: string;
  db: Queryable;
  natsUrl: string;
  keys: BusKeys;
  log?: (message: string) => void;
}

/** Seconds since 1970 that no token is issued after. */
const forEver = 2 ** 40;
/** A bus that was made anew has forgotten; so the list is pushed again now and then. */
const againMs = 60_000;
const retryMs = 2000;

/** Pushes the whole list at the start, at each change, after each reconnection and once a minute. Several processes may. */
export function startRevocations({ databaseUrl, db, natsUrl, keys, log = () => {} }: RevocationOptions): {
  stop(): Promise<void>;
} {
  let stopped = false;
  let system: NatsConnection | undefined;
  let running: Promise<void> | undefined;
  let wanted = false;
  let timer: NodeJS.Timeout | undefined;
  let told = '';

  const work = async () => {
    while (wanted && !stopped) {
      wanted = false;
      try {
        system ??= await open();
        const { rows } = await db.query({
          name: 'revocations',
          text: `select "publicKey", case when until = 'infinity' then null else floor(extract(epoch from until))::float8 end as until from revocation`,
        });
        const list = (rows as { publicKey: string; until: number | null }[]).map(row => [row.publicKey, row.until ?? forEver]);
        // An empty list needs no push: a new account statement revokes nobody.
        if (list.length) await pushRevocations(keys, system, Object.fromEntries(list));
        told = '';
      } catch (error) {
        const message = (error as Error).message;
        if (message !== told && !stopped) log(`revocations: ${message}`);
        told = message;
        again(retryMs);
        return;
      }
    }
    again(againMs);
  };
  const again = (ms: number) => {
    clearTimeout(timer);
    if (!stopped) timer = setTimeout(push, ms);
  };
  function push(): void {
    wanted = true;
    running ??= work().finally(() => {
      running = undefined;
      if (wanted && !stopped && !told) push();
    });
  }
  async function open(): Promise<NatsConnection> {
    const { creds } = await mintSystem(keys);
    const nc = await connect({
      servers: natsUrl.split(','),
      authenticator: credsAuthenticator(new TextEncoder().encode(creds)),
      name: 'revocations',
      maxReconnectAttempts: -1,
      reconnectTimeWait: 500,
      timeout: 5000,
    });
    void (async () => {
      for await (const status of nc.status()) if (status.type === 'reconnect') push();
    })();
    return nc;
  }

  const notices = listen(databaseUrl, ['revocation'], push);
  push();
  return {
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await notices.stop();
      await system?.close();
      await running;
    },
  };
}
