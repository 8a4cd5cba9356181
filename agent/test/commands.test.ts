import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createUser } from '@nats-io/nkeys';
import type { Msg } from '@nats-io/transport-node';
import { own } from '#contract/edge/subjects.ts';
import { Signer } from '#server/bus/credentials.ts';
import { obey } from '../src/commands.ts';
import { Identity } from '../src/identity.ts';

const folder = mkdtempSync(join(tmpdir(), 'breakwater-commands-'));
after(() => rmSync(folder, { recursive: true, force: true }));

test('a command that cannot be remembered is answered and not used up: sent again, it is done, once', async () => {
  const signer = new Signer(Buffer.alloc(32, 7).toString('base64url'));
  const home = join(folder, 'node');
  mkdirSync(home);
  const file = join(home, 'identity.json');
  const seed = new TextDecoder().decode(createUser().getSeed());
  const grant = { nodeID: 5, zoneID: 1, jwt: '', natsUrl: '', documentKey: signer.publicKey, tls: null };
  writeFileSync(file, JSON.stringify({ seed, server: '', joinedWith: '', grant }));
  const identity = await Identity.open(home);
  const what = { node: 5, verb: 'renew' as const, expires: Date.now() + 60_000, count: 1, body: '' };
  const value = { ...what, signature: signer.command(what) };
  const msg = { subject: own.command('renew'), json: () => value } as unknown as Msg;
  let done = 0;
  const send = () => obey(msg, identity, { renew: () => void done++ });
  // a disk that takes nothing: the file has nowhere to stand
  rmSync(home, { recursive: true });
  const answer = await send();
  assert.deepEqual([answer?.count, answer?.ok, done, identity.lastCommand], [1, false, 0, 0]);
  assert.match(answer!.why!, /cannot be remembered/);
  mkdirSync(home);
  assert.deepEqual(await send(), { count: 1, ok: true });
  assert.equal(JSON.parse(readFileSync(file, 'utf8')).lastCommand, 1);
  assert.equal(await send(), undefined);
  assert.equal(done, 1);
});
