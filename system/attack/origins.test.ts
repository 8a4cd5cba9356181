/**
 * Origins inside the house: what a customer may type, and what a name may turn into, so that our nodes connect where only the
 * house should. Judged twice, so tried twice: at the API, and on a real node whose database was told everything past the API.
 */
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import http from 'node:http';
import { createServer, isIP, type Server } from 'node:net';
import { after, before, describe, test } from 'node:test';
import type { Agent } from '#agent/agent-options.ts';
import { startAgent } from '#agent/agent.ts';
import { AddressPolicy, looseAddress } from '#contract/rules/address-policy.ts';
import { siteApplied } from '#server/bus/settle.ts';
import { freePort } from '#server/store/engine-process.ts';
import { writeSetting } from '#server/system/settings.ts';
import { testFolder } from '#system/engines.ts';
import { Plane, until } from '../../agent/test/node.ts';
import { Api, type Tenant } from '../../server/test/harness.ts';

/** The one address that is allowed here, so that a refusal is seen to be one: everything else of loopback is the house. */
const allowed = '127.0.0.77';

const literals = [
  ...['127.0.0.1', '127.0.0.2', '127.255.255.254', '0.0.0.0', '0.0.0.1', '::1', '::', '0:0:0:0:0:0:0:1', '0000::0001'],
  ...['::ffff:127.0.0.1', '::ffff:7f00:1', '::FFFF:127.0.0.1', '0:0:0:0:0:ffff:127.0.0.1', '::127.0.0.1', '::ffff:0:127.0.0.1'],
  ...['::ffff:0.0.0.0', '64:ff9b::127.0.0.1', '64:ff9b::7f00:1', '64:ff9b:1::7f00:1', '2002:7f00:1::', '2002:7f00:0001::1'],
  ...[
    '2001:0:0:0:0:0:80ff:fffe',
    'fe80::5efe:127.0.0.1',
    'fe80::1',
    'febf::1',
    'fec0::1',
    'ff02::1',
    '224.0.0.1',
    '255.255.255.255',
  ],
  ...['169.254.169.254', '169.254.170.2', '169.254.0.1', '::ffff:169.254.169.254', '64:ff9b::a9fe:a9fe', '2002:a9fe:a9fe::'],
  ...['fd00:ec2::254', '100.100.100.200', '192.0.0.192', '168.63.129.16', '10.0.0.1', '172.16.0.1', '192.168.0.1', '100.64.0.1'],
  ...[
    'fc00::1',
    'fd12::1',
    '::ffff:10.0.0.1',
    '2002:a00:1::',
    '192.0.2.1',
    '198.51.100.1',
    '203.0.113.1',
    '198.18.0.1',
    '240.0.0.1',
  ],
];
/** No address to us, but one to inet_aton(3), to a URL parser or to a careless reader. */
const spellings = [
  ...[
    '127.1',
    '127.0.1',
    '2130706433',
    '0x7f000001',
    '0x7f.1',
    '0x7f.0.0.1',
    '0177.0.0.1',
    '0177.1',
    '017700000001',
    '127.0.0.0x1',
  ],
  ...['127.0.0.01', '0', '0x0', '2852039166', '0xa9fea9fe', '0251.0376.0251.0376', '127.0.0.1.', '[::1]', '[::ffff:127.0.0.1]'],
  ...[
    '::1%lo',
    'fe80::1%eth0',
    '127.0.0.1:80',
    '127.0.0.1/8',
    '127.0.0.1#x',
    'x@127.0.0.1',
    ' 127.0.0.1',
    '１２７.0.0.1',
    '127。0。0。1',
  ],
  ...[
    'http://127.0.0.1',
    'unix:/run/ctl.sock',
    '//127.0.0.1',
    '127.0.0.1\t',
    '127.0.0.1\r\nHost: x',
    '%31%32%37.0.0.1',
    '⑫7.0.0.1',
  ],
];
const innerNames = ['localhost', 'a.localhost', 'ip6-localhost', 'metadata.google.internal', 'LocalHost', 'localhost.'];
/** Names a resolver turns into such addresses. */
const names: Record<string, { a?: string[]; aaaa?: string[]; cname?: string }> = {
  '127.0.0.1.nip.test': { a: ['127.0.0.1'] },
  'zero.test': { a: ['0.0.0.0'] },
  'meta.test': { a: ['169.254.169.254'] },
  'private.test': { a: ['10.0.0.1'] },
  'six.test': { aaaa: ['::1'] },
  'mapped.test': { aaaa: ['::ffff:127.0.0.1'] },
  'nat64.test': { aaaa: ['64:ff9b::7f00:1'] },
  'sixtofour.test': { aaaa: ['2002:7f00:1::'] },
  'linklocal.test': { aaaa: ['fe80::1'] },
  'chain.test': { cname: 'inner.test' },
  'inner.test': { a: ['127.0.0.1'], aaaa: ['::1'] },
  'broadcast.test': { a: ['255.255.255.255'] },
};

