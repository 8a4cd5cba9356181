/** Frequencies and request limits as documents, on a real nginx with several workers. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Ask, domain, type Edge, type Origin, site, startEdge, startOrigin, type WholeSite } from './harness.ts';

describe('frequencies and request limits', () => {
  let edge: Edge;
  let origin: Origin;
  before(async () => {
    [edge, origin] = await Promise.all([startEdge({ workers: 2 }), startOrigin()]);
  });
  after(async () => {
    await edge[Symbol.asyncDispose]();
    await origin[Symbol.asyncDispose]();
  });

  let last = 0;
  async function host(change: Partial<WholeSite>) {
    const id = ++last;
    await edge.putDocuments([site(id, change)], [domain(id, `h${id}.test`, [origin.port], { site: id })]);
    return `h${id}.test`;
  }
  const statuses = async (name: string, n: number, path = '/', options: Ask = {}) => {
    const list = [];
    for (let i = 0; i < n; i++) list.push((await edge.ask(name, path, options)).status);
    return list.join(' ');
  };
  const frequency = { id: 1, urlRegex: '.*', seconds: 3600, times: 2, by: 'ip', priority: 100, action: 'limit' } as const;
  const slow = { id: 2, urlRegex: '.*', rate: 1, burst: 2, by: 'ip', priority: 100 } as const;

  test('over the times the action follows, on the URLs of the pattern: path or path and query', async () => {
    const name = await host({
      frequencies: [
        { ...frequency, urlRegex: '^/login' },
        { ...frequency, id: 2, urlRegex: '\\?try=', times: 1, action: 'drop', priority: 1 },
      ],
    });
    assert.equal(await statuses(name, 3, '/page'), '200 200 200');
    assert.equal(await statuses(name, 3, '/login/now'), '200 200 929');
    assert.equal(await statuses(name, 2, '/other?try=1'), '200 0');
    assert.equal(await statuses(name, 1, '/page'), '200', 'nobody is refused elsewhere');
    const lines = await edge.log(5, line => line[5]!.startsWith('/login') || line[5]!.startsWith('/other'));
    assert.deepEqual(
      lines
        .map(line => line[16])
        .filter(reason => reason !== '-')
        .toSorted(),
      ['5:1', '5:2'],
    );
  });

  test('a frequency that is changed, switched off or removed ends with its document', async () => {
    const name = await host({ frequencies: [frequency] });
    assert.equal(await statuses(name, 3), '200 200 929');
    await edge.putDocuments([site(last, { frequencies: [{ ...frequency, times: 1000 }] })], []);
    assert.equal(await statuses(name, 1), '200', 'what was counted stays, the limit is the new one');
    await edge.putDocuments([site(last)], []);
    assert.equal(await statuses(name, 3), '200 200 200');
  });

  test('a request limit lets the burst through at once, refuses what comes beyond, and lets the next through when its time has come', async () => {
    const name = await host({ limitReqs: [slow] });
    // one of the rate and two of the burst
    const first = (await statuses(name, 8)).split(' ');
    assert.deepEqual(first.slice(0, 3), ['200', '200', '200']);
    assert.ok(first.includes('929'), first.join(' '));
    const deadline = performance.now() + 20_000;
    let again = '';
    while (again !== '200' && performance.now() < deadline) again = await statuses(name, 1);
    assert.equal(again, '200', 'who was refused takes no place, so the next second lets one through');
    assert.equal(await statuses(name, 3, '/', { from: '127.0.0.7' }), '200 200 200', 'another address has its own');
  });

  test('whoever is on the whitelist is counted by neither', async () => {
    const whitelists = [{ id: 9, ips: ['127.0.0.9'], urls: [] }];
    const name = await host({ whitelists, frequencies: [{ ...frequency, times: 1 }], limitReqs: [{ ...slow, burst: 0 }] });
    assert.equal(await statuses(name, 5, '/', { from: '127.0.0.9' }), '200 200 200 200 200');
    assert.equal(await statuses(name, 2), '200 929');
  });

  test("the operator's frequencies hold on every site of the zone, each counted by itself; the most urgent gives the reason", async () => {
    const zone = (frequencies: unknown[]) =>
      edge.put({ key: 'z:', value: JSON.stringify({ v: 1, rev: ++rev, id: 1, frequencies }) });
    let rev = 0;
    const one = await host({});
    const other = await host({ frequencies: [{ ...frequency, id: 61, times: 1, action: 'drop', priority: 1 }] });
    assert.equal(await statuses(one, 3), '200 200 200');
    await zone([{ ...frequency, id: 60, times: 2 }]);
    assert.equal(await statuses(one, 3), '200 200 929');
    assert.equal(await statuses(other, 2, '/', { from: '127.0.0.8' }), '200 0', "the site's own comes first");
    await zone([{ ...frequency, id: 60, times: 1000 }]);
    assert.equal(await statuses(one, 1), '200');
    await zone([]);
    assert.equal(await statuses(one, 3), '200 200 200');
  });
});
