-- How fast an answer is sent: the first rule that matches the URL. nginx counts each answer by itself, stored or not.
--
-- nginx keeps to a rate only where it buffers, and forgets it where an answer is passed on unbuffered. So a URL that has one never goes
-- through location @direct (phases/front.lua), and of what comes through the back half only an event stream is passed on at once.
local rules = require "cache.rules"
local var = ngx.var

local M = {}

-- record: contract/src/edge/kinds/rates.ts. → rules, or nil where there is none. report(id, why): a rule that had to be left out; it keeps nothing from
-- anybody, and in its place it would hold back the whole site
function M.compile(record, report)
  local rates = { site = tostring(record.id), name = "site " .. tostring(record.id) .. ": rates" }
  for _, row in ipairs(record.rates or {}) do
    local rule, why = rules.matcher(row)
    if why then
      report(row.id, why)
    else
      rule.bytes = assert(tonumber(row.bytes))
      rates[#rates + 1] = rule
      rates.lowest = math.min(rule.bytes, rates.lowest or rule.bytes)
    end
  end
  return rates
end

-- → bytes a second, or nil; and whether another request may be told more. Where nobody knows which rule is the first, the lowest holds.
function M.find(rates, path, query)
  local rule, passing = rules.find(rates, path, query)
  if rule == rules.unjudged then return rates.lowest, passing end
  return rule and rule.bytes
end

-- Is this request's URL held back? site: a plan's
function M.hold(site)
  local rates = site and site.rates
  return rates ~= nil and M.find(rates, var.uri, var.args) ~= nil
end

return M
