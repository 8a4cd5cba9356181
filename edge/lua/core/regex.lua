-- Expressions that people wrote. What one of them costs is bounded, and so is what all of them cost one request: a worker has other
-- sites to serve. Beyond it nobody knows whether it matches, and whoever asks says what that means: a protection refuses, a list whose
-- first match counts has none.
--
-- PCRE bounds nothing: it counts steps anew from each place a match may begin at, and a step may go through the whole text. So it is asked
-- about short texts alone, where that is little; about longer ones, and where it gives up, regex/run.lua is, which goes no way twice. It
-- does not know all that PCRE does (regex/parse.lua): an expression of the rest says nothing about a long text.
-- Nor does its compiler: it gets none whose counts write out to much (regex/program.lua), as our own reading of it finds first. An earlier
-- release let some in: these regex/run.lua tries by itself.
-- Work is counted by the processor's clock: a worker that the system holds up has not worked.
local clock = require "core.clock"
local now, cpu = clock.now, clock.cpu
local memo = require "core.memo"
local parse = require "regex.parse"
local portable = require "regex.portable"
local program = require "regex.program"
local run = require "regex.run"
local find, gmatch = string.find, string.gmatch
local re_find, re_match = ngx.re.find, ngx.re.match
local ngx = ngx
local running = coroutine.running

local M = {
  -- Seconds of the processor that expressions may take of one request, and seconds before that clock is looked at, which is the dearer one
  budget = 0.010,
  quiet = 0.002,
  -- Budgets that a request has while the worker is cold, and seconds of judging that make it warm: LuaJIT still compiles what judges then,
  -- which took 12 ms of the first list
  patience = 5,
  warming = 0.250,
  -- Seconds that a worker compiles expressions for one request; and for one site at once, and for each second that passes
  compiling = 0.050,
  burst = 0.250,
  refill = 0.020,
  -- why, where a budget is used up: the next time it may be judged
  spent = "the expressions take too long together",
  -- why, where one alone does, or is of a kind that may
  endless = "the expression takes too long on a text of this length",
  -- why, where one is none
  broken = "the expression does not compile",
}

-- "j": PCRE's compiler, "o": compiled once per worker
local options = "jo"
-- Bytes that PCRE is asked about, and its steps from each place: about a millisecond, whatever the expression. What refers back is asked
-- about shorter ones, as it does not count what a reference goes over.
local short, backwards, limit = 128, 64, "(*LIMIT_MATCH=1000)"
-- Of what refers back, on half the text: nobody else can be asked, and PCRE2 (Debian 13) no longer sees at once that a letter is lacking which
-- the expression needs, as PCRE 8 does.
local limit_backwards = "(*LIMIT_MATCH=4000)"
-- The same of what PCRE alone can read and an earlier release let in: nobody else can be asked, and a browser's name is longer than the above.
-- So much fewer steps that it takes no longer.
local middle, limit_middle, long, limit_long = 256, "(*LIMIT_MATCH=250)", 512, "(*LIMIT_MATCH=64)"
-- Letters times counts, which is more than an expression writes out to. Up to so many PCRE may compile it, whatever it is.
local small = 3000

-- Expressions this worker has compiled, as it keeps them (lua_regex_cache_max_entries), in the form in which PCRE is given them; false: it
-- does not compile
local known_max = 16384
local known, count = {}, 0
-- In place of that form: PCRE is not asked, and what it would say found otherwise
local unasked = "alone"
-- Programs for regex/run.lua, or false where there can be none; by their instructions
local programs = memo.new(200000)
-- gates join 128 expressions (stages/matchers.lua)
programs.longest = 16384
programs.weigh = function(made) return made and made.n or 8 end
-- Why an expression does not compile, or false
local verdicts = memo.new(4096)
verdicts.longest = 4096

