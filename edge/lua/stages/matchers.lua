-- Which conditions (atoms) a text satisfies, found together: the cost hangs on the kinds of conditions, hardly on their number.
--
--   equals           one look-up                          prefix, suffix   one look-up per distinct length
--   contains, regex  gates of 128 alternatives; only where a gate opens are they tried one by one
--   ips              one search over all lists            between          each by itself
local ips = require "core.ips"
local regex = require "core.regex"
local find, gsub, sub, tonumber = string.find, string.gsub, string.sub, tonumber

local M = { unjudged = -1 }

-- Alternatives of a gate, letters times counts of all of them and of one: what a gate takes to compile grows with both
local gate_size, gate_bulk, bulk_max = 128, 8192, 2048

-- broken: atoms of which nothing can be told
function M.new() return { gates = {}, alone = {}, ranges = {}, broken = {}, weight = 0 } end

local function push(map, key, atom)
  local list = map[key]
  if list then list[#list + 1] = atom else map[key] = { atom } end
end

local function each(value, add)
  if type(value) ~= "table" then return add(tostring(value)) end
  for _, one in ipairs(value) do add(tostring(one)) end
end

local function by_length(matcher, kind)
  matcher[kind] = matcher[kind] or {}
  local lengths = matcher[kind]
  return function(text, atom)
    local entry
    for _, known in ipairs(lengths) do
      if known.length == #text then entry = known end
    end
    if not entry then
      entry = { length = #text, map = {} }
      lengths[#lengths + 1] = entry
    end
    push(entry.map, text, atom)
  end
end

-- Only what means the same as an alternative among others: nothing that counts groups, quotes, comments or changes the rules of matching.
local function gateable(expression)
  if find(expression, "\\[%dgkQEGK]") or find(expression, "(*", 1, true) or find(expression, "#", 1, true) then return false end
  local bare = gsub(gsub(expression, "%(%?[:=!i]", ""), "%(%?<[=!]", "")
  return not find(bare, "(?", 1, true)
end

local function gated(matcher, expression, test)
  local gate, bulk = matcher.gates[#matcher.gates], regex.bulk(expression)
  if not gate or #gate.tests == gate_size or gate.bulk + bulk > gate_bulk then
    gate = { parts = {}, tests = {}, bulk = 0 }
    matcher.gates[#matcher.gates + 1] = gate
  end
  gate.bulk = gate.bulk + bulk
  gate.parts[#gate.parts + 1] = "(?:" .. expression .. ")"
  gate.tests[#gate.tests + 1] = test
end

-- add[kind](matcher, atom, value, report): value is a text or a list of texts of which one suffices. report(why) of what it cannot tell.
local add = {}

function add.equals(matcher, atom, value)
  matcher.equals = matcher.equals or {}
  each(value, function(text) push(matcher.equals, text, atom) end)
end

function add.prefix(matcher, atom, value)
  local put = by_length(matcher, "prefix")
  each(value, function(text) put(text, atom) end)
end

function add.suffix(matcher, atom, value)
  local put = by_length(matcher, "suffix")
  each(value, function(text) put(text, atom) end)
end

function add.contains(matcher, atom, value)
  each(value, function(text)
    gated(matcher, (gsub(text, "[^%w]", function(c) return string.format("\\x%02x", c:byte()) end)), { atom = atom, text = text })
  end)
end

function add.regex(matcher, atom, value, report)
  each(value, function(expression)
    local why, unknown = regex.fault(expression)
    if why then return report(why) end
    if expression == "" or expression == ".*" or expression == "^" then
      matcher.always = matcher.always or {}
      matcher.always[#matcher.always + 1] = atom
    elseif not unknown and gateable(expression) and regex.bulk(expression) <= bulk_max then
      gated(matcher, expression, { atom = atom, expression = expression })
    else
      matcher.alone[#matcher.alone + 1] = { atom = atom, expression = expression }
    end
  end)
end

function add.ips(matcher, atom, value, report)
  matcher.ips = matcher.ips or ips.set()
  each(value, function(text)
    if not matcher.ips:add(text, atom) then report("no address: " .. text) end
  end)
end

-- value: {from, to}, either may be missing
function add.between(matcher, atom, value)
  matcher.ranges[#matcher.ranges + 1] = { atom = atom, from = tonumber(value[1]) or -math.huge, to = tonumber(value[2]) or math.huge }
end

M.add = add

-- The atom's number is the caller's.
function M.put(matcher, atom, kind, value, report)
  local put = add[kind] or error("no such condition: " .. tostring(kind))
  put(matcher, atom, value, report)
  matcher.weight = matcher.weight + (type(value) == "table" and math.ceil(#value / 4) or 1)
end

-- An error (a match that took too long, a gate that PCRE finds too large) means "perhaps".
local function opens(gate, text)
  if not gate.whole then
    gate.whole, gate.parts = table.concat(gate.parts, "|"), nil
  end
  return regex.find(text, gate.whole, true) ~= false
end

-- Another request may find more time, so of a list whose time is used up nothing is kept. What one expression says of one text is sure,
-- and that it says nothing as well.
local function try(test, text, found)
  if found[test.atom] == true then return end
  local says, why
  if test.text then says = find(text, test.text, 1, true) ~= nil else says, why = regex.find(text, test.expression) end
  if why == regex.spent then error(why, 0) end
  if says == nil then found[test.atom] = M.unjudged elseif says then found[test.atom] = true end
end

local function mark(list, found)
  for _, atom in ipairs(list or {}) do found[atom] = true end
end

-- Marks found[atom] for each atom that holds (true) or of which nobody knows (M.unjudged). address: the text as bytes, where it is one
function M.find(matcher, text, found, address)
  for _, atom in ipairs(matcher.broken) do found[atom] = M.unjudged end
  mark(matcher.always, found)
  if matcher.equals then mark(matcher.equals[text], found) end
  for _, entry in ipairs(matcher.prefix or {}) do mark(entry.map[sub(text, 1, entry.length)], found) end
  for _, entry in ipairs(matcher.suffix or {}) do
    if #text >= entry.length then mark(entry.map[sub(text, #text - entry.length + 1)], found) end
  end
  for _, gate in ipairs(matcher.gates) do
    if opens(gate, text) then
      for _, test in ipairs(gate.tests) do
        try(test, text, found)
      end
    end
  end
  for _, test in ipairs(matcher.alone) do
    try(test, text, found)
  end
  if matcher.ips then matcher.ips:each(address(text), found) end
  local number = #matcher.ranges > 0 and tonumber(text)
  if number then
    for _, range in ipairs(matcher.ranges) do
      if number >= range.from and number <= range.to then found[range.atom] = true end
    end
  end
end

return M
