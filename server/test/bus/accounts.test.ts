/** Nodes' accounts on a real bus follow their rows, also where the database or the bus went back. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Accounts, startAccounts } from '#server/bus/accounts.ts';
import { mintNode, nodeAccount } from '#server/bus/credentials.ts';
import { nkey } from '#server/bus/nkeys.ts';
import { type SystemBus, openSystem } from '#server/bus/system.ts';
import { Rig, connectNode, until } from './rig.ts';

let rig: Rig;
let accounts: Accounts;
let system: SystemBus;

before(async () => {
  rig = await Rig.start(undefined);
  const { keys, url } = rig.engine;
  accounts = startAccounts({ databaseUrl: rig.url, db: rig.pool, natsUrl: url, keys });
  system = await openSystem(keys, url, undefined, () => {});
  rig.onEnd(() => system.close());
  rig.onEnd(() => accounts.stop());
});
after(() => rig.end());

async function joined() {
  const user = nkey('user');
  const nodeID = await rig.one(`insert into node ("clientID", name, "publicKey") values (1, 'n', $1) returning id`, [
    user.publicKey,
  ]);
  const { creds } = mintNode(rig.engine.keys, { nodeID, user });
  const open = () => connectNode(rig.engine, creds);
  const first = await until('it is let in', open);
  return { nodeID, user, open, first };
}

test('a node whose account was deleted on the bus is let in again: its row came back, or nobody meant it', async () => {
  const { nodeID, user, open, first } = await joined();
  await rig.pool.query('update node set "deletedAt" = now() where id = $1', [nodeID]);
  await first.closed();
  await assert.rejects(open());
  // as from a backup
  await rig.pool.query('update node set "deletedAt" = null where id = $1', [nodeID]);
  const second = await until('its row is back, and it is let in', open);

  // by another server with another database, or a hand at the bus
  await system.remove([nodeAccount(rig.engine.keys, { nodeID, publicKey: user.publicKey }).publicKey]);
  await second.closed();
  await rig.pool.query(`select pg_notify('node_account', '')`);
  await (await until('looked at, and let in', open)).close();
});

test('a node that gets the number of a lost one has an account of its own: the token of the lost one opens nothing', async () => {
  const { nodeID, user: lost, open, first } = await joined();
  const next = nkey('user');
  // The database went back, and gave the number again.
  await rig.pool.query('update node set "publicKey" = $2 where id = $1', [nodeID, next.publicKey]);
  await first.closed();
  const other = await until('the next one', () =>
    connectNode(rig.engine, mintNode(rig.engine.keys, { nodeID, user: next }).creds),
  );
  await assert.rejects(open(), /authorization/i);
  assert.notEqual(
    nodeAccount(rig.engine.keys, { nodeID, publicKey: lost.publicKey }).publicKey,
    nodeAccount(rig.engine.keys, { nodeID, publicKey: next.publicKey }).publicKey,
  );
  await other.close();
});
