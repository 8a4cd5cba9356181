/**
 * Whose traffic a node may report (threat model, A): a node with credentials of its own, on the whole as `npm start` runs it, names
 * other operators' customers, other zones, other times and impossible figures. What it may report is counted; nothing else is.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import zlib from 'node:zlib';
import { createUser } from '@nats-io/nkeys';
import { connect, headers, jwtAuthenticator, type NatsConnection } from '@nats-io/transport-node';
import { accessLogColumns, logHeaders } from '#contract/edge/log.ts';
import { own } from '#contract/edge/subjects.ts';
import { type Analytics, analytics } from '#server/store/analytics/client.ts';
import { poll } from '#server/store/engine-process.ts';
import { Whole } from '../whole.ts';

let whole: Whole;
let store: Analytics;
before(async () => {
  whole = await Whole.start();
  const { store: port } = JSON.parse(readFileSync(join(whole.folder, 'run/ports.json'), 'utf8')) as { store: number };
  const secret = readFileSync(join(whole.folder, 'store.password')).toString('base64url');
  store = analytics({ url: `http://default:${secret}@127.0.0.1:${port}/breakwater` });
});
const connections: NatsConnection[] = [];
after(async () => {
  for (const nc of connections) await nc.close();
  store?.close();
  await whole?.stop();
});

async function made(path: string, token: string, body: unknown): Promise<number> {
  const reply = await whole.call('POST', path, token, body);
  assert.equal(reply.status, 200, `${path}: ${JSON.stringify(reply.body)}`);
  return reply.body.ids[0] as number;
}
interface Served {
  site: number;
  domain: number;
  host: string;
}
/** A site with a domain, served in a zone of its own, of a customer of this operator. */
async function served(name: string, client: string, userID: number, user: string) {
  const zoneID = await made('/client/zone', client, { name });
  const groupID = await made('/client/group', client, { zoneID, name });
  const productID = await made('/client/product', client, { groupID, name });
  const site = await made('/client/site', client, { siteName: name, productID, userID });
  const host = `${name}.test`;
  const domain = await made(`/user/site/${site}/domains`, user, {
    domains: [{ domainName: host, upstreams: [{ address: '1.1.1.1' }] }],
  });
  return { zoneID, site, domain, host };
}

/** A machine that joins a zone as any node does, and holds what a node holds. */
async function join_(client: string, zoneID: number) {
  const { body } = await whole.call('POST', '/client/nodes/joinToken', client, { zoneID });
  const key = createUser();
  const { body: grant } = await whole.call('POST', '/node/join', undefined, {
    token: body.token,
    name: 'taken-over',
    publicKey: key.getPublicKey(),
    addresses: ['192.0.2.66'],
    version: '0.1.0',
  });
  assert.ok(grant.jwt, JSON.stringify(grant));
  const nc = await connect({
    servers: (grant.natsUrl as string).split(','),
    authenticator: jwtAuthenticator(grant.jwt as string, key.getSeed()),
    tls: grant.ca ? { ca: grant.ca as string } : null,
    ignoreAuthErrorAbort: true,
  });
  connections.push(nc);
  let at = 0;
  return {
    id: grant.nodeID as number,
    /** As the agent ships them: one message. */
    async ship(lines: string[]) {
      const text = lines.join('');
      const h = headers();
      for (const [name, value] of Object.entries({
        file: 'f0rgedf0rged',
        kind: 'bytes',
        from: at,
        to: at + text.length,
        sent: Date.now(),
      }))
        h.set(logHeaders[name as keyof typeof logHeaders], String(value));
      at += text.length;
      const answer = await nc.request(own.log, zlib.zstdCompressSync(Buffer.from(text, 'latin1')), {
        headers: h,
        timeout: 10_000,
      });
      assert.ok(answer.json<{ seq?: number }>().seq, answer.string());
    },
  };
}
let serial = 0;
const day = 86_400_000;
const line = ({ site, domain, host }: Served, more: Record<string, string | number> = {}) => {
  const usual = {
    msec: (Date.now() / 1000).toFixed(3),
    site_id: site,
    domain_id: domain,
    host,
    method: 'GET',
    uri: `/n/${++serial}`,
    proto: 'HTTP/2.0',
    status: 200,
    bytes: 1000,
    ip: '203.0.113.9',
    rt: '0.010',
    rid: `forged-${serial}`,
  };
  return `\x1e${accessLogColumns.map(c => ({ ...usual, ...more })[c.name as 'rid'] ?? '-').join('\t')}\n`;
};
const when = (ms: number) => ({ msec: ((Date.now() + ms) / 1000).toFixed(3) });

