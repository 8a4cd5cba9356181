/** The bounded search for expressions (edge/lua/regex) beside PCRE, which it must agree with, and what it may cost. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Lua, startLua } from './lua.ts';

/** tried(expression, text) → what the bounded search says, what PCRE says; "?" where the one does not know the language, or gives up */
const prelude = `
local parse, program, run, regex = require "regex.parse", require "regex.program", require "regex.run", require "core.regex"
local portable = require "regex.portable"
local function shown(from, to, captures, n)
  local parts = { from, to }
  for i = 1, n do parts[#parts + 1] = captures[i] or "-" end
  return table.concat(parts, " ")
end
local function ours(expression, text, alone)
  local tree, why = parse.parse(expression)
  local made
  if tree then made, why = program.of(tree, alone) end
  if not made then return "? " .. why end
  local from, to = run.find(made, text)
  if from == nil then return "?" end
  return from and shown(from + 1, to, run.captures(made, text, from, to), made.captures) or "none", made.captures
end
local function tried(expression, text, alone)
  local mine, n = ours(expression, text, alone)
  if mine:sub(1, 1) == "?" then return mine, "" end
  local from, to, why = ngx.re.find(text, portable(expression))
  if why then return mine, "! " .. why end
  return mine, from and shown(from, to, ngx.re.match(text, portable(expression)), n) or "none"
end
`;

