/** What an outside NATS needs to be our bus, as files: of each server its configuration and its certificate, of the control plane its keys. */
import { type KeyObject, X509Certificate, createPublicKey } from 'node:crypto';
import { isIP } from 'node:net';
import { issue, newKey } from '#host/certificates.ts';
import { type BusKeys, mintServer, mintSystem } from './credentials.ts';
import { natsConfig } from './nats-config.ts';

/** In the certificate of each server: who checks by it does so whatever address brought him. */
export const busName = 'breakwater.internal';

export interface OutsideServer {
  host: string;
  port: number;
  /** where the other servers reach it */
  clusterPort: number;
}
export interface OutsideBus {
  servers: readonly OutsideServer[];
  keys: BusKeys;
  /** what the servers say to each other */
  password: string;
  /** signs the servers' certificates; left out: all of it is on loopback and plain */
  authority?: { certificate: string; key: KeyObject } | undefined;
  /** folder of a server's files on its machine */
  filesFolder(name: string): string;
  /** folder of a server's streams on its machine */
  storeFolder(name: string): string;
}

const inURL = (host: string) => (host.includes(':') ? `[${host}]` : host);

/** @returns texts by path; all but ca.pem are secrets */
export function outsideBus({ servers, keys, password, authority, filesFolder, storeFolder }: OutsideBus): Map<string, string> {
  const files = new Map<string, string>();
  const write = (path: string, text: string) => void files.set(path, text);
  for (const [at, { host, port, clusterPort }] of servers.entries()) {
    const name = `breakwater-${at + 1}`;
    const folder = filesFolder(name);
    if (authority) {
      const key = newKey();
      const names = [busName, host];
      const leaf = issue(
        new X509Certificate(authority.certificate),
        authority.key,
        createPublicKey(key),
        names,
        10,
        new Date(),
        true,
      );
      write(`${name}/server.pem`, leaf);
      write(`${name}/server.key`, key);
      write(`${name}/ca.pem`, authority.certificate);
    }
    const others = servers.filter((_, other) => other !== at);
    write(
      `${name}/nats.conf`,
      natsConfig({
        about: 'Written by `breakwater bus-config`, which writes it anew.',
        name,
        // a name may lead elsewhere on the machine itself
        host: isIP(host) ? host : '0.0.0.0',
        port,
        work: storeFolder(name),
        keys,
        tls: authority && { cert: `${folder}/server.pem`, key: `${folder}/server.key`, ca: `${folder}/ca.pem` },
        ...(others.length && {
          cluster: {
            host: isIP(host) ? host : '0.0.0.0',
            port: clusterPort,
            others: others.map(one => `${inURL(one.host)}:${one.clusterPort}`),
            password,
          },
        }),
      }),
    );
  }
  write('keys.json', `${JSON.stringify(keys, null, 1)}\n`);
  write('server.creds', mintServer(keys).creds);
  write('system.creds', mintSystem(keys).creds);
  if (authority) write('ca.pem', authority.certificate);
  return files;
}

/** NATS_URL of these servers. */
export const outsideURL = ({ servers, authority }: Pick<OutsideBus, 'servers' | 'authority'>): string =>
  servers.map(({ host, port }) => `${authority ? 'tls' : 'nats'}://${inURL(host)}:${port}`).join(',');
