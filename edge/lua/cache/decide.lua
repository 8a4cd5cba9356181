-- May this answer of the origin be stored, and for how long? RFC 9111, with the safe side wherever it leaves a choice: no
-- guessing of lifetimes, no storing of cookies.
--
-- Cache rules: `followOrigin` lets the origin decide and gives the lifetime where it says nothing. `forceCache` sets the lifetime
-- whatever Cache-Control, Expires and Pragma say (no-store, private and no-cache too: the operator vouches for these URLs), for
-- answers that are whole and good; never for requests with Authorization, answers with Set-Cookie or `Vary: *`.
local fields = require "cache.fields"
local join, date, match, tonumber, min, max = fields.join, fields.date, string.match, tonumber, math.min, math.max

local M = {}

local year = 31536000
-- Answers whose meaning does not change with time, so that a rule may give them a lifetime (RFC 9110 15.1)
local lasting = { [200] = true, [203] = true, [300] = true, [301] = true, [308] = true, [404] = true, [410] = true, [204] = true }
local forced = { [200] = true, [203] = true, [300] = true, [301] = true, [302] = true, [307] = true, [308] = true, [404] = true, [410] = true }
-- A rule's lifetime is meant for the thing, not for its absence.
local absent_max = 60
-- For `must-understand`: what we know the caching rules of
local understood = {}
for status in ("200 203 204 300 301 302 303 304 307 308 400 401 403 404 405 410 414 451 500 501 502 503 504"):gmatch "%d+" do
  understood[tonumber(status)] = true
end
-- How long an expired answer helps out while the origin fails, where it says nothing of its own
local on_error_default = 600

-- Worth storing though it has to be asked for again each time
local function validated(status, header) return status == 304 or (status == 200 and (header "ETag" or header "Last-Modified") ~= nil) end

local function ruled(rule, status)
  return (status == 404 or status == 410) and min(rule.ttl, absent_max) or rule.ttl
end

-- q: {status, header = function(name) → text, lines or nil, authorization, rule (or nil), cookies (may they be stored?), now, took
-- (whole seconds the origin needed), held (of a relay's answer: seconds since it came, or was as old as it said; nil: the origin's), part (a relay keeps parts
-- of large objects, each under a key of its own)} → d:
--   d.store false: not at all | d.ttl > 0: seconds it is fresh | d.ttl 0: stored, but asked for again each time (it has a validator)
--   d.age seconds old on arrival; d.reuse, d.on_error seconds it may be served when stale: while a fresh one is fetched, and
--   when that fails; d.spoken: the answer said something of its lifetime
function M.decide(q)
  local header, status, rule = q.header, q.status, q.rule
  local vary = join(header "Vary")
  local refused = (status == 206 and not q.part) or status < 200 or (vary and vary:find("*", 1, true)) or (header "Set-Cookie" and not q.cookies)

  if rule and rule.force then
    if refused or q.authorization or not (forced[status] or status == 304) then return { store = false } end
    local held = q.held or 0
    local ttl = max(ruled(rule, status) - held, 0)
    return { store = ttl > 0 or validated(status, header), ttl = ttl, age = held, reuse = 0, on_error = on_error_default, spoken = true }
  end

  local cc = fields.cache_control(join(header "Cache-Control"))
  local targeted = header "CDN-Cache-Control"
  targeted = targeted and fields.targeted(join(targeted))
  if targeted then cc = targeted end

  if refused or cc.private then return { store = false } end
  if cc["no-store"] and not (cc["must-understand"] and understood[status]) then return { store = false } end
  if cc["must-understand"] and not understood[status] then return { store = false } end
  -- RFC 9111 3.5
  if q.authorization and not (cc.public or cc["must-revalidate"] or cc["s-maxage"]) then return { store = false } end

  local now = q.now
  local sent = header "Date"
  sent = type(sent) == "string" and date(sent, now) or now
  local age = join(header "Age")
  age = age and tonumber(match(age, "^%s*(%d+)%s*$") or match(age, "^%s*(%d+)%s*,")) or 0
  age = age + q.took
  -- A relay has compared the date with its clock: ours may be another.
  if not q.held then age = max(now - sent, age) end
  age = min(age, year)

  local life
  if cc["s-maxage"] then
    life = cc["s-maxage"]
  elseif cc["max-age"] then
    life = cc["max-age"]
  elseif not targeted then
    local expires = header "Expires"
    if type(expires) == "table" then
      life = #expires == 1 and (date(expires[1], now) or now) - sent or 0
    elseif expires then
      life = (date(expires, now) or 0) - sent
    end
  end
  local spoken = life ~= nil or cc["no-cache"]
  if cc["no-cache"] then life = 0 end
  if not life and rule and lasting[status] then life, age = ruled(rule, status), q.held or 0 end

  local ttl = min((life or 0) - age, year)
  local strict = cc["must-revalidate"] or cc["proxy-revalidate"] or cc["no-cache"] or cc["s-maxage"]
  local d = {
    store = true,
    ttl = ttl,
    age = age,
    reuse = strict and 0 or cc["stale-while-revalidate"] or 0,
    on_error = strict and 0 or cc["stale-if-error"] or on_error_default,
    spoken = spoken or rule ~= nil,
  }
  if ttl <= 0 then
    d.ttl = 0
    d.store = validated(status, header)
  end
  return d
end

return M
