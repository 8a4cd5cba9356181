/** Where load balancers come by the PROXY protocol: a setting of the zone, at no port that sites may open. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { compile } from '#server/compile/compile.ts';
import { load } from '#server/compile/load.ts';
import { broken, by, ok } from './expect.ts';
import { Api, type Tenant } from './harness.ts';

let api: Api;
let a: Tenant;
let path: string;
let ports: string;
before(async () => {
  api = await Api.start();
  a = await api.tenant('a');
  path = `/client/zone/${a.zoneID}/setting/proxyProtocol`;
  ports = `/client/zone/${a.zoneID}/setting/ports`;
});
after(async () => {
  await api?.stop();
  assert.deepEqual(api.failures, []);
});
const none = { networks: [] as string[], httpPort: null as number | null, httpsPort: null as number | null };
const told = async () => compile('zone', (await load(api.database.pool, 'zone', [a.zoneID])).get(a.zoneID)!).document;

test('nobody is believed until an operator says whom, and nodes are told that', async () => {
  const operator = by(api, a.client);
  const { networks, httpPort, httpsPort, from } = ok(await operator.get(path)).body;
  assert.deepEqual([networks, httpPort, httpsPort, from], [[], null, null, 'default']);
  const wanted = { networks: ['192.0.2.0/28', '2001:db8::1'], httpPort: 8080, httpsPort: 8443 };
  ok(await operator.put(path, wanted));
  assert.deepEqual((await told()).proxyProtocol, wanted);
  assert.notEqual((await by(api, a.user).put(path, wanted)).status, 200);
  const b = await api.tenant('b');
  const others = await by(api, b.client).put(path, wanted);
  const nobodys = await by(api, b.client).put(path.replace(String(a.zoneID), '99999999'), wanted);
  assert.notEqual(others.status, 200);
  assert.deepEqual([others.status, others.body.code], [nobodys.status, nobodys.body.code]);
  ok(await operator.put(path, none));
});

test('a port that believes nobody, half of the world, one port for both, and what is no network are refused with the field', async () => {
  const operator = by(api, a.client);
  const cases: [object, string, string][] = [
    [{ httpPort: 8080 }, 'networks', 'required'],
    [{ networks: ['0.0.0.0/0'], httpPort: 8080 }, 'networks.0', 'networkWide'],
    [{ networks: ['10.0.0.0/8', '128.0.0.0/7'] }, 'networks.1', 'networkWide'],
    [{ networks: ['2000::/3'] }, 'networks.0', 'networkWide'],
    [{ networks: ['balancer.test'] }, 'networks.0', 'wrongFormat'],
    [{ networks: ['10.0.0.1', '10.0.0.1/32'] }, 'networks.1', 'duplicateIP'],
    [{ networks: ['10.0.0.1'], httpPort: 8080, httpsPort: 8080 }, 'httpsPort', 'duplicateValue'],
    [{ networks: ['10.0.0.1'], httpPort: 443 }, 'httpPort', 'between'],
    [{ networks: ['10.0.0.1'], httpPort: 3306 }, 'httpPort', 'portExcluded'],
    [{ networks: ['10.0.0.1;\n}'], httpPort: 8080 }, 'networks.0', 'wrongFormat'],
  ];
  for (const [change, at, rule] of cases) broken(await operator.put(path, { ...none, ...change }), at, rule);
});

test('a port is the sites’ or the balancers’, whoever comes first, also when both are asked for at once', async () => {
  const operator = by(api, a.client);
  const here = { ...none, networks: ['10.0.0.1'] };
  const id = await operator.make(ports, { ports: [{ port: 9001, scheme: 'https' }] });
  broken(await operator.put(path, { ...here, httpsPort: 9001 }), 'httpsPort', 'portInZone');
  ok(await operator.put(path, { ...here, httpPort: 9002 }));
  broken(await operator.post(ports, { ports: [{ port: 9002, scheme: 'https' }] }), 'ports.0.port', 'portInZone');
  broken(await operator.put(ports.replace(/s$/, ''), { id, port: 9002 }), 'port', 'portInZone');
  ok(await operator.put(path, none));
  for (let port = 12_100; port < 12_110; port++) {
    const both = await Promise.all([
      operator.post(ports, { ports: [{ port, scheme: 'http' }] }),
      operator.put(path, { ...here, httpPort: port }),
    ]);
    assert.equal(both.filter(one => one.status === 200).length, 1, JSON.stringify(both.map(one => one.text)));
  }
});
