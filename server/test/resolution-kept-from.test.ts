/** A key that its name server keeps from nearly all names of a zone is a key all the same: what is refused is refused of the names. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { AddressPolicy } from '#contract/rules/address-policy.ts';
import { DnsProblem } from '#server/domain/dns/driver.ts';
import type { Unit } from '#server/resolution/foreign.ts';
import { UpdatedServer } from '#server/resolution/rfc2136.ts';
import { ownKey, type OwnNames, startOwnKnot } from '#system/own-names.ts';

const zone = 'cdn.kept.test';
let knot: OwnNames;
before(async () => {
  knot = await startOwnKnot([zone], ['good']);
});
after(() => knot?.stop());

const policy = new AddressPolicy({ operator: [], environment: ['127.0.0.0/8'], own: [] });
const unit = (label: string): Unit => [{ name: `${label}.${zone}`, type: 'CNAME', ttl: 60, values: [`g1.l.${zone}`] }];
const denied = Array.from({ length: 200 }, (_, i) => unit(`denied${i}`));
async function trouble(secret: string, units: readonly Unit[]): Promise<string> {
  const key = { name: ownKey, algorithm: 'hmacSHA512', secret: Buffer.from(secret, 'base64') } as const;
  const error: unknown = await new UpdatedServer(knot.server, key, { policy })
    .replace(zone, units)
    .catch((thrown: unknown) => thrown);
  assert.ok(error instanceof DnsProblem, String(error));
  return error.trouble;
}

test('of names, also where it says no to nearly all of them; of a key that it does not take it is told so', async () => {
  assert.equal(await trouble(knot.secret, denied.slice(0, 2)), 'refused');
  assert.equal(await trouble(knot.secret, denied), 'refused');
  assert.equal(await trouble(Buffer.alloc(64).toString('base64'), denied), 'credentials');
});
