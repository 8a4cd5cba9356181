/** Providers of operators, and who went to one. */
import { after } from 'node:test';
import { sql } from 'kysely';
import type { Area } from '#contract/kit/call.ts';
import { signInFlow } from '#server/account/oidc-flows.ts';
import { addressOf, providerOf } from '#server/kit/oidc.ts';
import { password } from '../../harness.ts';
import { type OIDC, signInThere, startOIDC } from '../../oidc-provider.ts';
import { next } from '../generate.ts';
import type { Rig, Rows, World } from '../world.ts';

const origin = 'http://console.test';
let oidc: Promise<OIDC> | undefined;
after(async () => (await oidc)?.stop());

const settingOf = async () => {
  const { issuer, client, secret } = await (oidc ??= startOIDC(['user', 'client'].map(area => `${origin}/${area}/oidc`)));
  return { enable: true, issuer, client, secret, label: 'House', forOperator: true, forCustomers: true, byEmail: true, password };
};
/** Every operator has the provider. */
async function providersAre(rig: Rig): Promise<void> {
  const { db } = rig.api.database;
  const { issuer, client, secret } = await settingOf();
  await sql`delete from oidc`.execute(db);
  await sql`insert into oidc ("clientID", enable, issuer, client, secret, "forOperator", "forCustomers", "byEmail")
    select id, true, ${issuer}, ${client}, ${rig.api.services.sealing.seal('oidc.secret', secret)}, true, true, true
    from account where auth = 'client' and "isRoot" and "deletedAt" is null`.execute(db);
}
const backOf = async ({ url, flowKey }: { url: string; flowKey: string }, login: string) => {
  const { code, state, iss } = Object.fromEntries((await signInThere(url, login)).searchParams);
  return { flowKey, code, state, iss };
};
/** Who came back to sign in: to the provider of their own operator, whoever's host this is. */
async function came(rig: Rig, { people }: World, area: Area) {
  await providersAre(rig);
  const { services, database } = rig.api;
  const clientID = people.client.id;
  const provider = (await providerOf(database.db, services, clientID))!;
  const flowKey = signInFlow(services.sealing, area, { clientID, origin });
  const url = await addressOf(services, provider, flowKey, `${origin}/${area}/oidc`);
  return backOf({ url, flowKey }, people[area].email);
}
/** Who came back to be linked. */
async function cameToLink(rig: Rig, { people }: World, area: Area) {
  await providersAre(rig);
  const body = { password, origin };
  const begun = await rig.api.call('POST', `/${area}/account/identity/start`, { token: people[area].token, body });
  return backOf(begun.body, `${next()}@house.test`);
}

export const oidcRows: Rows = {
  make: {
    identity: (rig, { name, people }, area) =>
      rig.insert('identity', {
        accountID: people[area].id,
        clientID: people.client.id,
        area,
        issuer: 'https://id.example.net',
        subject: `${name}-${next()}`,
        name,
      }),
  },
  kindOfField: { identityID: 'identity' },
  bodies: {
    'PUT /client/setting/system/oidc': settingOf,
    'POST /{area}/oidc/start': async () => ({ origin }),
    'POST /{area}/oidc/finish': came,
    'POST /{area}/account/identity/start': async () => ({ password, origin }),
    'POST /{area}/account/identity': cameToLink,
    'DELETE /{area}/account/identity': async (rig, world, area) => ({
      identityID: await rig.fresh(world, 'identity', area),
      password,
    }),
  },
  stage: {
    'POST /client/setting/system/oidc/test': providersAre,
    'POST /{area}/oidc/start': providersAre,
    'POST /{area}/account/identity/start': providersAre,
  },
};
