/** The node of this machine: which one it is, also after its identity was lost. */
import { lchownSync } from 'node:fs';
import { join } from 'node:path';
import { Identity } from '#agent/identity.ts';
import { readJson, writeWhole } from '#host/files.ts';
import { Signer } from '#server/bus/credentials.ts';
import { accountOf } from '#server/store/accounts.ts';
import { privateFolder } from '#server/store/engine-process.ts';
import type { Environment } from './environment.ts';

const file = (dataFolder: string) => join(dataFolder, 'local-node.json');
const isMark = (value: unknown): value is { nodeID: number } =>
  typeof value === 'object' && value !== null && 'nodeID' in value && Number.isSafeInteger(value.nodeID);

/**
 * What the server is told before the node joins: the key it will come with (made here, if it is new or was lost), and which node it was.
 * So the server can let the new key take the place of the lost one, and the node keeps its number, its groups and its history.
 */
export async function localNode(
  dataFolder: string,
  { busIsNew, busKeys, databaseIsOurs }: { busIsNew: boolean; busKeys: string | undefined; databaseIsOurs: boolean },
): Promise<Environment> {
  const folder = join(dataFolder, 'node');
  await privateFolder(folder, 'node');
  const identity = await Identity.open(folder);
  const account = accountOf('node');
  if (account) lchownSync(join(folder, 'identity.json'), account.uid, account.gid);
  // it takes nothing that other keys signed: those of before, where they were put back
  const pinned = identity.grant?.documentKey;
  const isOfOthers = Boolean(pinned && busKeys) && pinned !== documentKeyOf(busKeys!);
  return {
    BREAKWATER_NODE_KEY: identity.publicKey,
    BREAKWATER_NODE_JOINED: String(identity.grant !== null && !busIsNew && !isOfOthers),
    // a database of our own knows one local node alone; in another's there may be those of other machines
    BREAKWATER_NODE_WAS: String(readJson(file(dataFolder), isMark)?.nodeID ?? (databaseIsOurs ? 'the first' : '')),
  };
}

const areKeys = (value: unknown): value is { documentSeed: string } =>
  typeof value === 'object' && value !== null && 'documentSeed' in value && typeof value.documentSeed === 'string';

/** The public half of what the keys in this file sign documents with; undefined: of a former version, which had none. */
function documentKeyOf(file: string): string | undefined {
  const keys = readJson(file, areKeys);
  return keys && new Signer(keys.documentSeed).publicKey;
}

export function rememberLocalNode(dataFolder: string, nodeID: number): void {
  if (readJson(file(dataFolder), isMark)?.nodeID !== nodeID) writeWhole(file(dataFolder), JSON.stringify({ nodeID }));
}
