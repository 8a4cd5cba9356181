/**
 * The installation's own authority (`tls/ca.pem`, `tls/ca.key`) and the one certificate it signs, by which nodes of other machines know
 * console, API and bus. It signs nothing else, so whoever trusts it trusts this installation alone.
 */
import { createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { issue, makeAuthority, newKey } from '#host/certificates.ts';
import { writeWhole } from '#host/files.ts';
import { partsOf } from '#server/bus/address.ts';
import { StartError } from '#server/store/engine-process.ts';
import type { PairFiles } from './addresses.ts';
import type { Environment } from './environment.ts';
import type { Settings } from './settings.ts';

/** Always in our certificate: who checks by it does so whatever address brought him. */
const ownName = 'breakwater.internal';
const halfLifeMs = 5 * 365 * 86_400_000;

const inFolder = (dataFolder: string, name: string) => join(dataFolder, 'tls', name);
/** Where its certificate and key lie. */
export const ownFiles = (dataFolder: string): PairFiles => ({
  cert: inFolder(dataFolder, 'server.pem'),
  key: inFolder(dataFolder, 'server.key'),
});
/** How a bus with our own certificate is checked. */
export const ownBusTls = (dataFolder: string): Environment => ({
  BREAKWATER_BUS_CA: inFolder(dataFolder, 'ca.pem'),
  BREAKWATER_BUS_NAME: ownName,
});

/** What the parts are told of the addresses; makes authority and certificate where they are needed. Errors: StartError. */
export function addressEnvironment({ addresses, dataFolder }: Pick<Settings, 'addresses' | 'dataFolder'>): Environment {
  const { outer, bus, busFiles, publicUrl, busAddress } = addresses;
  const env: Environment = {};
  if (outer) Object.assign(env, { BREAKWATER_HOST: outer.host, BREAKWATER_TLS_PORT: String(outer.port) });
  if (publicUrl) env.BREAKWATER_PUBLIC_URL = publicUrl;
  if (busAddress) env.BREAKWATER_BUS_ADDRESS = busAddress;
  if (outer?.files) Object.assign(env, { BREAKWATER_TLS_CERT: outer.files.cert, BREAKWATER_TLS_KEY: outer.files.key });
  const isBusOurs = bus !== undefined && !busFiles;
  if ((outer && !outer.files) || isBusOurs) {
    const hosts = [
      outer?.host,
      bus?.host,
      publicUrl && new URL(publicUrl).hostname,
      ...(busAddress?.split(',').map(one => partsOf(one.trim()).host) ?? []),
    ];
    ownCertificate(
      dataFolder,
      hosts.flatMap(host => host || []),
    );
  }
  if (outer && !outer.files) {
    const { cert, key } = ownFiles(dataFolder);
    Object.assign(env, { BREAKWATER_TLS_CERT: cert, BREAKWATER_TLS_KEY: key, BREAKWATER_TLS_CA: inFolder(dataFolder, 'ca.pem') });
  }
  return isBusOurs ? { ...env, ...ownBusTls(dataFolder) } : env;
}

/** Makes what is missing, and signs anew what no longer fits; the server's key stays, since join lines name it. */
function ownCertificate(dataFolder: string, hosts: readonly string[]): void {
  const folder = join(dataFolder, 'tls');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
  const authority = ownAuthority(dataFolder);
  const files = ownFiles(dataFolder);
  if (!existsSync(files.key)) writeWhole(files.key, newKey());
  const key = privateKey(files.key);
  const plain = hosts.map(host => host.replace(/^\[|\]$/g, '')).filter(host => host !== '0.0.0.0' && host !== '::');
  const names = [...new Set([ownName, 'localhost', '127.0.0.1', '::1', ...plain])];
  if (!isGood(files.cert, authority, key, names))
    writeWhole(files.cert, issue(authority.certificate, authority.key, createPublicKey(key), names));
}

interface Authority {
  certificate: X509Certificate;
  key: KeyObject;
}
function ownAuthority(dataFolder: string): Authority {
  const [file, keyFile] = [inFolder(dataFolder, 'ca.pem'), inFolder(dataFolder, 'ca.key')];
  if (!existsSync(keyFile)) {
    if (existsSync(file)) throw lost(keyFile, 'is missing');
    writeWhole(keyFile, newKey());
  }
  const key = privateKey(keyFile);
  // of the same key and name, another is as good to who has the first
  if (!existsSync(file)) writeWhole(file, makeAuthority('Breakwater', key));
  const certificate = certificateIn(file);
  if (!certificate?.checkPrivateKey(key)) throw lost(file, 'is damaged, or of another key');
  return { certificate, key };
}

/** Errors: StartError. */
function privateKey(path: string): KeyObject {
  try {
    return createPrivateKey(readFileSync(path));
  } catch {
    throw lost(path, 'holds no key');
  }
}

function certificateIn(path: string): X509Certificate | undefined {
  try {
    return new X509Certificate(readFileSync(path));
  } catch {
    return undefined;
  }
}

/** Whether it holds for all names, is ours, and will for years. */
function isGood(path: string, { key: signer }: Authority, key: KeyObject, names: readonly string[]): boolean {
  const found = certificateIn(path);
  return (
    found !== undefined &&
    found.checkPrivateKey(key) &&
    found.verify(createPublicKey(signer)) &&
    new Date(found.validTo).getTime() - Date.now() > halfLifeMs &&
    names.every(name => (isIP(name) ? found.checkIP(name) : found.checkHost(name)) !== undefined)
  );
}

const lost = (path: string, what: string) =>
  new StartError(
    `${path} ${what}: restore it from the backup of the data folder, or remove the folder it lies in: then there is a new authority, and every node of another machine joins again.`,
  );
