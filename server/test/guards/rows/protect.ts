/** The lists and rules of a site's firewall. */
import { errorPageStatuses, siteErrorPageStatuses } from '#contract/limits.ts';
import { sql } from 'kysely';
import { next } from '../generate.ts';
import type { Rig, Rows, World } from '../world.ts';

let pages = 0;
const codeOf = (codes: readonly number[]) => codes[pages++ % codes.length]!;
/** One page for one code: whoever writes another takes the former away. */
async function free(rig: Rig, table: 'errorPage' | 'systemErrorPage', owner: number, code: unknown) {
  const column = table === 'errorPage' ? 'siteID' : 'clientID';
  await sql`delete from ${sql.table(table)} where ${sql.ref(column)} = ${owner} and code = ${code}`.execute(rig.api.database.db);
}
async function errorPage(rig: Rig, world: World) {
  const page = { siteID: await rig.at(world, 'site'), code: codeOf(siteErrorPageStatuses), type: 'content', content: 'x' };
  await free(rig, 'errorPage', page.siteID, page.code);
  return rig.insert('errorPage', page);
}
async function systemErrorPage(rig: Rig, world: World) {
  const page = { clientID: world.people.client.id, code: codeOf(errorPageStatuses), type: 'content', content: 'x' };
  await free(rig, 'systemErrorPage', page.clientID, page.code);
  return rig.insert('systemErrorPage', page);
}
const freeOfSite = async (rig: Rig, _: World, body: Record<string, unknown>, ids: Record<string, number>) =>
  free(rig, 'errorPage', ids['siteID']!, body['code']);
const freeOfSystem = async (rig: Rig, world: World, body: Record<string, unknown>) =>
  free(rig, 'systemErrorPage', world.people.client.id, body['code']);

export const protectRows: Rows = {
  make: { errorPage },
  parentParam: { errorPage: 'siteID' },
  stage: {
    'POST /{area}/site/{siteID}/errorPage': freeOfSite,
    'PUT /{area}/site/{siteID}/errorPage': freeOfSite,
    'POST /client/setting/errorPage': freeOfSystem,
    'PUT /client/setting/errorPage': freeOfSystem,
  },
  operatorWide: ['POST /client/setting/frequency', 'POST /client/setting/errorPage'],
  lists: {
    'GET /client/setting/frequency': {
      kind: 'systemFrequency',
      make: (rig, world) =>
        rig.insert('systemFrequency', { clientID: world.people.client.id, urlRegex: 'x', seconds: 1, times: 1, type: 'ip' }),
    },
    'GET /{area}/site/{siteID}/errorPages': {
      kind: 'errorPage',
      make: errorPage,
    },
    'GET /client/setting/errorPages': {
      kind: 'systemErrorPage',
      make: systemErrorPage,
    },
  },
  values: {
    ips: () => [`198.51.100.${(next() % 250) + 1}`, '203.0.113.0/24'],
    expiredAt: () => new Date(Date.now() + 86_400_000).toISOString(),
    urls: owner => [`http://${owner}.test/`],
    urlRegex: () => '^/x',
    userAgentRegex: () => 'bot',
    code: () => codeOf(siteErrorPageStatuses),
  },
};
