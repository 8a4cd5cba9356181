/** Zones and sites for tests of ingest: as facts the test holds, or as rows of a database. */
import pg from 'pg';
import type { MemberRow, MemberSource } from '#server/ingest/members.ts';

const day = 86_400_000;
type Fact = Partial<MemberRow> & Pick<MemberRow, 'kind' | 'id' | 'of'>;

/** A source of these facts; what stands since when is a week ago unless said. The array may be changed. */
export function facts(rows: Fact[]): MemberSource {
  const all = () => rows.map(row => ({ start: row.kind === 'domain' ? 0 : Date.now() - 8 * day, end: 0, host: '', ...row }));
  return {
    load: async () => ({ rows: all(), now: Date.now() }),
    find: async ids => {
      const sets = { node: ids.nodes, site: ids.sites, domain: ids.domains };
      return all().filter(row => sets[row.kind].has(row.id));
    },
  };
}

export interface Seed {
  nodes: number[];
  sites: { id: number; domains: { id: number; host: string }[] }[];
}

/** One zone with these nodes and sites, there since yesterday; under the ids that the lines of the test name. */
export async function seedMembers(url: string, { nodes, sites }: Seed): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const put = (table: string, columns: string, values: string) =>
    client.query(`insert into ${table} (${columns}) overriding system value values ${values}`);
  try {
    await put(
      'account',
      'id, email, name, auth, "isRoot"',
      "(9001, 'c@x.test', 'c', 'client', true), (9002, 'u@x.test', 'u', 'user', true)",
    );
    await put('zone', 'id, "clientID", name', "(9001, 9001, 'seed')");
    await put('"group"', 'id, "clientID", "zoneID", name', "(9001, 9001, 9001, 'seed')");
    await put('product', 'id, "clientID", "groupID", name', "(9001, 9001, 9001, 'seed')");
    await put('node', 'id, "clientID", "zoneID", name', nodes.map(id => `(${id}, 9001, 9001, 'n${id}')`).join(','));
    await put(
      'site',
      'id, "clientID", "userID", "productID", "siteName"',
      sites.map(({ id }) => `(${id}, 9001, 9002, 9001, 's${id}')`).join(','),
    );
    const domains = sites.flatMap(site => site.domains.map(domain => `(${domain.id}, ${site.id}, '${domain.host}')`));
    // several domains of a test may have one name; only one of them is switched on
    await put('domain', 'id, "siteID", "domainName", status', domains.map(row => row.replace(/\)$/, ', 0)')).join(','));
    for (const table of ['nodeZone', 'siteZone']) await client.query(`update "${table}" set "from" = now() - interval '1 day'`);
  } finally {
    await client.end();
  }
}
