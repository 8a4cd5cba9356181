/** Joining by itself, before a node is started for good: whoever installs it hears at once how it went. */
import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { type FolderLock, lockFolder } from '#host/folder-lock.ts';
import { Identity } from './identity.ts';
import { version } from './upgrade/programs.ts';
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
  /** where the identity goes that comes of it: a node that works in `data` goes on as it is until it takes it (`takeIdentity`) */
  beside?: string | undefined;
  /** addresses for visitors: these are told, and no others */
  listen?: readonly string[] | undefined;
  /** default: this one (`thisMachine`) */
  machine?: string | undefined;
}): Promise<string> {
  const { data, server, serverCA, joinToken, name = hostname(), bundle, beside, listen, machine } = options;
  const folder = beside ?? data;
  await mkdir(folder, { recursive: true, mode: 0o711 });
  const lock = locked(folder);
  try {
    if (beside) await Identity.copy(data, beside);
    // whoever gives the line says whom to believe: the server may have got a certificate that every machine knows
    const identity = await Identity.open(folder, serverCA ?? null, listen, machine);
    const copied = identity.copied;
    // asked for again with the same key, the control plane answers again: the first answer may have been lost
    const { nodeID, zoneID, documentKey } = await identity.join(server, joinToken, { name, version });
    if (bundle && !isSigned(bundle, documentKey))
      throw new Error(`what lies in ${bundle} was not signed by the installation this node has joined: nothing of it is started`);
    const joined = `joined as node ${nodeID}, ${zoneID === null ? 'waiting for a zone' : `in zone ${zoneID}`}`;
    return copied ? `${copied}\n${joined}` : joined;
  } finally {
    lock.release();
  }
}

/** The node in `data` is from now on who it became in `from`. @throws a sentence; nothing was changed then */
export async function takeIdentity(data: string, from: string): Promise<void> {
  await mkdir(data, { recursive: true, mode: 0o711 });
  const lock = locked(data);
  try {
    await Identity.take(data, from);
  } finally {
    lock.release();
  }
}

function locked(folder: string): FolderLock {
  const lock = lockFolder(folder);
  if (!lock) throw new Error(`An agent works in ${folder} already: end it first.`);
  return lock;
}

export function isSigned(bundle: string, documentKey: string): boolean {
  const read = (name: string) => readFileSync(join(bundle, name), 'utf8');
  return new Verifier(documentKey).bundle(read('bundle.json'), read('bundle.sig'));
}
