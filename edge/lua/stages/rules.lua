-- Rules of a site, compiled for the kept stage (stages/kept.lua).
--
-- A rule is {id, cause, action, when}; a counter has `count` as well: {by, seconds, times, priority} or {by, rate, burst, priority}
-- (stages/counted.lua).
-- `when` is a condition, none: always:
--   {of = quantity, is = kind, value}   stages/quantities.lua, stages/matchers.lua
--   {url = expression}   tried on the path and on path?query, so that both `\.php$` and `\?id=` say what they seem to
--   {all = {…}}  {any = {…}}  {none = {…}}   of conditions, as deep as one likes
-- Negations are drawn in to the single conditions, each of which holds, does not hold or is unknown: one that is unknown counts as
-- not holding on either side of a negation, so a rule applies only where it surely does. One whose expression takes too long is neither:
-- where a rule hangs on it, nobody knows whether the rule applies.
local matchers = require "stages.matchers"
local quantities = require "stages.quantities"

local M = {}

-- Quantities (variables) that the rules of one site may ask; stages/kept.lua takes so many steps.
M.quantities_max = 24
local depth_max = 32

-- set: {list, of = {variable → quantity}, atoms}
local function quantity_of(set, seen)
  local quantity = set.of[seen.variable]
  if not quantity then
    if #set.list == set.limit then error("rules on more than " .. set.limit .. " quantities") end
    quantity = { index = #set.list + 1, variable = seen.variable, once = seen.once, sides = {}, side = {}, atoms = 0 }
    set.list[quantity.index], set.of[seen.variable] = quantity, quantity
  end
  return quantity
end

local function literal(set, condition, negated, report)
  local seen = quantities.of(condition.of)
  local quantity = quantity_of(set, seen)
  local side = quantity.side[seen.side]
  if not side then
    side = { see = seen.see, matcher = matchers.new(), atoms = {} }
    quantity.side[seen.side] = side
    quantity.sides[#quantity.sides + 1] = side
  end
  quantity.atoms = quantity.atoms + 1
  local atom = quantity.atoms
  side.atoms[#side.atoms + 1] = atom
  local broken = false
  matchers.put(side.matcher, atom, condition.is, condition.value, function(why)
    local fatal = negated or condition.is == "regex"
    report(why, fatal)
    broken = broken or fatal
  end)
  if broken then table.insert(side.matcher.broken, atom) end
  return { quantity = quantity.index, atom = atom, negated = negated }
end

-- What holds everywhere asks nothing.
local function on_url(expression)
  if expression == "" or expression == ".*" then return { all = {} } end
  return { any = { { of = "path", is = "regex", value = expression }, { of = "url", is = "regex", value = expression } } }
end

local function draw_in(set, condition, negated, report, depth)
  if depth > depth_max then error("conditions deeper than " .. depth_max) end
  if condition.of then return literal(set, condition, negated, report) end
  if condition.url then condition = on_url(condition.url) end
  local list = condition.all or condition.any or condition.none or error "a condition of no kind"
  if condition.none then negated = not negated end
  local parts = {}
  for i, part in ipairs(list) do parts[i] = draw_in(set, part, negated, report, depth + 1) end
  -- none is the negation of any; a negation turns all and any round.
  local all = condition.all ~= nil
  return { parts = parts, all = all ~= negated }
end

-- What cannot be read (an expression that does not compile) says nothing, as one that takes too long: nobody knows whether a protection
-- applies that hangs on it, and the request is refused. What exempts, and what holds for every site of the zone, is left out.
-- → rule, or nil
local function compile_one(set, row, report)
  local out, told = false, {}
  local when = draw_in(set, row.when or { all = {} }, false, function(why, fatal)
    out = out or fatal and (row.action == "skip" or row.zone)
    if not told[why] then report(row.id, why) end
    told[why] = true
  end, 1)
  if out then return nil end
  return { id = row.id, cause = row.cause, action = row.action, count = row.count, when = when }
end

local function by_priority(a, b)
  if a.count.priority ~= b.count.priority then return a.count.priority < b.count.priority end
  return a.place < b.place
end

-- rows: rules and counters in the order in which they judge; counters come after all rules, by priority. row.report(id, why) is told
-- what cannot be read: an address that is none is left out. → ruleset, or nil when there is none
function M.compile(rows, limit)
  local set = { list = {}, of = {}, limit = limit or M.quantities_max }
  local rules, counters = {}, {}
  for place, row in ipairs(rows) do
    local rule = compile_one(set, row, row.report or function() end)
    if rule then
      rule.place = place
      local list = rule.count and counters or rules
      list[#list + 1] = rule
    end
  end
  if #rules + #counters == 0 then return nil end
  table.sort(counters, by_priority)
  for _, counter in ipairs(counters) do rules[#rules + 1] = counter end
  local weight = #rules
  for _, quantity in ipairs(set.list) do
    for _, side in ipairs(quantity.sides) do weight = weight + side.matcher.weight end
  end
  return { rules = rules, quantities = set.list, weight = weight }
end

-- In place of the quantity a condition hangs on: none that could still be asked
M.unjudged = 0

-- known: classes by quantity. → true, false, or nil and the first quantity it hangs on (M.unjudged: on no other)
local function holds(condition, known)
  local parts = condition.parts
  if not parts then
    local class = known[condition.quantity]
    if not class then return nil, condition.quantity end
    local state = class.holds[condition.atom]
    if state == nil then return condition.negated end
    if state == matchers.unjudged then return nil, M.unjudged end
    return state == true and not condition.negated
  end
  local all, first = condition.all, nil
  for i = 1, #parts do
    local value, quantity = holds(parts[i], known)
    if value == nil then
      if not first or first == M.unjudged then first = quantity end
    elseif value ~= all then
      return value
    end
  end
  if first then return nil, first end
  return all
end

M.holds = holds

return M
