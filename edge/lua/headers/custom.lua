-- Headers that operators write: on requests to the origin, and on answers to visitors. What a module says and what a domain says for
-- itself stand together; where both name a header the domain's counts. An empty value takes the header away.
--
-- Headers of requests are constants, the same for every visitor of a host, so a stored answer may depend on them: whatever a visitor
-- sends under such a name does not reach the origin (core/forward.lua asks `fixed`).
local pages = require "core.pages"
local spellings = require "core.spellings"
local ngx = ngx
local var, header = ngx.var, ngx.header
local set_header, clear_header = ngx.req.set_header, ngx.req.clear_header
local find, lower, match = string.find, string.lower, string.match

local M = {}

local function set(text)
  local names = {}
  for name in text:gmatch "%S+" do names[name] = true end
  return names
end

-- Say where a message ends, whose it is, what part of it is wanted, or are ours. The server refuses them too (contract/src/module/
-- custom-headers.ts); one that comes nevertheless is left out and told.
local reserved = set [[connection keep-alive te trailer transfer-encoding upgrade content-length content-encoding content-range host
  x-request-id x-cache age http2-settings]]
local families = { "^proxy%-", "^x%-edge%-", "^x%-accel%-", "^sec%-websocket%-" }
-- Of an answer: when it was made, which one it is, whether parts of it can be had. Conditions and parts are answered here, by these.
local on_responses = set [[accept-ranges date etag last-modified]]
local on_requests = set [[accept-encoding cdn-loop expect if-match if-modified-since if-none-match if-range if-unmodified-since range
  x-forwarded-for x-forwarded-host x-forwarded-proto x-real-ip]]

local function fault(side, name, value)
  if not match(name, "^[!#$%%&'*+.^_`|~%w-]+$") then return "no name of a header" end
  if find(value, "[^ -~]") then return "a value of more than one line" end
  local field = spellings.plain(name)
  local of_side = side == "request" and on_requests or on_responses
  if reserved[field] or of_side[field] then return "not to be set" end
  if side == "response" and field == "vary" and value == "" then return "not to be taken away" end
  for _, family in ipairs(families) do
    if match(field, family) then return "not to be set" end
  end
end

local function side_of(content, side, report)
  local list, seen = {}, {}
  for place, row in ipairs(content[side] or {}) do
    local field = lower(row.name)
    local why = fault(side, row.name, row.value) or (seen[field] and "named twice")
    if why then
      report(place, side .. " " .. row.name .. ": " .. why)
    else
      seen[field] = true
      list[#list + 1] = { name = row.name, field = field, value = row.value ~= "" and row.value or nil }
    end
  end
  return list
end

-- content: contract/src/module/custom-headers.ts. report(place, why) names what had to be left out.
function M.compile(content, report)
  return { request = side_of(content, "request", report), response = side_of(content, "response", report) }
end

local function joined(wide, near)
  local list, own = {}, {}
  for _, one in ipairs(near) do own[one.field] = true end
  for _, one in ipairs(wide) do
    if not own[one.field] then list[#list + 1] = one end
  end
  for _, one in ipairs(near) do list[#list + 1] = one end
  return #list > 0 and list or nil
end

local nothing = { request = {}, response = {} }

-- Puts what holds for a plan into it: request, fixed (fields that requests have from here), response. wide, near: compiled, or nil
function M.hold(plan, wide, near)
  wide, near = wide or nothing, near or nothing
  plan.request, plan.response = joined(wide.request, near.request), joined(wide.response, near.response)
  if not plan.request then return end
  plan.fixed = {}
  for _, one in ipairs(plan.request) do plan.fixed[one.field] = true end
end

-- On the way to the origin, behind everything that takes headers of the visitor away
function M.request(list)
  for i = 1, #list do
    local one = list[i]
    if one.value then set_header(one.name, one.value) else clear_header(one.name) end
  end
end

-- Further lines of a header that may have several
local function lines_with(value, more)
  if value == nil then return more end
  if type(value) == "table" then
    value[#value + 1] = more
    return value
  end
  return { value, more }
end

-- A cookie stands beside those that are there, and Vary says one thing more: it is what caches behind us go by.
local added = { ["set-cookie"] = true, vary = true }
-- Of our own pages these describe what they are.
local of_a_page = { ["cache-control"] = true, ["content-type"] = true, location = true }

-- Whether it is one, of either half: an origin's answer has come through a proxy of this half.
local function is_ours()
  return pages.is_ours() or not (var.upstream_status or var.upstream_cache_status)
end

-- direct: nothing stands between the origin's answer and the visitor's (location @direct)
function M.response(list, direct)
  for i = 1, #list do
    local one = list[i]
    local field, value = one.field, one.value
    if of_a_page[field] and is_ours() then
      -- left as it is
    elseif field == "cache-control" and not direct then
      var.edge_cc = value or ""
    elseif value and added[field] then
      header[one.name] = lines_with(header[one.name], value)
    else
      header[one.name] = value
    end
  end
end

return M
