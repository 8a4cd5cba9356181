/** Real nodes below the API: what an operator calls, who works on tasks, the bus, and agents as processes with an nginx each. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import type { TestContext } from 'node:test';
import { joinTokenHash } from '#server/bus/join-token.ts';
import type { Offer } from '#server/bus/offer.ts';
import type { Services } from '#server/kit/services.ts';
import { freePort } from '#server/store/engine-process.ts';
import { mayGoOn } from '#server/system/tasks.ts';
import { taskWorks } from '#server/tasks.ts';
import { Tasks } from '#server/work/tasks.ts';
import { startWork } from '#server/work/work.ts';
import { by } from '../../server/test/expect.ts';
import { Api, type Reply, type Tenant } from '../../server/test/harness.ts';
import { Plane, TestNode, until } from './node.ts';

export { until };

export interface Fleet {
  plane: Plane;
  api: Api;
  tenant: Tenant;
  call: ReturnType<typeof by>;
  /** joins the tenant's zone, or another, or none; `made`: another kind of node */
  node(name: string, zoneID?: number | null, made?: (token: string) => TestNode): Promise<TestNode & { id: number }>;
  /** the task that this call began, once it has ended: its state, and its log as `code node` */
  ended(reply: Reply): Promise<{ state: string; lines: string[] }>;
  one<T = number>(text: string, values?: unknown[]): Promise<T>;
}

export async function startFleet(t: TestContext, offer?: Offer, more: Partial<Services> = {}): Promise<Fleet> {
  const plane = await Plane.start(t);
  const { rig } = plane;
  const api = await Api.start({ nodes: plane.bus, ...(offer && { offer }), ...more }, {}, rig.url);
  rig.onEnd(() => api.stop());
  const work = await startWork({ databaseUrl: rig.url }, api.services, new Tasks(rig.url, api.services, taskWorks, mayGoOn));
  rig.onEnd(() => work.stop());
  const tenant = await api.tenant('a');
  const call = by(api, tenant.client);
  let tokens = 0;
  return {
    plane,
    api,
    tenant,
    call,
    one: (text, values) => rig.one(text, values),
    async node(name, zoneID = tenant.zoneID, made = (token: string) => new TestNode(plane, token, name)) {
      const token = `fleet-${++tokens}`;
      await rig.pool.query(
        `insert into "joinToken" (hash, "clientID", "zoneID", "expiredAt") values ($1, $2, $3, now() + interval '1 hour')`,
        [joinTokenHash(token), tenant.client.id, zoneID],
      );
      const node = Object.assign(made(token), { id: 0 });
      [node.httpPort, node.healthPort] = [await freePort(), await freePort()];
      t.after(() => node.end());
      node.start();
      await until('the node is up', async () => (await node.get('/')).status === 903, 60_000);
      node.id = await until('it has a row', () =>
        rig.one(`select id from node where name = $1 and "lastBeat" is not null`, [name]),
      );
      if (zoneID !== null)
        await until('it is normal', () => rig.one(`select 1 from node where id = $1 and status = 'normal'`, [node.id]));
      return node;
    },
    async ended(reply) {
      assert.equal(reply.status, 200, reply.text);
      const path = `/client/task/${reply.body.taskID}`;
      const found = await until(
        'the task ends',
        async () => {
          const read = await call.read(path);
          return read.task.endedAt !== null && read;
        },
        120_000,
      );
      const all: { code: string; values: { node?: string } }[] = found.lines;
      const lines = all.filter(({ values }) => values.node !== undefined).map(({ code, values }) => `${code} ${values.node}`);
      return { state: found.task.state, lines };
    },
  };
}

/** A domain of the tenant's site whose origin answers what `says` holds, for the cache to keep. */
export async function cachedDomain(
  t: TestContext,
  { call, tenant }: Fleet,
  host: string,
): Promise<{ says: string; hits: number }> {
  const origin = { says: 'one', hits: 0 };
  const server = http.createServer((_request, answer) => {
    origin.hits++;
    answer.setHeader('cache-control', 'max-age=3600').end(origin.says);
  });
  const port = await freePort();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => (server.close(), server.closeAllConnections()));
  const upstreams = [{ address: '127.0.0.1', port, protocol: 'http' }];
  await call.make(`/client/site/${tenant.siteID}/domains`, { domains: [{ domainName: host, upstreams }] });
  return origin;
}
