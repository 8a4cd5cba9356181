-- First stage: verdicts that hang on nothing but declared quantities (stages/quantities.lua) and so are kept.
--
-- The rules of a plan are a lazy automaton. A node asks one quantity; a value is of a class, the conditions it satisfies; each class
-- leads to the next node, or to a leaf, the verdict. A node knows which rules the answers so far have left undecided and asks what the
-- first of them hangs on. Values that satisfy nothing are one class, so random ones make nothing grow, and a visitor of a known kind is
-- a few table reads away from the verdict, however many rules there are.
local base = require "resty.core.base"
local counted = require "stages.counted"
local ffi = require "ffi"
local matchers = require "stages.matchers"
local memo = require "core.memo"
local ownStatuses = require("core.limits").ownStatuses
local quantities = require "stages.quantities"
local regex = require "core.regex"
local rules = require "stages.rules"
require "resty.core.request"
local C, var = ffi.C, ngx.var
local gsub, lower = string.gsub, string.lower
local holds = rules.holds

local M = {}

-- Longer values are judged anew each time: they are rare, and keeping them is what an attacker would like.
local value_max = 512
local values_max = 4096
-- Values that all plans of this worker remember, and rules that all nodes and classes hold. A plan over its share starts anew.
local value_budget, weight_budget = memo.budget(200000), memo.budget(4000000)
local weight_first, weight_max = 4096, 262144

-- unjudged: about this request no verdict could be reached; repeated: what rules ask for came several times
M.unjudged = { refusal = { status = 503 } }
M.repeated = { refusal = { status = 400 } }
-- Nothing against the request; and exempt from this and every later stage
local passed, whitelisted = { refusal = false }, { refusal = false, whitelisted = true }
M.passed, M.whitelisted = passed, whitelisted

local statuses = { deny = 403, drop = ownStatuses.drop, limit = ownStatuses.limited }

-- → {status, cause, reason}: what the runner makes of a rule's action
local function refusal_of(rule)
  local status = statuses[rule.action] or error("no such action: " .. tostring(rule.action))
  return { status = status, cause = rule.cause, reason = rule.cause .. ":" .. rule.id }
end

local function leaf_of(rule)
  if rule.action == "skip" then return whitelisted end
  rule.leaf = rule.leaf or { refusal = refusal_of(rule) }
  return rule.leaf
end

