/** Joining by itself, before a node is started for good: whoever installs it hears at once how it went. */
import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { lockFolder } from '#host/folder-lock.ts';
import { version } from './upgrade/programs.ts';
import { Identity } from './identity.ts';
import { Verifier } from './verify.ts';

/** @returns a sentence @throws a sentence: the token is spent, over or unknown, or the server cannot be reached */
export async function joinOnly(options: {
  data: string;
  server: string;
  serverCA?: string | undefined;
  joinToken: string;
  name?: string | undefined;
  /** folder of what this node runs, with its list and the signature of that */
  bundle?: string | undefined;
}): Promise<string> {
  const { data, server, serverCA, joinToken, name = hostname(), bundle } = options;
  await mkdir(data, { recursive: true, mode: 0o711 });
  const lock = lockFolder(data);
  if (!lock) throw new Error(`An agent works in ${data} already: end it first.`);
  try {
    const identity = await Identity.open(data, serverCA);
    // asked for again with the same key, the control plane answers again: the first answer may have been lost
    const { nodeID, zoneID, documentKey } = await identity.join(server, joinToken, { name, version });
    if (bundle && !isSigned(bundle, documentKey))
      throw new Error(`what lies in ${bundle} was not signed by the installation this node has joined: nothing of it is started`);
    return `joined as node ${nodeID}, ${zoneID === null ? 'waiting for a zone' : `in zone ${zoneID}`}`;
  } finally {
    lock.release();
  }
}

export function isSigned(bundle: string, documentKey: string): boolean {
  const read = (name: string) => readFileSync(join(bundle, name), 'utf8');
  return new Verifier(documentKey).bundle(read('bundle.json'), read('bundle.sig'));
}
