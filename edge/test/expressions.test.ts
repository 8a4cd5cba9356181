/** Expressions that take too long: whoever could be judged by one alone is refused, no list takes a worker for itself, and it is told. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { recordsOf } from '#agent/render/records.ts';
import { domain, type Edge, type Origin, site, startEdge, startOrigin, type WholeSite } from './harness.ts';
import { type Lua, startLua } from './lua.ts';

/** It refers back, so PCRE alone knows what it means */
const slow = '(\\w+[ /.]?)+bot\\1?';
/** `slow` finds no end in it, and holds for it */
const evasive = `${'a'.repeat(60)}; evilbot/1.0`;
const endless = '^/(([a-z]+)*)*N$';
const moduleOf = (type: string, content: object) =>
  recordsOf(
    'module',
    { v: 1, rev: 1, id: 9, site: 1, type, content } as never,
    () => [],
    () => ({ allowed: true }),
  );

describe('what no expression can tell in time', () => {
  let edge: Edge;
  let origin: Origin;
  before(async () => {
    [edge, origin] = await Promise.all([startEdge(), startOrigin()]);
    await edge.put(...moduleOf('urlRedirect', { redirects: [] }), ...moduleOf('proxyRewrite', { rules: [] }));
    await edge.putDocuments(
      [site(1)],
      [
        domain(1, 'a.test', [origin.port]),
        domain(2, 'to.test', [origin.port], { modules: { urlRedirect: 9 } }),
        domain(3, 're.test', [origin.port], { modules: { proxyRewrite: 9 } }),
      ],
    );
  });
  beforeEach(() => {
    origin.seen.length = 0;
  });
  after(async () => {
    await edge[Symbol.asyncDispose]();
    await origin[Symbol.asyncDispose]();
  });
  const rules = (change: Partial<WholeSite>) => edge.putDocuments([site(1, change)], []);
  const status = async (path: string, agent = 'x') =>
    (await edge.ask('a.test', path, { headers: { 'user-agent': agent } })).status;
  const problems = async () => (await edge.stat()).problems;

  test('a visitor whose agent takes too long is refused, counted and named; no other is', async () => {
    await rules({ userAgents: [{ id: 7, urlRegex: '^/shop', userAgentRegex: slow, block: 'deny' }] });
    const before = await problems();
    assert.equal(await status('/shop', 'evilbot/1.0'), 403);
    assert.equal(await status('/shop', 'Mozilla/5.0'), 200);
    assert.equal((await problems()).protection, before.protection);
    for (let times = 0; times < 2; times++) assert.equal(await status('/shop', evasive), 503);
    assert.equal(await status('/elsewhere', evasive), 200, 'where the rule holds for nobody it asks nothing');
    assert.equal((await problems()).protection, before.protection + 2);
    assert.match(edge.errors(), /protection: site 1: rule 8:7: its expression takes too long/);
  });

  test('a rule before it decides, one behind it does not', async () => {
    const black = { blacklists: [{ id: 1, ips: ['127.0.0.9'], block: 'deny' as const }] };
    await rules({ ...black, userAgents: [{ id: 7, urlRegex: '.', userAgentRegex: slow, block: 'deny' }] });
    assert.equal((await edge.ask('a.test', '/', { from: '127.0.0.9', headers: { 'user-agent': evasive } })).status, 403);
    assert.equal(await status('/', evasive), 503);
    await rules({
      userAgents: [
        { id: 7, urlRegex: '.', userAgentRegex: slow, block: 'deny' },
        { id: 8, urlRegex: '.', userAgentRegex: 'evil', block: 'deny' },
      ],
    });
    assert.equal(await status('/', evasive), 503);
    assert.equal(await status('/', 'evil'), 403);
  });

  test('a counter that may hold for a URL refuses it', async () => {
    const path = `/${'a'.repeat(60)}/bo-bot`;
    const frequency = { id: 1, urlRegex: slow, seconds: 60, times: 100, type: 'ip', priority: 1, action: 'limit' } as const;
    const limitReq = { id: 1, urlRegex: slow, rate: 100, burst: 100, by: 'ip', priority: 1 } as const;
    await rules({ frequencies: [frequency] } as never);
    assert.deepEqual([await status('/a'), await status(path)], [200, 503]);
    await rules({ limitReqs: [limitReq] } as never);
    assert.deepEqual([await status('/a'), await status(path)], [200, 503]);
    await rules({});
    assert.equal(await status(path), 200);
  });

  // 100 times `endless` on it take 0.4 s where a request of a new worker has 0.05 s: a fast machine is far from it as well
  const long = `/${'a'.repeat(12_000)}`;

  test('500 cache rules: the URL is not stored, and the site and its list are told', async () => {
    const list = Array.from({ length: 500 }, () => ({
      mode: 'forceCache' as const,
      type: 'regex' as const,
      value: endless,
      ttl: 60,
    }));
    await rules({ cacheRules: list } as never);
    origin.script = (_, response) => {
      response.setHeader('Cache-Control', 'max-age=60');
      response.end('x');
    };
    const before = await problems();
    for (let times = 0; times < 3; times++) assert.equal(await status(long), 200);
    assert.equal(origin.seen.length, 3);
    assert.ok((await problems()).expression > before.expression);
    assert.match(edge.errors(), /expression: site 1: cacheRules: /);
    await status('/short');
    assert.equal((await edge.ask('a.test', '/short')).headers['x-cache'], 'HIT');
    await rules({});
  });

  test('100 redirects lead nowhere, 100 rewrites refuse a URL of which nobody knows where it belongs', async () => {
    const hundred = <T>(make: (id: number) => T) => Array.from({ length: 100 }, (_, i) => make(i + 1));
    const redirects = hundred(id => ({ id, match: 'advanced', source: endless, target: '/x', status: 301, query: true }));
    redirects.push({ id: 101, match: 'advanced', source: '^/a', target: '/y', status: 301, query: true });
    await edge.put(...moduleOf('urlRedirect', { redirects }));
    const before = await problems();
    assert.equal((await edge.ask('to.test', '/ab')).headers.location, '/y');
    assert.equal((await edge.ask('to.test', long)).status, 200, 'which one is the first nobody knows');
    await edge.put(
      ...moduleOf('proxyRewrite', { rules: hundred(() => ({ matchType: 'advanced', source: endless, target: '/x' })) }),
    );
    const asked = origin.seen.length;
    assert.equal((await edge.ask('re.test', long)).status, 503);
    assert.equal(origin.seen.length, asked, 'left as it was it would have left its folder');
    assert.equal((await problems()).expression, before.expression + 2);
    // an ordinary rule that does not hold for a long path refuses nobody
    const ordinary = ['(.*)[.]php$', '^/(.*)/index[.]html$'].map(source => ({ matchType: 'advanced', source, target: '/x' }));
    await edge.put(...moduleOf('proxyRewrite', { rules: ordinary }));
    assert.equal((await edge.ask('re.test', `/s/${'a1B2/'.repeat(600)}`)).status, 200);
    assert.match(edge.errors(), /expression: site 1: urlRedirect 9: /);
    assert.match(edge.errors(), /expression: site 1: proxyRewrite 9: /);
  });
});