-- Rules that the known classes leave undecided, or that hold; nothing behind the first rule that surely holds. → node or leaf
local function node_of(kept, before, known)
  local rest, asks = {}, nil
  for i = 1, #before do
    local rule = before[i]
    local value, quantity = holds(rule.when, known)
    if value ~= false then
      rest[#rest + 1] = rule
      if value == nil and quantity == rules.unjudged then
        -- One before it may still decide.
        if not asks then error("rule " .. rule.cause .. ":" .. rule.id .. ": its expression takes too long or does not compile", 0) end
      elseif value == nil then
        asks = asks or quantity
      elseif not rule.count then
        break
      end
    end
  end
  kept.weight = kept.weight + 8 + #rest
  if asks then return { quantity = kept.quantities[asks], next = {}, rest = rest } end
  if #rest == 0 then return passed end
  if rest[1].count then return counted.leaf(kept, rest) end
  return leaf_of(rest[1])
end

local function start(kept)
  kept.weight, kept.quantities = 0, {}
  for i, quantity in ipairs(kept.ruleset.quantities) do
    kept.quantities[i] = {
      index = i,
      variable = quantity.variable,
      once = quantity.once,
      sides = quantity.sides,
      memo = memo.new(values_max, value_budget),
      classes = {},
    }
  end
  kept.root = node_of(kept, kept.ruleset.rules, {})
end

-- ruleset: as rules.compile made it; scope: text that tells its counters from those of other rulesets
function M.new(ruleset, scope)
  -- Hosts of one site count together.
  ruleset.leaves = ruleset.leaves or { n = 0 }
  local kept = { ruleset = ruleset, scope = scope, leaves = ruleset.leaves, refusal_of = refusal_of, repeated = M.repeated }
  memo.join(weight_budget, kept, weight_first, weight_first)
  start(kept)
  return kept
end

local function see(side, value, found)
  local seen = value
  if side.see then seen = side.see(value) end
  if seen == nil then
    -- Unknown: neither holds nor does not
    for _, atom in ipairs(side.atoms) do found[atom] = 0 end
    return
  end
  if type(seen) ~= "table" then return matchers.find(side.matcher, seen, found, quantities.address) end
  for _, one in ipairs(seen) do matchers.find(side.matcher, one, found, quantities.address) end
end

local function class_of(kept, quantity, value)
  local class = memo.get(quantity.memo, value)
  if class then return class end
  local found, names = {}, {}
  for _, side in ipairs(quantity.sides) do see(side, value, found) end
  for atom, state in pairs(found) do names[#names + 1] = state == true and atom or atom .. (state == 0 and "?" or "!") end
  table.sort(names, function(a, b) return tostring(a) < tostring(b) end)
  local name = table.concat(names, " ")
  class = quantity.classes[name]
  if not class then
    class = { holds = found }
    quantity.classes[name] = class
    kept.weight = kept.weight + 8 + #names
  end
  if #value <= value_max then memo.put(quantity.memo, value, class) end
  return class
end

-- Goes the way step by step and makes what is missing of it. → leaf
function M.learn(kept)
  if kept.weight > kept.size and not memo.grow(weight_budget, kept, weight_max) then start(kept) end
  regex.begin(kept.scope)
  local node, known = kept.root, {}
  for _ = 1, rules.quantities_max do
    local quantity = node.quantity
    if not quantity then return node end
    local value = var[quantity.variable]
    if value and quantity.once and M.several(quantity.once) then return M.repeated end
    local class = class_of(kept, quantity, value or "")
    known[quantity.index] = class
    local child = node.next[class]
    if not child then
      child = node_of(kept, node.rest, known)
      node.next[class] = child
    end
    node = child
  end
  return not node.quantity and node or error "the way to a verdict has no end"
end

local listed = 64
local list, list_type = ffi.new("ngx_http_lua_ffi_table_elt_t[?]", listed), ffi.typeof "ngx_http_lua_ffi_table_elt_t[?]"
local truncated = ffi.new "int[1]"

-- Has the request several fields of this name (lower case, `_` for `-`, which nginx takes for the same)?
function M.several(name)
  local r = base.get_request()
  local n = C.ngx_http_lua_ffi_req_get_headers_count(r, 0, truncated)
  if n < 2 then return false end
  local fields = n > listed and ffi.new(list_type, n) or list
  C.ngx_http_lua_ffi_req_get_headers(r, fields, n, 1)
  local found = 0
  for i = 0, n - 1 do
    local key = fields[i].key
    if key.len == #name and gsub(lower(ffi.string(key.data, key.len)), "-", "_") == name then found = found + 1 end
  end
  return found > 1
end

-- One step, in nginx's words: what is read and where it leads. nil: not known yet.
local step = [[
  quantity = node.quantity
  if quantity == nil then return node end
  value = var[quantity.variable]
  if value == nil then
    value = ""
  elseif quantity.once and several(quantity.once) then
    return kept.repeated
  end
  node = node.next[quantity.memo.young[value] or unknown]
  if node == nil then return nil end
]]
-- One function for all plans, without a loop: LuaJIT compiles the steps into one trace, and what stands around them with it.
local source = "local var, several, unknown = ... return function(kept) local node, quantity, value = kept.root, nil, nil "
  .. step:rep(rules.quantities_max)
  .. "if node.quantity == nil then return node end return nil end"
-- → leaf, or nil when it has to be learned
M.known = assert(loadstring(source, "=kept"))(var, function(name) return M.several(name) end, {})

return M
