/** What a node runs is signed by the installation it joined. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { isSigned } from '#agent/join-only.ts';
import { Signer } from '#server/bus/credentials.ts';

test('a list that was changed, or signed by another installation, is none of ours', t => {
  const folder = mkdtempSync(join(tmpdir(), 'signed-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const signer = () => new Signer(randomBytes(32).toString('base64url'));
  const ours = signer();
  const list = '{"version":"1"}';
  const put = (manifest: string, by: Signer) => {
    writeFileSync(join(folder, 'bundle.json'), manifest);
    writeFileSync(join(folder, 'bundle.sig'), by.bundle(list));
  };
  put(list, ours);
  assert.ok(isSigned(folder, ours.publicKey));
  put('{"version":"2"}', ours);
  assert.ok(!isSigned(folder, ours.publicKey));
  put(list, signer());
  assert.ok(!isSigned(folder, ours.publicKey));
});