-- The list that is judged: since when, by both clocks; whether there is no time left for it; of which site
local began, base, out, site = 0, nil, false, nil
-- What the request of now has used, in its context, once that is worth telling; until when a request may have such a table
local request, remembered = nil, 0
-- Seconds that are left to sites for compiling
local accounts = memo.new(4096)
-- Coroutines that take their time, and what they have taken since they last let others go on
local unhurried = setmetatable({}, { __mode = "k" })
local pace = 0.005

-- Seconds of judging that this worker has done, up to `warming`
local warmth = 0

local function used()
  if not request then
    request = { judged = 0, compiled = 0 }
    ngx.ctx.expressions = request
  end
  remembered = now() + 1
  return request
end

local function account()
  local one, at = memo.get(accounts, site or 0), now()
  if not one then
    one = { left = M.burst, at = at }
    memo.put(accounts, site or 0, one)
  end
  one.left, one.at = math.min(M.burst, one.left + (at - one.at) * M.refill), at
  return one
end

-- May no more be compiled, for this request or for this site?
local function exhausted() return (request ~= nil and request.compiled > M.compiling) or account().left <= 0 end

-- What a worker does once is no judging; it has bounds of its own.
local function once(make, ...)
  local at, busy = now(), cpu()
  local made = make(...)
  local took = cpu() - busy
  began = began + (now() - at)
  if base then base = base + took end
  local mine = used()
  mine.compiled = mine.compiled + took
  local one = account()
  one.left = one.left - took
  return made
end

-- The most instructions that an expression may come to, found without reading it
local function bulk(expression)
  local all = #expression
  for min, max in gmatch(expression, "{(%d*),?(%d*)}") do all = all * math.max(1, tonumber(min) or 1, tonumber(max) or 1) end
  return all
end
M.bulk = bulk

-- → why PCRE gets no such expression, or false; and whether regex/run.lua takes it all the same
local function oversized(expression)
  if bulk(expression) <= small then return false end
  local tree, why = parse.parse(expression)
  if not tree then return why end
  local fits
  fits, why = program.size(tree)
  if fits then return false end
  return why, why == program.too_large and program.fits_alone(tree)
end

local function why_not(expression)
  local why, alone = oversized(expression)
  if alone then return false end
  if why then return why end
  local _
  _, _, why = re_find("", portable(expression))
  return why or false
end

-- → nil when it compiles, else why not; nil, true: there was no time left to look. Most of the expressions a worker looks at it will
-- never need, so the verdict alone is kept.
function M.fault(expression)
  local why = memo.get(verdicts, expression)
  if why ~= nil then return why or nil end
  local me = running()
  local taken = me and unhurried[me]
  if taken then
    local busy = cpu()
    why = why_not(expression)
    taken = taken + cpu() - busy
    if taken > pace then
      ngx.sleep(0.001)
      taken = 0
    end
    unhurried[me] = taken
  else
    if exhausted() then return nil, true end
    why = once(why_not, expression)
  end
  memo.put(verdicts, expression, why)
  return why or nil
end

