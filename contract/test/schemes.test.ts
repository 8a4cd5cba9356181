/** Where an origin is asked, for visitors of each scheme: every case of protocol and port map, as a table. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { askedAt, portMapDefault, portMapFits } from '#contract/rules.ts';

const own = { enabled: true, http: null, https: null };
const both = { enabled: true, http: 8080, https: 8443 };
const off = { enabled: false, http: 8080, https: 8443 };
const http = (port: number) => ({ protocol: 'http', port });
const https = (port: number) => ({ protocol: 'https', port });

const table = [
  // protocol, port, map, for a visitor by http, by https, what is refused where visitors come by both
  ['http', 80, portMapDefault, http(80), http(80), true],
  ['http', 443, both, http(443), http(443), true],
  ['https', 443, portMapDefault, https(443), https(443), true],
  ['https', 80, off, https(80), https(80), true],
  ['follow', 80, portMapDefault, http(80), https(443), true],
  ['follow', 8080, portMapDefault, http(8080), https(443), true],
  ['follow', 443, portMapDefault, http(443), https(443), 'portMapSame'],
  ['follow', 80, own, http(80), https(80), 'portMapSame'],
  ['follow', 80, both, http(8080), https(8443), true],
  ['follow', 8443, { ...both, http: null }, http(8443), https(8443), 'portMapSame'],
  ['follow', 8443, { ...both, https: null }, http(8080), https(8443), true],
  ['follow', 80, off, http(80), https(80), 'portMapRequired'],
] as const;

for (const [protocol, port, portMap, byHttp, byHttps, refused] of table)
  test(`${protocol} at ${port}, ${JSON.stringify(portMap)}`, () => {
    const origin = { protocol, port };
    assert.deepEqual([askedAt(origin, portMap, 'http'), askedAt(origin, portMap, 'https')], [byHttp, byHttps]);
    const found = portMapFits.check({ ...origin, portMap, scheme: 'any' });
    assert.equal(found === true || found[0]!.rule, refused);
    // visitors by one scheme alone: one port is enough, the map is wanted all the same
    for (const scheme of ['http', 'https'] as const) {
      const one = portMapFits.check({ ...origin, portMap, scheme });
      assert.equal(one === true || one[0]!.rule, refused === 'portMapRequired' ? refused : true);
    }
  });

test('an origin of which nothing is said speaks http', () => {
  assert.deepEqual(askedAt({ port: 80 }, portMapDefault, 'https'), http(80));
});