describe('expressions on long texts', () => {
  let lua: Lua;
  before(async () => {
    lua = await startLua();
  });
  after(() => lua[Symbol.asyncDispose]());
  const agree = async (pairs: [expression: string, text: string][]) => {
    const list = pairs.map(pair => `{ ${pair.map(luaText).join(', ')} }`).join(', ');
    const said = await lua.run(`${prelude}
      local wrong = {}
      for _, pair in ipairs { ${list} } do
        local mine, its = tried(pair[1], pair[2])
        if mine ~= its then wrong[#wrong + 1] = pair[1] .. " on " .. pair[2] .. ": " .. mine .. ", PCRE " .. its end
      end
      return table.concat(wrong, "\\n")`);
    assert.equal(said, '');
  };

  test('a hyphen behind a class is escaped, as PCRE2 from 10.45 on wants it; nothing else is touched', async () => {
    const pairs = [
      ['[\\w-.]+@', '[\\w\\-.]+@'],
      ['x[^\\d-a]y[]\\s-b]', 'x[^\\d\\-a]y[]\\s\\-b]'],
      ['[\\w--z]', '[\\w\\--z]'],
      ['[\\w-]', '[\\w-]'],
      ['\\w-z[a-z]\\[\\w-z', '\\w-z[a-z]\\[\\w-z'],
      ['[[:alpha:]\\w-z]', '[[:alpha:]\\w\\-z]'],
      ['[\\\\w-z][\\w-z', '[\\\\w-z][\\w\\-z'],
    ] as const;
    const list = pairs.map(([expression]) => luaText(expression)).join(', ');
    const said = await lua.run(`${prelude}
      local out = {}
      for i, expression in ipairs { ${list} } do out[i] = portable(expression) end
      return table.concat(out, "\\n")`);
    assert.deepEqual(
      said.split('\n'),
      pairs.map(([, portable]) => portable),
    );
  });

  test('what people write means what it means to PCRE', () =>
    agree([
      ['^/(blog|news)/(.*)\\.html$', '/news/a/b.html'],
      ['(?i)^/Shop/(\\d{2,4})-(\\w+?)/?$', '/sHOP/123-abc/'],
      ['(?<!x)ab|cd$', 'xab zcd'],
      ['^/(?!api/|static/)(.+)$', '/apis/x'],
      ['^/(?!api/|static/)(.+)$', '/api/x'],
      ['(?<year>\\d{4})/(?<month>\\d\\d)', '/a/2026/11'],
      ["(?'a'x)(?P<b>y)(?:z)", 'xyz'],
      ['(?>a+)ab', 'aaab'],
      ['a++b', 'aaab'],
      ['(?:a?+b)*+c', 'ababc'],
      ['[[:alpha:]_-]+[^[:^digit:]]', 'ab-c_4'],
      ['[]a]+[^]b]', ']a]c'],
      ['[\\]\\-\\\\a-c\\x41\\n]+', 'x\\]-bA\n'],
      ['\\bfoo\\b.*\\Bar', 'foo xbar'],
      ['a$', 'a\n'],
      ['a\\z', 'a\n'],
      ['(?m)^b$', 'a\nb\nc'],
      ['(?s).+', 'a\nb'],
      ['.+', 'a\nb'],
      ['(?i:A)b(?-i)c', 'abc'],
      ['a(?i)b|c', 'C'],
      ['(a)|b', 'b'],
      ['(?:(a)|b)*', 'ab'],
      ['(a|ab)(c|bcd)(d*)', 'abcd'],
      ['x*', 'aaa'],
      ['', 'a'],
      ['(a*)*b', 'aab'],
      ['(a*)+b', 'b'],
      ['(?:a|b*)*c', 'abbc'],
      ['(?=(a+))a*b', 'baaab'],
      ['(?<=a|b)c', 'bc'],
      ['\\h+\\N\\v?', 'a \tx\n'],
      ['a{2}{x', 'aa{x'],
      ['\\/\\.\\-\\~', '/.-~'],
      ['(x)?(y)?z', 'yz'],
      ['a.{0,2}?c', 'abbc'],
      ['\\0\\07\\x{41}', '\0\x07A'],
      ['[\\w-.]+@', 'a-b.c@'],
      ['(?i)^[A-c[:^digit:]]+$', 'aBcD'],
    ]));

  // PCRE is not sure of itself where groups that may be empty are possessive, or asked about in brackets that look: those are left out.
  // Every second one as those are tried that are too large for PCRE: counts of a letter or class in one piece.
  test('32,000 random ones find the same place and the same groups', async () => {
    const said = await lua.run(`${prelude}
      math.randomseed(20261122)
      local random = math.random
      local function pick(list) return list[random(#list)] end
      local function quantifier(group) return pick { "", "", "", "", "*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,2}?", "{1,}", "{0,3}", "{2,}?", group and "" or "{1,3}+", group and "" or "{2,}+", group and "" or "*+", group and "" or "?+" } end
      local piece
      local function branch(depth)
        local parts = {}
        for _ = 1, random(0, 3) do parts[#parts + 1] = piece(depth) end
        return table.concat(parts)
      end
      local function alternatives(depth)
        local list = { branch(depth) }
        for _ = 2, random(1, 3) do list[#list + 1] = branch(depth) end
        return table.concat(list, "|")
      end
      function piece(depth)
        if depth > 0 and random(3) == 1 then
          local open = pick { "(", "(", "(", "(?:", "(?:", "(?>", "(?=", "(?!", "(?i:" }
          local inner = open .. alternatives(depth - 1) .. ")"
          if open == "(?=" or open == "(?!" then return inner end
          return inner .. quantifier(true)
        end
        local sign = pick { "a", "b", "c", "a", "b", ".", "[ab]", "[^a]", "\\\\w", "\\\\d", "B", "^", "$", "\\\\b", "(?<=a)", "(?<!ab)" }
        if #sign > 1 and sign:find "^[(]" or sign == "^" or sign == "$" or sign == "\\\\b" then return sign end
        return sign .. quantifier()
      end
      local compared, unknown, wrong = 0, 0, {}
      for round = 1, 8000 do
        local expression = alternatives(3)
        for _ = 1, 4 do
          local text = {}
          for i = 1, random(0, 12) do text[i] = pick { "a", "b", "a", "b", "c", "B", "1", "\\n" } end
          text = table.concat(text)
          local mine, its = tried(expression, text, round % 2 == 0)
          -- whether a group that took nothing is there is not told apart by anybody
          mine, its = mine:gsub(" %-", " "), its:gsub(" %-", " ")
          if mine:sub(1, 1) == "?" or its:sub(1, 1) == "!" then unknown = unknown + 1
          elseif mine == its then compared = compared + 1
          elseif #wrong < 10 then wrong[#wrong + 1] = expression .. " on " .. ("%q"):format(text) .. ": " .. mine .. ", PCRE " .. its end
        end
      end
      if #wrong > 0 then return table.concat(wrong, "\\n") end
      return compared > 20000 and "agreed" or compared .. " compared, " .. unknown .. " not"`);
    assert.equal(said, 'agreed');
  });

  test('PCRE is asked about short texts alone, and never about one for long', async () => {
    const said = await lua.run(`${prelude}
      local find, match, longest, unbounded = ngx.re.find, ngx.re.match, 0, 0
      local function watched(ask)
        return function(subject, expression, options)
          longest = math.max(longest, #subject)
          local steps = tonumber(expression:match "^%(%*LIMIT_MATCH=(%d+)%)")
          -- places, steps and the way of a step
          if subject ~= "" and not (steps and steps * #subject * #subject < 17e6) then unbounded = unbounded + 1 end
          return ask(subject, expression, options)
        end
      end
      ngx.re.find, ngx.re.match = watched(find), watched(match)
      package.loaded["core.regex"] = nil
      local fresh = require "core.regex"
      ngx.re.find, ngx.re.match, package.loaded["core.regex"] = find, match, regex
      for _, size in ipairs { 1, 64, 128, 129, 256, 257, 512, 513, 1024, 16000 } do
        for _, expression in ipairs { "^/x", "(a+)+b", "[a-z]{0,90}[a-z]+=", "(a)\\\\1b", "(?P<x>a)(?P=x)b", "(?x) a(?+1)(b)", "(?x) (a+)+ b", "(.*)\\\\E{0}[a-z]{0,900}[a-z]+=" } do
          fresh.begin()
          fresh.find(("a"):rep(size), expression)
          fresh.begin()
          fresh.match(("a"):rep(size), expression)
        end
      end
      return longest .. " " .. unbounded`);
    assert.equal(said, '512 0');
  });

  test('ordinary expressions say what they mean on the longest URLs', async () => {
    const said = await lua.run(`
      local regex = require "core.regex"
      local long, query = ("a"):rep(16000), "/blog/a?" .. ("utm_source=x&"):rep(1000)
      local list = {
        { "^/(blog|news)/(.*)\\\\.html$", query, false }, { "/(.*)\\\\.php$", query, false }, { "(?i)^/Blog/(.*)\\\\.html$", "/blog/" .. long .. ".html", true },
        { "^/(?:blog|news)/(.*)\\\\.html$", "/news/" .. long, false }, { "^/blog/([a-z]+-?)+\\\\.html$", "/blog/" .. long, false },
        { "^/(?!api/)", "/" .. long, true }, { "/?[a-z]+\\\\d+", long, false }, { "-?\\\\w+=", long, false }, { "(\\\\w+[ /.]?)+bot", long, false },
        { "(?:a|aa)+$", long, true }, { "sqlmap|nikto|masscan", long .. "nikto", true },
      }
      local wrong = {}
      for _, one in ipairs(list) do
        regex.begin()
        if regex.find(one[2], one[1]) ~= one[3] then wrong[#wrong + 1] = one[1] end
      end
      regex.begin()
      local groups = regex.match("/old/" .. long .. "/x.html", "^/old/(a+)/(x)[.]html(y)?$")
      if not groups or #groups[1] ~= 16000 or groups[2] ~= "x" or groups[3] ~= false then wrong[#wrong + 1] = "groups" end
      return table.concat(wrong, "\\n")`);
    assert.equal(said, '');
  });

  test('what would take too many steps, or too much to remember, is given up, whatever comes next', async () => {
    const said = await lua.run(`${prelude}
      local kept, out = run.steps, {}
      local function say(text, expression) out[#out + 1] = (ours(expression, text)) end
      local long = ("a"):rep(16000)
      say(long, "[a-z]{0,200}[a-z]+=")
      say(long, "(?:(?=.*x)a)*b")
      run.steps = 50
      say(("a"):rep(300), "(?:a|b)+c")
      run.steps = kept
      say(("a"):rep(300), "(?:a|b)+c")
      say(("a"):rep(300) .. "c", "((?:a|b)+)c")
      say("a", "((?:ab){60}){60}")
      say("a", ("("):rep(150) .. "a" .. (")"):rep(150))
      say("a", "(?<=a+)b")
      return table.concat(out, "|"):gsub("a%a%a%a%a%a%a%a%a%a%a%a%a+", "A")`);
    assert.equal(
      said,
      '?|?|?|none|1 301 A|? too many instructions|? too many brackets in brackets|? it looks back an unknown way',
    );
  });
});

const luaText = (text: string) => `"${[...Buffer.from(text)].map(byte => `\\${String(byte).padStart(3, '0')}`).join('')}"`;
