-- Cache rules of a site: the first that matches a URL counts. Paths are the decoded ones, without dot segments; one that may be read in
-- several ways (core/paths.lua) is stored by a rule only where all of them meet it, and stays outside the cache where any is excluded.
local paths = require "core.paths"
local problems = require "core.problems"
local regex = require "core.regex"
local find, sub, lower = string.find, string.sub, string.lower

-- unjudged: in place of a rule, where nobody knows which is the first that matches: nothing is stored
local M = { unjudged = { ttl = 0 } }

local function extensions(value)
  local set = {}
  for word in value:gmatch "[^%s,;|]+" do set[lower((word:gsub("^%*?%.", "")))] = true end
  return set
end

-- row: {type, value} → what `find` takes, and why it does not compile if so. It stays in its place then, and whoever comes to it is not
-- judged: without it a later rule would decide, which may store what this one keeps out.
function M.matcher(row)
  local why = row.type == "regex" and regex.fault(row.value) or nil
  return { type = row.type, value = row.value, set = row.type == "fileType" and extensions(row.value) or nil }, why
end

-- record: contract/src/edge/kinds/cacheRules.ts. report(id, why): a rule has no id of its own in the document, so its place is told
function M.compile(record, report)
  local rules = { excludes = false, forces = false, site = tostring(record.id), name = "site " .. tostring(record.id) .. ": cacheRules" }
  for place, row in ipairs(record.cacheRules or {}) do
    local rule, why = M.matcher(row)
    if why then report(place, why) end
    rule.force, rule.ttl = row.mode == "forceCache", row.ttl
    -- Such URLs do not enter the cache at all, so the front half must know. An expression may turn out to be one of them.
    if row.ttl == 0 or row.type == "regex" then rules.excludes = true end
    if rule.force then rules.forces = true end
    rules[#rules + 1] = rule
  end
  return rules
end

local function matches(rule, path, query)
  local type, value = rule.type, rule.value
  if type == "site" then return true end
  if type == "prefix" then return sub(path, 1, #value) == value end
  if type == "exact" then return path == value or (query ~= nil and path .. "?" .. query == value) end
  if type == "regex" then return regex.matches_url(path, query, value) end
  local _, _, extension = find(path, "%.([^./]+)$")
  return extension ~= nil and rule.set[lower(extension)] == true
end

local function search(rules, path, query)
  for i = 1, #rules do
    local says, why = matches(rules[i], path, query)
    if says then return rules[i] end
    if says == nil then
      problems.note("expression", rules.name .. ": " .. why)
      return M.unjudged, why == regex.spent
    end
  end
end

-- rules.name: site and list. → the first that matches, nil, or M.unjudged and whether another request may be told more
function M.find(rules, path, query)
  regex.begin(rules.site)
  return search(rules, path, query)
end

local excluded = { ttl = 0, force = false }

-- The rule of a request. uri, path, query: $request_uri, $uri, $args. → as M.find; one of ttl 0 keeps it outside the cache
function M.judge(rules, uri, path, query)
  local kind = #rules > 0 and paths.kind(uri)
  if not kind then return M.find(rules, path, query) end
  if kind == "wild" then return rules.excludes and excluded or nil end
  regex.begin(rules.site)
  local first, agreed
  for i, reading in ipairs(paths.readings(uri, path)) do
    local rule, passing = search(rules, reading, query)
    if rule and rule.ttl == 0 then return rule, passing end
    if i == 1 then
      first, agreed = rule, true
    else
      agreed = agreed and rule == first
    end
  end
  return agreed and first or nil
end

return M