test('a node reports for its own zone’s sites alone: no forged line reaches a bill, a chart or a log; honest ones beside them do', async () => {
  const client = await whole.signIn('client');
  const user = await whole.signIn('user');
  const users = await whole.call('GET', '/client/accounts?auth=user', client);
  const userID = users.body.data[0].id as number;
  const mine = await served('honest', client, userID, user);
  const others = await served('victim', client, userID, user);
  const node = await join_(client, mine.zoneID);
  const forged = [
    line(others, { bytes: 5e9 }),
    line({ ...others, domain: mine.domain, host: mine.host }, { bytes: 5e9 }),
    line({ ...mine, domain: others.domain, host: others.host }),
    line(others, when(-2 * day)),
    line(mine, when(-2 * day)),
    line(mine, when(-8 * day)),
    line(mine, when(3 * day)),
    line(mine, { bytes: 5e12 }),
    line(mine, { bytes: '-5' }),
    line(mine, { bytes: '18446744073709551615' }),
    line({ site: 999_999, domain: 999_999, host: 'nowhere.test' }),
    // a line inside a line, with a prefix that says it is another node's
    line(mine).replace('\n', `\n1\t0\t${(Date.now() / 1000).toFixed(3)}\t${line(others, { bytes: 5e9 }).slice(1)}`),
    line(mine).replace('\n', '\\\n'),
  ];
  await node.ship([line(mine), ...forged, line(mine)]);
  const rows = async () =>
    store.query<{ site: number; n: number }>('SELECT site_id AS site, count() AS n FROM access GROUP BY site');
  assert.ok(
    await poll(async () => (await rows()).find(row => row.site === mine.site)?.n === 2, 60_000, 200),
    'honest lines count',
  );

  // the operator is told
  const told = async () => {
    const { body } = await whole.call('GET', '/client/nodes?keyword=taken-over', client);
    return (body.data[0].aside ?? []) as { reason: string; lines: number }[];
  };
  const count = async () => (await told()).reduce((sum, one) => sum + one.lines, 0);
  assert.ok(await poll(async () => (await count()) === forged.length, 60_000, 200), `told ${JSON.stringify(await told())}`);
  const reasons = Object.fromEntries((await told()).map(one => [one.reason, one.lines]));
  assert.deepEqual(reasons, { site: 3, domain: 2, node: 1, late: 1, future: 1, number: 2, form: 3 });

  // nothing of it stands anywhere
  assert.deepEqual(await rows(), [{ site: mine.site, n: 2 }]);
  for (const table of ['s1', 's5', 'c1h', 'top_uri', 'top_ip'])
    assert.deepEqual(await store.query(`SELECT site_id AS site, sum(req) AS n, sum(bytes) AS b FROM ${table} GROUP BY site`), [
      { site: mine.site, n: 2, b: 2000 },
    ]);
  const range = {
    startTime: new Date(Date.now() - 9 * day).toISOString(),
    endTime: new Date(Date.now() + 240_000).toISOString(),
  };
  const info = async (sites: number[]) =>
    (await whole.call('POST', '/user/statistics/info', user, { ...range, sites, types: [2, 4, 15] })).body.data.map(
      (one: { total: number }) => one.total,
    );
  assert.deepEqual(await info([others.site]), [0, 0, 0]);
  assert.deepEqual(await info([mine.site]), [2000, 2, 1]);
  const cards = await whole.call('GET', '/user/resourceInfo', user);
  assert.equal(cards.body.currentMonthTraffic + cards.body.lastMonthTraffic, 2000);
  const log = await whole.call('POST', '/user/logs/access', user, {
    ...range,
    startTime: new Date(Date.now() - day / 2).toISOString(),
  });
  assert.equal(log.body.total, 2);
});