-- Whoever may wait (the agent's socket) looks at all expressions there are, and lets visitors go on in between. As pcall
function M.patiently(work, ...)
  local me = running()
  unhurried[me] = 0
  local function done(...)
    unhurried[me] = nil
    return ...
  end
  return done(pcall(work, ...))
end

local function refers(expression)
  return find(expression, "\\[%dgk]") or find(expression, "%(%?P[=>]") or find(expression, "%(%?[%dR&+-]")
end

local function compile(expression, trusted, prefix)
  local why = memo.get(verdicts, expression)
  if why then return false end
  if not trusted then
    local alone
    why, alone = oversized(expression)
    if why then return alone and unasked or false end
  end
  if prefix == limit and refers(expression) then prefix = limit_backwards end
  local form, _ = prefix .. portable(expression), nil
  _, _, why = re_find("", form, options)
  -- one that compiles may still give up
  return not (why and find(why, "compile", 1, true)) and form
end

-- → form; false: it does not compile; nil: there is no time left to find out
local function form_of(expression, trusted, prefix)
  local key = prefix == limit and expression or prefix .. expression
  local form = known[key]
  if form ~= nil then return form end
  if exhausted() then return nil end
  if count == known_max then
    known, count = {}, 0
  end
  form = once(compile, expression, trusted, prefix)
  known[key], count = form, count + 1
  return form
end

local function build(expression)
  local tree = parse.parse(expression)
  return tree and (program.of(tree) or program.fits_alone(tree) and program.of(tree, true)) or false
end

-- → program; false: there can be none; nil: there is no time left to make it
local function program_of(expression)
  local made = memo.get(programs, expression)
  if made == nil and not exhausted() then
    made = once(build, expression)
    memo.put(programs, expression, made)
  end
  return made
end

local function over(mine) return mine.judged > (warmth < M.warming and M.budget * M.patience or M.budget) end

local function look()
  if now() - began < M.quiet then return end
  local busy = cpu()
  if not base then
    base = busy
    return
  end
  local mine, took = used(), busy - base
  mine.judged, base = mine.judged + took, busy
  if warmth < M.warming then warmth = warmth + took end
  out = over(mine)
end

-- A list begins to be judged. of: whose it is, of which what is compiled is counted; any text or number
function M.begin(of)
  began, base, site = now(), nil, of
  request = began < remembered and ngx.ctx.expressions or nil
  out = request ~= nil and over(request)
end

-- → place of the match and its end, from 0 on, and the program; false; nil and why: nobody knows
local function search(subject, expression)
  local made = program_of(expression)
  if not made then return nil, made == nil and M.spent or M.endless end
  -- dear whatever it is, so it is counted from its own beginning on
  base = base or cpu()
  local from, to = run.find(made, subject)
  look()
  if from == nil then return nil, M.endless end
  return from, to, made
end

-- → the limit with which PCRE is asked, or nil: it is not
local function limit_for(subject, expression)
  local bytes = #subject
  if bytes <= backwards then return limit end
  if bytes > long then return nil end
  local made = program_of(expression)
  if bytes <= short then return (made or not refers(expression)) and limit or nil end
  -- nil: there was no time to make one
  if made ~= false or refers(expression) then return nil end
  return bytes <= middle and limit_middle or limit_long
end

-- ask: ngx.re's. → what it says, or nil; nil and why: nobody knows; nil, nil: it has given up
local function asked(ask, subject, expression, trusted, prefix)
  local form = form_of(expression, trusted, prefix)
  if not form then return nil, form == nil and M.spent or M.broken end
  if form == unasked then return nil end
  local found, to, why = ask(subject, form, options)
  -- `match` gives two values
  if ask == re_match then why = to end
  look()
  if why then return nil end
  return found or false
end

-- trusted: it was put together of some that compile and are small together. → true, false, or nil and why: nobody knows
function M.find(subject, expression, trusted)
  if out then return nil, M.spent end
  local prefix = limit_for(subject, expression)
  if prefix then
    local found, why = asked(re_find, subject, expression, trusted, prefix)
    if why then return nil, why end
    if found ~= nil then return found ~= false end
  end
  local from, why = search(subject, expression)
  if from == nil then return nil, why end
  return from ~= false
end

-- → captures, false, or nil and why
function M.match(subject, expression)
  if out then return nil, M.spent end
  local prefix = limit_for(subject, expression)
  if prefix then
    local found, why = asked(re_match, subject, expression, nil, prefix)
    if why then return nil, why end
    if found ~= nil then return found end
  end
  local from, to, made = search(subject, expression)
  if not from then return from, to end
  return run.captures(made, subject, from, to)
end

-- A URL expression is tried on the path and then on path?query, so that both `\.php$` and `\?id=` say what they seem to. As `find`
function M.matches_url(path, query, expression)
  local says, why = M.find(path, expression)
  if says ~= false or query == nil or query == "" then return says, why end
  return M.find(path .. "?" .. query, expression)
end

return M
