-- Expressions that people wrote. What one of them costs is bounded, and so is what a list of them costs one request: a worker has other
-- sites to serve. Beyond it nobody knows whether it matches, and whoever asks says what that means: a protection refuses, a list whose
-- first match counts has none.
--
-- PCRE counts the steps of a match anew from each place it may begin at, so on a long text a limit alone bounds nothing; there a much
-- lower one holds. The work of a list is counted by the processor's clock: a worker that the system holds up has not worked.
local clock = require "core.clock"
local now, cpu = clock.now, clock.cpu
local find, sub = string.find, string.sub
local re_find, re_match = ngx.re.find, ngx.re.match

local M = {
  -- Seconds of the processor that one list may take of one request, and seconds before that clock is looked at, which is the dearer one
  budget = 0.010,
  quiet = 0.002,
  -- why, where the budget is used up: the next time it may be judged
  spent = "the expressions take too long together",
}

-- "j": PCRE's compiler, "o": compiled once per worker; lua_regex_match_limit bounds a match
local options = "jo"
-- A subject longer than so many bytes has the lower limit.
local long, lower = 1024, "(*LIMIT_MATCH=1000)"
-- Bytes for the ways back: 32 KB end on an honest `(?:a|b)*` of a long URL. It can be set only before anything was compiled.
pcall(require("ngx.re").opt, "jit_stack_size", 262144)

-- Expressions this worker has compiled, as it keeps them (lua_regex_cache_max_entries), and their forms for long subjects
local known_max = 16384
local known, forms, count = {}, {}, 0

local began, base, out = 0, nil, false

-- → nil when it compiles, else why not. Not kept: most of the expressions a worker checks it will never need.
function M.fault(expression)
  local _, _, why = re_find("", expression)
  return why
end

-- What a worker does once is not the request's work.
local function compile(expression)
  local at, busy = now(), base and cpu()
  re_find("", expression, options)
  if count == known_max then
    known, forms, count = {}, {}, 0
  end
  known[expression], count = true, count + 1
  began = began + (now() - at)
  if busy then base = base + (cpu() - busy) end
end

-- PCRE begins these at one place of a text, so the limit is one for the whole of it. It does so with a leading `.*` (alone, or in brackets
-- that are not repeated) where nothing refers back; whatever may undo that is left to the lower limit.
local function begins_once(expression)
  if find(expression, "|", 1, true) or find(expression, "\\[%dgk]") or find(expression, "%([?*]") then return false end
  return sub(expression, 1, 1) == "^" or find(expression, "^%.%*[^?+*{]") ~= nil or find(expression, "^%(%.%*%)[^?+*{]") ~= nil
end

local function form_of(subject, expression)
  if #subject > long and not begins_once(expression) then
    local form = forms[expression] or lower .. expression
    forms[expression], expression = form, form
  end
  if not known[expression] then compile(expression) end
  return expression
end

local function look()
  if now() - began < M.quiet then return end
  local busy = cpu()
  if not base then
    base = busy
  else
    out = busy - base > M.budget
  end
end

-- A list begins to be judged.
function M.begin() began, base, out = now(), nil, false end

-- → true, false, or nil and why: nobody knows
function M.find(subject, expression)
  if out then return nil, M.spent end
  local from, _, why = re_find(subject, form_of(subject, expression), options)
  look()
  if why then return nil, why end
  return from ~= nil
end

-- → captures, false, or nil and why
function M.match(subject, expression)
  if out then return nil, M.spent end
  local found, why = re_match(subject, form_of(subject, expression), options)
  look()
  if why then return nil, why end
  return found or false
end

-- A URL expression is tried on the path and then on path?query, so that both `\.php$` and `\?id=` say what they seem to. As `find`
function M.matches_url(path, query, expression)
  local says, why = M.find(path, expression)
  if says ~= false or query == nil or query == "" then return says, why end
  return M.find(path .. "?" .. query, expression)
end

return M