let api: Api;
let tenant: Tenant;
before(async () => {
  api = await Api.start();
  await writeSetting(api.database.db, null, 'originEnvironment', [`${allowed}/32`]);
  tenant = await api.tenant('attacker');
});
after(() => api?.stop());

test('at the API: nearly a hundred spellings, none is saved; an honest address is', async () => {
  const all = [...literals, ...spellings, ...innerNames];
  assert.ok(all.length > 90);
  const path = `/user/site/${tenant.siteID}/domains`;
  const post = (address: string, n: number) =>
    api.call('POST', path, {
      token: tenant.user.token,
      body: { domains: [{ domainName: `d${n}.test`, upstreams: [{ address }] }] },
    });
  for (const [n, address] of all.entries()) {
    const reply = await post(address, n);
    // blanks around a text never count: what is left must be refused
    assert.equal(reply.body?.code, 101003, `${JSON.stringify(address)}: ${reply.text}`);
    assert.equal(reply.body.errorData[0].path, 'domains.0.upstreams.0.address');
  }
  const honest = await post(allowed, 900);
  assert.equal(honest.status, 200, honest.text);
  assert.equal((await api.call('GET', path, { token: tenant.user.token })).body.total, 1);
});

/** A DNS server whose answers change while it runs. */
async function startDNS() {
  const socket = createSocket('udp4');
  const wire = (name: string) =>
    Buffer.concat([...name.split('.').map(label => Buffer.from([label.length, ...Buffer.from(label)])), Buffer.from([0])]);
  const bytes = (address: string) => {
    const { family, value } = looseAddressOf(address);
    return Buffer.from(value.toString(16).padStart(family === 4 ? 8 : 32, '0'), 'hex');
  };
  const record = (name: string, type: number, data: Buffer) => {
    const head = Buffer.from([0, type, 0, 1, 0, 0, 0, 1, 0, data.length]);
    return Buffer.concat([wire(name), head, data]);
  };
  const answersOf = (name: string, type: number): Buffer[] => {
    const found = names[name];
    if (!found) return [];
    if (found.cname) return [record(name, 5, wire(found.cname)), ...answersOf(found.cname, type)];
    const addresses = type === 1 ? found.a : type === 28 ? found.aaaa : [];
    return (addresses ?? []).map(address => record(name, type, bytes(address)));
  };
  socket.on('message', (query, from) => {
    let at = 12;
    const labels: string[] = [];
    for (; query[at]; at += query[at]! + 1) labels.push(query.toString('latin1', at + 1, at + 1 + query[at]!));
    const name = labels.join('.').toLowerCase();
    const records = answersOf(name, query.readUInt16BE(at + 1));
    const header = Buffer.from(query.subarray(0, 12));
    header.writeUInt16BE(names[name] ? 0x8180 : 0x8183, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(records.length, 6);
    header.writeUInt32BE(0, 8);
    socket.send(Buffer.concat([header, query.subarray(12, at + 5), ...records]), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { server: `127.0.0.1:${socket.address().port}`, close: () => socket.close() };
}
/** IPv4 in IPv6 stays IPv6 here: it goes into an AAAA record. */
const looseAddressOf = (text: string) => {
  const address = looseAddress(text)!;
  return isIP(text) === 6 && address.family === 4 ? { family: 6, value: (0xffffn << 32n) | address.value } : address;
};

describe('on a node that was told everything past the API', () => {
  let plane: Plane;
  let agent: Agent;
  let dns: Awaited<ReturnType<typeof startDNS>>;
  let canary: { port: number; heard: string[]; servers: Server[] };
  let honest: http.Server;
  let siteID: number;
  let zoneID: number;
  let productID: number;
  let edgePort: number;
  let healthPort: number;

  before(async () => {
    dns = await startDNS();
    canary = { port: await freePort(), heard: [], servers: [] };
    // one listener for every address of this machine: whatever arrives here, came from inside
    for (const host of ['127.0.0.1', '127.0.0.2', '::1']) {
      const server = createServer(socket => {
        canary.heard.push(`${socket.localAddress}`);
        socket.destroy();
      });
      server.listen(canary.port, host);
      await once(server, 'listening');
      canary.servers.push(server);
    }
    honest = http.createServer((_, answer) => answer.setHeader('cache-control', 'no-store').end('honest'));
    honest.listen(canary.port, allowed);
    await once(honest, 'listening');
    plane = await Plane.start();
    await plane.rig.pool.query(`update setting set value = $1 where key = 'originEnvironment'`, [
      JSON.stringify([`${allowed}/32`]),
    ]);
    ({ zoneID, productID } = await plane.rig.zone('attack'));
    siteID = await plane.rig.site(productID, 'attack');
    [edgePort, healthPort] = [await freePort(), await freePort()];
    agent = await startAgent({
      data: testFolder('attack-node'),
      server: plane.url,
      joinToken: await plane.token(zoneID),
      name: 'attack',
      httpPorts: [edgePort],
      httpsPorts: [],
      healthPort,
      listen: ['127.0.0.1'],
      workers: 1,
      dnsServers: [dns.server],
    });
    await plane.rig.domain(siteID, 'honest.test', allowed, canary.port);
    await until('the honest origin is served', async () => (await visit('honest.test')).body === 'honest');
  });
  after(async () => {
    await agent?.stop();
    await plane?.rig.end();
    dns?.close();
    for (const server of [...(canary?.servers ?? []), honest]) server?.close();
  });

  const visit = (host: string) =>
    new Promise<{ status: number; body: string }>((done, failed) => {
      const request = http.get(
        { host: '127.0.0.1', port: edgePort, path: '/', headers: { host }, agent: false, timeout: 30_000 },
        answer => {
          let body = '';
          answer.setEncoding('utf8').on('data', part => (body += part));
          answer.on('end', () => done({ status: answer.statusCode!, body }));
        },
      );
      request.on('timeout', () => request.destroy(new Error('no answer')));
      request.on('error', failed);
    });
  const beat = () =>
    plane.rig.one<{
      status: string;
      problem?: string | null;
      refusedOrigins?: { host: string; address: string; kind: string }[];
    }>(`select beat || jsonb_build_object('status', status) from node`);

  test('no literal, no spelling and no name makes it connect to the canary', async () => {
    const addresses = [...literals, ...spellings, ...innerNames.filter(name => !name.endsWith('.')), ...Object.keys(names)];
    const hosts: string[] = [];
    for (const [n, address] of addresses.entries()) {
      hosts.push(`h${n}.test`);
      await plane.rig.domain(siteID, `h${n}.test`, address, canary.port);
    }
    for (const [n, host] of hosts.entries()) {
      const answer = await until(`${addresses[n]} is known`, async () => {
        const got = await visit(host);
        return got.status !== 903 && got;
      });
      assert.equal(answer.status, 502, `${JSON.stringify(addresses[n])}: ${answer.status} ${answer.body}`);
    }
    assert.deepEqual(canary.heard, []);
    assert.equal((await visit('honest.test')).body, 'honest');
  });

  test('a name that answers honestly first and turns inward later is left out as soon as it turns', async () => {
    names['rebind.test'] = { a: [allowed] };
    await plane.rig.domain(siteID, 'rebound.test', 'rebind.test', canary.port);
    await until('served', async () => (await visit('rebound.test')).body === 'honest');
    names['rebind.test'] = { a: ['127.0.0.1'] };
    await until('refused', async () => (await visit('rebound.test')).status === 502);
    names['rebind.test'] = { a: ['127.0.0.1', allowed], aaaa: ['::1'] };
    // of several addresses the honest one alone is used
    await until('served again', async () => (await visit('rebound.test')).body === 'honest');
    for (let n = 0; n < 20; n++) assert.equal((await visit('rebound.test')).body, 'honest');
    assert.deepEqual(canary.heard, []);
  });

  test('the node itself is no origin, also where loopback is allowed: its edge, its health, its control socket', async () => {
    await plane.rig.change(
      [`zone ${zoneID}`],
      [`update setting set value = $1 where key = 'originEnvironment'`, [JSON.stringify(['127.0.0.0/8', '::1'])]],
    );
    await plane.rig.domain(siteID, 'opened.test', '127.0.0.1', canary.port);
    // the canary destroys the connection: that it heard of it proves the opening is known to the node
    await until('loopback is open', async () => (await visit('opened.test')) && canary.heard.length > 0);
    for (const [name, address, port] of [
      ['health', '127.0.0.1', healthPort],
      ['health6', '::1', healthPort],
      ['edge', '127.0.0.1', edgePort],
      ['edge-by-another', '127.8.8.8', edgePort],
    ] as const) {
      await plane.rig.domain(siteID, `${name}.test`, address, port);
      const answer = await until('known', async () => {
        const got = await visit(`${name}.test`);
        return got.status !== 903 && got;
      });
      assert.equal(answer.status, 502, `${name}: ${answer.body}`);
    }
    const told = await until(
      'the heartbeat tells',
      async () => (await beat()).refusedOrigins?.some(one => one.host === 'edge.test') && beat(),
    );
    assert.deepEqual(told.refusedOrigins!.find(one => one.host === 'edge.test')?.kind, 'installation');
    assert.deepEqual([told.status, told.problem], ['normal', null], 'a customer’s mistake is no fault of the node');
    const { errors } = (await siteApplied(plane.rig.pool, siteID))!;
    assert.ok(
      errors.some(
        one => one.kind === 'origin' && one.message === `edge.test: 127.0.0.1 port ${edgePort} is refused (installation)`,
      ),
      'whose site it is, is told beside it',
    );
    // and closed again by the same way
    await plane.rig.change([`zone ${zoneID}`], [`update setting set value = '[]' where key = 'originEnvironment'`]);
    await until('closed', async () => {
      canary.heard.length = 0;
      return (
        (await visit('opened.test')).status === 502 && (await visit('honest.test')).status === 502 && canary.heard.length === 0
      );
    });
  });
});

test('the lists above are refused by the policy itself, so that a listener that is missing here hides nothing', () => {
  const policy = new AddressPolicy({ operator: [], environment: [`${allowed}/32`], own: [] });
  for (const address of literals) assert.equal(policy.judge(address, 80).allowed, false, address);
  for (const { a = [], aaaa = [] } of Object.values(names))
    for (const address of [...a, ...aaaa].filter(one => one !== allowed))
      assert.equal(policy.judge(address, 80).allowed, false, address);
});
