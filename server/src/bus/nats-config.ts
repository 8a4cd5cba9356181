/** The configuration of a NATS server, ours or an outside one: who may connect is the same text in each. */
import type { BusKeys } from './credentials.ts';
import { accountsOf } from './credentials.ts';

/** Documents stay far below; JetStream refuses what is larger. */
export const maxPayloadBytes = 8 * 1024 * 1024;

export interface NatsSettings {
  /** differs in each server of a cluster */
  name: string;
  host: string;
  port: number;
  /** folder of its own; streams lie in it, and the statements of accounts in `jwt` */
  work: string;
  keys: BusKeys;
  tls: { cert: string; key: string; ca?: string } | undefined;
  /** what streams may reserve on its disk; left out: three quarters of what is free at its start */
  storeBytes?: number;
  /** its part in a cluster */
  cluster?: {
    host: string;
    port: number;
    /** the others' cluster addresses, host:port */
    others: readonly string[];
    /** what the servers say to each other before they believe each other */
    password: string;
  };
  /** beginning of the file: who wrote it */
  about: string;
}

const clusterUser = 'breakwater';

/** The file. NATS reads its own dialect of JSON, so every value is written as a JSON string. */
export function natsConfig({ name, host, port, work, keys, tls, storeBytes, cluster, about }: NatsSettings): string {
  const { system, account } = accountsOf(keys);
  const q = JSON.stringify;
  return [
    `# ${about}`,
    `server_name: ${q(name)}`,
    `host: ${q(host)}`,
    `port: ${port}`,
    `max_payload: ${maxPayloadBytes}`,
    `max_pending: ${8 * maxPayloadBytes}`,
    'write_deadline: "10s"',
    ...(tls ? [`tls { cert_file: ${q(tls.cert)}, key_file: ${q(tls.key)}, timeout: 3 }`] : []),
    `jetstream { store_dir: ${q(work)}, max_memory_store: 512MB${storeBytes === undefined ? '' : `, max_file_store: ${storeBytes}`} }`,
    ...(cluster ? clusterLines(cluster, tls) : []),
    `operator: ${q(keys.operatorToken)}`,
    `system_account: ${q(system)}`,
    `resolver { type: full, dir: ${q(`${work}/jwt`)}, allow_delete: true, interval: "2m" }`,
    `resolver_preload { ${system}: ${q(keys.systemToken)}, ${account}: ${q(keys.accountToken)} }`,
    '',
  ].join('\n');
}

/** Routes carry everything: servers know each other by a password, and by certificates of one authority beyond one machine. */
function clusterLines(
  { host, port, others, password }: NonNullable<NatsSettings['cluster']>,
  tls: NatsSettings['tls'],
): string[] {
  const q = JSON.stringify;
  const routes = others.map(one => q(`nats-route://${clusterUser}:${password}@${one}`));
  return [
    'cluster {',
    '  name: "breakwater"',
    `  listen: ${q(`${host.includes(':') ? `[${host}]` : host}:${port}`)}`,
    `  authorization { user: ${q(clusterUser)}, password: ${q(password)}, timeout: 3 }`,
    ...(tls
      ? [
          `  tls { cert_file: ${q(tls.cert)}, key_file: ${q(tls.key)}${tls.ca ? `, ca_file: ${q(tls.ca)}, verify: true` : ''}, timeout: 5 }`,
        ]
      : []),
    `  routes: [ ${routes.join(', ')} ]`,
    '}',
  ];
}
