import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { type Ask, type Edge, type Origin, domain, site, startEdge, startOrigin, type WholeSite } from './harness.ts';

describe('protections', () => {
  let edge: Edge;
  let origin: Origin;
  before(async () => {
    [edge, origin] = await Promise.all([startEdge(), startOrigin()]);
    await edge.putDocuments([], [domain(1, 'a.test', [origin.port]), domain(2, 'b.test', [origin.port])]);
  });
  beforeEach(() => {
    origin.seen.length = 0;
  });
  after(async () => {
    await edge[Symbol.asyncDispose]();
    await origin[Symbol.asyncDispose]();
  });

  const rules = (change: Partial<WholeSite>) => edge.putDocuments([site(1, change)], []);
  const six: Ask = { to: '::1' };
  const from = (ip: string): Ask => ({ from: ip });
  /** ok, deny (403) or drop (no answer) */
  async function outcome(options: Ask = {}, path = '/', host = 'a.test') {
    const answer = await edge.ask(host, path, options);
    return answer.dropped ? 'drop' : answer.status === 403 ? 'deny' : answer.status === 200 ? 'ok' : String(answer.status);
  }
  const black = (ips: string[], block: 'deny' | 'drop' = 'deny', id = 7) => ({ blacklists: [{ id, ips, block }] });

  test('blacklists: addresses, networks and ranges, IPv4 and IPv6', async () => {
    const cases: [string[], Ask, string][] = [
      [['127.0.0.9'], from('127.0.0.9'), 'deny'],
      [['127.0.0.9'], from('127.0.0.8'), 'ok'],
      [['127.0.9.0/24'], from('127.0.9.255'), 'deny'],
      [['127.0.9.0/24'], from('127.0.10.0'), 'ok'],
      [['127.0.8.0/23'], from('127.0.9.1'), 'deny'],
      [['127.0.9.1/32'], from('127.0.9.1'), 'deny'],
      [['0.0.0.0/0'], from('127.1.2.3'), 'deny'],
      [['127.0.0.5-127.0.0.7'], from('127.0.0.5'), 'deny'],
      [['127.0.0.5-127.0.0.7'], from('127.0.0.7'), 'deny'],
      [['127.0.0.5-127.0.0.7'], from('127.0.0.8'), 'ok'],
      [['127.0.0.7-127.0.0.5'], from('127.0.0.6'), 'deny'],
      [['127.0.0.250-127.0.1.3'], from('127.0.1.2'), 'deny'],
      [['0.0.0.0/0'], six, 'ok'],
      [['::1'], six, 'deny'],
      [['0:0:0:0:0:0:0:1'], six, 'deny'],
      [['::/64'], six, 'deny'],
      [['::/0'], six, 'deny'],
      [['::2/128'], six, 'ok'],
      [['::-::ff'], six, 'deny'],
      [['2001:db8::-2001:db8::ffff'], six, 'ok'],
      [['::ffff:127.0.0.9'], from('127.0.0.9'), 'deny'],
      [['203.0.113.1', '127.0.0.1-127.0.0.4', '10.0.0.0/8'], from('127.0.0.3'), 'deny'],
    ];
    for (const [ips, options, expected] of cases) {
      await rules(black(ips));
      assert.equal(await outcome(options), expected, `${ips} ${JSON.stringify(options)}`);
    }
  });

  test('drop closes the connection, deny answers 403; the earlier entry counts', async () => {
    await rules({
      blacklists: [
        { id: 1, ips: ['127.0.0.9'], block: 'drop' },
        { id: 2, ips: ['127.0.0.0/24'], block: 'deny' },
        { id: 3, ips: ['127.0.0.10'], block: 'drop' },
      ],
    });
    assert.equal(await outcome(from('127.0.0.9')), 'drop');
    assert.equal(await outcome(from('127.0.0.10')), 'deny');
    assert.equal(await outcome(from('127.0.1.1')), 'ok');
  });

  test('ten thousand entries are one look-up', async () => {
    const ips = Array.from({ length: 10_000 }, (_, i) => `10.${i >> 8}.${i & 255}.0/25`);
    await rules(black([...ips, '127.0.0.77']));
    assert.equal(await outcome(from('127.0.0.77')), 'deny');
    assert.equal(await outcome(from('127.0.0.78')), 'ok');
  });

  test('a cached object is refused as well', async () => {
    await rules({});
    assert.equal(await outcome(from('127.0.0.9'), '/cached'), 'ok');
    await rules(black(['127.0.0.9']));
    assert.equal(await outcome(from('127.0.0.9'), '/cached'), 'deny');
    assert.equal(await outcome({}, '/cached'), 'ok');
  });

  test('user agents: both expressions must match; the URL is the decoded path or path?query', async () => {
    await rules({
      userAgents: [
        { id: 1, urlRegex: '.*', userAgentRegex: '^curl/', block: 'deny' },
        { id: 2, urlRegex: '^/admin', userAgentRegex: 'bot', block: 'drop' },
        { id: 3, urlRegex: '\\?id=\\d+$', userAgentRegex: 'scan', block: 'deny' },
        { id: 4, urlRegex: '^/need', userAgentRegex: '^$', block: 'deny' },
      ],
    });
    const as = (agent: string): Ask => ({ headers: { 'user-agent': agent } });
    assert.equal(await outcome(as('curl/8')), 'deny');
    assert.equal(await outcome(as('Mozilla curl/8')), 'ok');
    assert.equal(await outcome(as('a bot'), '/'), 'ok');
    assert.equal(await outcome(as('a bot'), '/admin/x'), 'drop');
    assert.equal(await outcome(as('a bot'), '/x/../%61dmin'), 'drop');
    assert.equal(await outcome(as('scan'), '/p?id=12'), 'deny');
    assert.equal(await outcome(as('scan'), '/p?id=x'), 'ok');
    assert.equal(await outcome({}, '/need'), 'deny');
    assert.equal(await outcome(as('x'), '/need'), 'ok');
    assert.equal(await outcome(as(`${'x'.repeat(3000)} bot`), '/admin'), 'drop');
  });

  test('a protection whose expression does not compile, or is too large, refuses what hangs on it and is reported; one that runs away does not stall', async () => {
    const answer = await rules({
      userAgents: [
        { id: 5, urlRegex: '(', userAgentRegex: 'x', block: 'deny' },
        { id: 6, urlRegex: '.*', userAgentRegex: '(x+x+)+y', block: 'deny' },
        { id: 7, urlRegex: '.*', userAgentRegex: 'good', block: 'deny' },
        { id: 9, urlRegex: '^/old', userAgentRegex: '(a)(?:\\1?){0,4000}n1', block: 'deny' },
        // an earlier release let it in
        { id: 10, urlRegex: '^/earlier', userAgentRegex: '(?:a?){0,4000}n1', block: 'deny' },
      ],
      blacklists: [{ id: 8, ips: ['not an address', '127.0.0.9'], block: 'deny' }],
    });
    assert.deepEqual(
      answer.bad.map((one: any) => [one.site, one.list, one.id]),
      [
        [1, 'blacklists', 8],
        [1, 'userAgents', 5],
        [1, 'userAgents', 9],
      ],
    );
    assert.deepEqual((await edge.stat()).bad.length, 3);
    const before = (await edge.stat()).problems.protection;
    assert.equal(
      await outcome({ headers: { 'user-agent': 'x'.repeat(200) } }),
      '503',
      'whether rule 5 is meant for it nobody knows',
    );
    assert.equal(await outcome({ headers: { 'user-agent': 'a' } }, '/old'), '503');
    assert.equal((await edge.stat()).problems.protection, before + 2);
    assert.match(edge.errors(), /site 1: rule 8:9: its expression takes too long or does not compile/);
    assert.equal(await outcome({ headers: { 'user-agent': 'a' } }, '/earlier'), 'ok');
    assert.equal(await outcome({ headers: { 'user-agent': 'aan1' } }, '/earlier'), 'deny');
    assert.equal(await outcome({ headers: { 'user-agent': 'a' } }, '/new'), 'ok', 'no rule hangs on it here');
    assert.equal(await outcome({ headers: { 'user-agent': 'y'.repeat(200) } }), 'ok');
    assert.equal(await outcome({ headers: { 'user-agent': 'good' } }), 'deny');
    assert.equal(await outcome(from('127.0.0.9')), 'deny');
    await rules({});
    assert.deepEqual((await edge.stat()).bad, []);
    assert.equal((await edge.stat()).faulty, false, 'nobody walks for them any more');
  });

  test('a whitelist entry skips every protection, for its addresses on its URLs', async () => {
    const everything = { blacklists: [{ id: 1, ips: ['0.0.0.0/0', '::/0'], block: 'deny' as const }], userAgents: [] };
    const white = (ips: string[], urls: string[]) =>
      rules({
        ...everything,
        whitelists: [
          { id: 3, ips: ['192.0.2.1'], urls: [] },
          { id: 4, ips, urls },
        ],
      });
    await white(['127.0.0.9', '::1'], []);
    assert.equal(await outcome(from('127.0.0.9')), 'ok');
    assert.equal(await outcome(six), 'ok');
    assert.equal(await outcome(from('127.0.0.8')), 'deny');
    await white([], ['http://a.test/open', '/free/', 'https://b.test']);
    assert.equal(await outcome({}, '/open'), 'ok');
    assert.equal(await outcome({}, '/open/x?y'), 'ok');
    assert.equal(await outcome({}, '/opening'), 'deny');
    assert.equal(await outcome({}, '/free/x'), 'ok');
    assert.equal(await outcome({}, '/free'), 'deny');
    assert.equal(await outcome({}, '/open/../secret'), 'deny');
    assert.equal(await outcome({}, '/open', 'b.test'), 'ok');
    assert.equal(await outcome({}, '/anything', 'b.test'), 'ok');
    await white(['127.0.0.9'], ['/open']);
    assert.equal(await outcome(from('127.0.0.9'), '/open'), 'ok');
    assert.equal(await outcome(from('127.0.0.9'), '/other'), 'deny');
    assert.equal(await outcome(from('127.0.0.8'), '/open'), 'deny');
    await white([], []);
    assert.equal(await outcome(), 'deny', 'an empty entry exempts nobody');
  });

  test('verdicts are remembered for what they depend on, and forgotten with a change', async () => {
    const agents = [{ id: 1, urlRegex: '^/x', userAgentRegex: 'bad', block: 'deny' as const }];
    await rules({ whitelists: [{ id: 2, ips: ['127.0.0.5'], urls: ['/x'] }], userAgents: agents });
    const bad = { 'user-agent': 'bad' };
    for (let i = 0; i < 3; i++) {
      assert.equal(await outcome({ headers: bad }, '/x'), 'deny');
      assert.equal(await outcome({ headers: bad }, '/y'), 'ok');
      assert.equal(await outcome({ headers: bad, from: '127.0.0.5' }, '/x'), 'ok');
      assert.equal(await outcome({ headers: { 'user-agent': 'good' } }, '/x'), 'ok');
    }
    await rules({ userAgents: agents.map(rule => ({ ...rule, urlRegex: '^/y' })) });
    assert.equal(await outcome({ headers: bad }, '/x'), 'ok');
    assert.equal(await outcome({ headers: bad }, '/y'), 'deny');
  });

  test('a refusal is counted by its cause and stands in the log with its rule', async () => {
    const before = (await edge.stat()).causes;
    await rules({
      blacklists: [{ id: 21, ips: ['127.0.0.21'], block: 'drop' }],
      userAgents: [{ id: 81, urlRegex: '.*', userAgentRegex: 'evil', block: 'deny' }],
    });
    await outcome(from('127.0.0.21'), '/reason-2');
    const denied = await edge.ask('a.test', '/reason-8', { headers: { 'user-agent': 'evil' } });
    assert.match(denied.body, new RegExp(denied.headers['x-request-id'] as string));
    await outcome({}, '/reason-none');
    const after = (await edge.stat()).causes;
    assert.equal(after[2], (before[2] ?? 0) + 1);
    assert.equal(after[8], (before[8] ?? 0) + 1);
    const lines = await edge.log(3, line => line[5]!.startsWith('/reason'));
    const of = (path: string) => lines.find(line => line[5] === path)!;
    assert.deepEqual([of('/reason-2')[7], of('/reason-2')[16], of('/reason-2')[1]], ['444', '2:21', '1']);
    assert.deepEqual([of('/reason-8')[7], of('/reason-8')[16]], ['403', '8:81']);
    assert.deepEqual([of('/reason-none')[7], of('/reason-none')[16]], ['200', '-']);
  });
});
