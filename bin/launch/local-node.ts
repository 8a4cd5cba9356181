/** The node of this machine: which one it is, also after its identity was lost. */
import { lchownSync } from 'node:fs';
import { join } from 'node:path';
import { Identity } from '#agent/identity.ts';
import { readJson, writeWhole } from '#host/files.ts';
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
  { busIsNew, databaseIsOurs }: { busIsNew: boolean; databaseIsOurs: boolean },
): Promise<Environment> {
  const folder = join(dataFolder, 'node');
  await privateFolder(folder, 'node');
  const identity = await Identity.open(folder);
  const account = accountOf('node');
  if (account) lchownSync(join(folder, 'identity.json'), account.uid, account.gid);
  return {
    BREAKWATER_NODE_KEY: identity.publicKey,
    BREAKWATER_NODE_JOINED: String(identity.grant !== null && !busIsNew),
    // a database of our own knows one local node alone; in another's there may be those of other machines
    BREAKWATER_NODE_WAS: String(readJson(file(dataFolder), isMark)?.nodeID ?? (databaseIsOurs ? 'the first' : '')),
  };
}

export function rememberLocalNode(dataFolder: string, nodeID: number): void {
  if (readJson(file(dataFolder), isMark)?.nodeID !== nodeID) writeWhole(file(dataFolder), JSON.stringify({ nodeID }));
}