describe('the work of one list', () => {
  let lua: Lua;
  before(async () => {
    lua = await startLua();
  });
  after(() => lua[Symbol.asyncDispose]());
  /** A worker whose lists may take no time at all; `asked`: how many expressions were tried, `longest`: on how many bytes */
  const prepare = `
local regex, problems = require "core.regex", require "core.problems"
local quiet, budget, find, match = regex.quiet, regex.budget, ngx.re.find, ngx.re.match
local asked, longest = 0, 0
local kept_find, kept_match = regex.find, regex.match
regex.find = function(text, e) asked, longest = asked + 1, math.max(longest, #text) return kept_find(text, e) end
regex.match = function(text, e) asked, longest = asked + 1, math.max(longest, #text) return kept_match(text, e) end
local function hurry() regex.quiet, regex.budget = -1, -1 end
local function take_time() regex.quiet, regex.budget = quiet, budget end
local function done(...)
  take_time()
  regex.find, regex.match = kept_find, kept_match
  local said = { ... }
  for i, one in ipairs(said) do said[i] = tostring(one) end
  return table.concat(said, " ")
end
`;

  test('one search that takes the whole of a request is counted, the first of a list as well', async () => {
    let nested = 'a';
    for (let level = 0; level < 45; level++) nested = `(?>(?:${nested})*)`;
    const said = await lua.run(`
      local regex = require "core.regex"
      local kept, budget = regex.warming, regex.budget
      -- as in a worker that has judged for a while; the search takes 30 ms, also of a fast machine more than this
      regex.warming, regex.budget = 0, 0.001
      local function judge(e) regex.begin(1) return select(2, regex.find("/" .. ("a"):rep(590), e)) end
      judge("${nested}c")
      local why = judge("^/b")
      regex.warming, regex.budget = kept, budget
      return tostring(why == regex.spent)`);
    assert.equal(said, 'true');
  });

  test('is given up when its time is used up, and judged the next time', async () => {
    const said = await lua.run(`${prepare}
      local rules = require "cache.rules"
      local list = {}
      for i = 1, 500 do list[i] = { type = "regex", value = "^/x" .. i .. "$", mode = "followOrigin", ttl = 5 } end
      local compiled = rules.compile({ id = 1, cacheRules = list }, error)
      hurry()
      local before = problems.counts().expression
      local rule, passing = rules.find(compiled, "/x400")
      local tried = asked
      take_time()
      local again = rules.find(compiled, "/x400")
      return done(rule == rules.unjudged, passing, tried < 10, problems.counts().expression - before, again == compiled[400])`);
    assert.equal(said, 'true true true 1 true');
  });

  test('compiling has a bound for a request and one for a site; what is left is compiled for the next ones', async () => {
    const said = await lua.run(`${prepare}
      local compiled = 0
      ngx.re.find = function(text, e, options) if options and text == "" then compiled = compiled + 1 end return find(text, e, options) end
      package.loaded["core.regex"] = nil
      local fresh = require "core.regex"
      ngx.re.find, package.loaded["core.regex"] = find, regex
      local out = {}
      local function request(site, name)
        ngx.ctx.expressions = nil
        fresh.begin(site)
        compiled = 0
        local spent
        for i = 1, 50 do
          local says, why = fresh.find("x", name .. i .. "$")
          if why == fresh.spent then spent = true break end
        end
        out[#out + 1] = tostring(spent or false) .. compiled
      end
      fresh.compiling, fresh.burst, fresh.refill = 0, 1000, 0
      request("1", "a")
      request("1", "a")
      fresh.compiling = 1000
      request("1", "a")
      fresh.compiling, fresh.burst = 1000, 1e-9
      request("2", "b")
      request("2", "b")
      request("1", "a")
      -- and what a worker checks of a list it has not seen
      fresh.begin "2"
      local why, unknown = fresh.fault "("
      out[#out + 1] = tostring(why) .. tostring(unknown)
      return done(unpack(out))`);
    // of site 1 one each, then the other 48; of site 2 one more, ever; what is compiled is judged by
    assert.equal(said, 'true1 true1 false48 true1 true0 false0 niltrue');
  });

  test('one request has one time for all its lists', async () => {
    const said = await lua.run(`${prepare}
      ngx.ctx.expressions = nil
      regex.begin "1"
      hurry()
      regex.find("x", "y")
      regex.find("x", "y")
      local one = tostring(regex.find("x", "y"))
      regex.begin "1"
      local two = tostring(regex.find("x", "y"))
      ngx.ctx.expressions = nil
      regex.begin "1"
      local three = tostring(regex.find("x", "y"))
      return done(one, two, three)`);
    assert.equal(said, 'nil nil false');
  });

  test('PCRE is given nothing that writes out to much, and nobody waits for a check of many', async () => {
    const said = await lua.run(`${prepare}
      local largest, slept, kept_sleep = 0, 0, ngx.sleep
      ngx.re.find = function(text, e, options)
        if not e:find "^x%d" then largest = math.max(largest, #e) end
        return find(text, e, options)
      end
      package.loaded["core.regex"] = nil
      local fresh = require "core.regex"
      ngx.re.find, package.loaded["core.regex"] = find, regex
      fresh.begin "1"
      local out = {}
      for _, e in ipairs { "(?:a?){0,4000}n1", "(?:\\\\1(a)?){0,4000}", "(?x)(?:a?){0,4000}", "((?:a{0,99}){0,99}){0,99}(?R)" } do
        out[#out + 1] = tostring(fresh.fault(e) ~= nil) .. tostring(fresh.find("a", e))
      end
      out[#out + 1] = largest
      ngx.sleep = function() slept = slept + 1 end
      local ok = fresh.patiently(function() for i = 1, 4000 do fresh.fault("x" .. i .. ("(?:a?){0,20}"):rep(10)) end end)
      ngx.sleep = kept_sleep
      out[#out + 1] = tostring(ok) .. tostring(slept > 3)
      return done(unpack(out))`);
    assert.equal(said, 'falsefalse truenil truenil truenil 0 truetrue');
  });

  test('of rates the lowest holds where nobody knows which is the first', async () => {
    const said = await lua.run(`${prepare}
      local rates = require "core.rates"
      local slow = { type = "regex", value = "^/(([a-z]+)*)*N\\\\1?$", bytes = 5000 }
      local compiled = rates.compile({ id = 1, rates = { slow, { type = "site", bytes = 1000 }, { type = "site", bytes = 9000 } } }, error)
      return done(rates.find(compiled, "/a"), rates.find(compiled, "/" .. ("a"):rep(2000)))`);
    assert.equal(said, '1000 1000 false');
  });

  test('a protection whose time is used up refuses, and keeps nothing of it', async () => {
    const said = await lua.run(
      `${prepare}
      local rules, kept = require "stages.rules", require "stages.kept"
      local rows = {}
      for i = 1, 50 do
        rows[i] = { id = i, cause = 1, action = "deny", when = { of = "path", is = "regex", value = "(?>x" .. i .. "y)" } }
      end
      local automaton = kept.new(rules.compile(rows), "1")
      hurry()
      local ok, why = pcall(kept.learn, automaton)
      take_time()
      return done(ok, why == regex.spent, kept.learn(automaton).refusal)`,
      '/quiet',
    );
    assert.equal(said, 'false true false');
  });

  test('no location grows without bound', async () => {
    const said = await lua.run(`${prepare}
      local redirects = require "features.url_redirect"
      local function decide(target, path)
        asked, longest = 0, 0
        local conf = redirects.compile({ redirects = { { id = 1, match = "advanced", source = "(.*)", target = target, status = 301, query = true } } }, error)
        local found, location = redirects.decide(conf, path, "", "http", "h.test")
        return (found and #location or "none") .. "/" .. tostring(asked <= 12 and longest <= 8192 + #path)
      end
      return done(decide("/" .. ("$1"):rep(20), "/abcdefgh"), decide("/" .. ("$1"):rep(1000), "/" .. ("a"):rep(8000)),
        decide("https://o.test/$1", "/" .. ("a"):rep(100)), decide("https://o.test/$1", "/" .. ("a"):rep(8180)))`);
    assert.equal(said, 'none/true none/true 116/true none/true');
  });

  test('nothing, as often as one likes, is nothing: an earlier release let such expressions in', async () => {
    const said = await lua.run(`${prepare}
      regex.begin()
      local nothing = "(?:(?:(?:){65535}){65535}){65535}"
      local function says(e) return tostring((regex.find("abc", e))) end
      return done(tostring(regex.fault(nothing)), says(nothing), says("^" .. nothing .. "b"), says("(?:(?:){65535}c){9}"))`);
    assert.equal(said, 'nil true false false');
  });

  test('many letters of an honest expression on a long URL are no reason to give up', async () => {
    const said = await lua.run(`${prepare}
      regex.begin()
      local long = "/" .. ("a"):rep(6000)
      return done(regex.find(long, "^(?:[a-z/]|%[0-9a-f]{2})+$"), regex.find(long, "^/[a-z]*\\\\.php$"), regex.find("/" .. ("a"):rep(900), "(?:.|\\\\s)*foo$"))`);
    assert.equal(said, 'true false false');
  });
});
