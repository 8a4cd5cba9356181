-- Header fields that decide about caching, read strictly: what is malformed counts as the more careful meaning.
local memo = require "core.memo"
local find, sub, match, gmatch, lower, byte = string.find, string.sub, string.match, string.gmatch, string.lower, string.byte
local floor, tonumber = math.floor, tonumber

local M = {}

-- Lines of one field (nil, a text or a table) → one text, or nil
function M.join(value)
  if type(value) == "table" then return #value > 0 and table.concat(value, ", ") or nil end
  return value
end

-- Members of a comma list; commas inside quotes do not divide.
local function members(text)
  local list, from, at, quoted = {}, 1, 1, false
  while true do
    local c = byte(text, at)
    if c == 34 then
      quoted = not quoted
    elseif c == 92 and quoted then
      at = at + 1
    elseif (c == 44 and not quoted) or not c then
      local member = match(sub(text, from, at - 1), "^%s*(.-)%s*$")
      if member ~= "" then list[#list + 1] = member end
      from = at + 1
      if not c then return list end
    end
    at = at + 1
  end
end

local seconds = { ["max-age"] = true, ["s-maxage"] = true, ["stale-while-revalidate"] = true, ["stale-if-error"] = true }
local seconds_max = 2147483647

local function read_cache_control(text)
  local found = {}
  for _, member in ipairs(members(text)) do
    local _, stop, name = find(member, "^([^=%s\"]+)")
    if name then
      name = lower(name)
      if seconds[name] then
        local rest = sub(member, stop + 1)
        local n = math.min(tonumber(match(rest, "^=(%d+)$") or match(rest, '^="(%d+)"$') or 0), seconds_max)
        found[name] = math.min(found[name] or n, n)
      else
        found[name] = true
      end
    end
  end
  return found
end

local controls, none = memo.new(500), {}

-- Cache-Control (RFC 9111 5.2) → {<directive> = true or seconds}, not to be changed. Seconds that are not `\d+` or `"\d+"` count as 0,
-- of several the least.
function M.cache_control(text)
  if not text then return none end
  local found = memo.get(controls, text)
  if not found then
    found = read_cache_control(text)
    memo.put(controls, text, found)
  end
  return found
end

-- One structured item (RFC 8941) at `at` → value, next; nil when malformed. Only integers and booleans keep their value.
local function item(text, at)
  local rest = sub(text, at)
  local whole = match(rest, "^%-?%d+")
  if whole then
    local decimal = match(rest, "^%-?%d+%.%d+")
    if decimal then
      local _, _, a, b = find(decimal, "^%-?(%d+)%.(%d+)$")
      if #a > 12 or #b > 3 then return nil end
      return "decimal", at + #decimal
    end
    if #whole > 16 or sub(rest, #whole + 1, #whole + 1) == "." then return nil end
    return tonumber(whole), at + #whole
  end
  local flag = match(rest, "^%?([01])")
  if flag then return flag == "1", at + 2 end
  if sub(rest, 1, 1) == '"' then
    local i = 2
    while true do
      local c = byte(rest, i)
      if not c or c < 32 or c > 126 then return nil end
      if c == 34 then return "string", at + i end
      if c == 92 then
        i = i + 1
        local escaped = byte(rest, i)
        if escaped ~= 34 and escaped ~= 92 then return nil end
      end
      i = i + 1
    end
  end
  local token = match(rest, "^[%a*][%w!#$%%&'*+.^_`|~:/-]*") or match(rest, "^:[%w+/=]*:")
  if token then return "token", at + #token end
  return nil
end

local function parameters(text, at)
  while true do
    local _, stop = find(text, "^; *[%l*][%l%d_.*-]*", at)
    if not stop then return at end
    at = stop + 1
    if sub(text, at, at) == "=" then
      local value
      value, at = item(text, at + 1)
      if value == nil then return nil end
    end
  end
end

local function inner_list(text, at)
  at = at + 1
  while true do
    at = find(text, "[^ ]", at)
    if not at then return nil end
    if sub(text, at, at) == ")" then return "list", at + 1 end
    local value
    value, at = item(text, at)
    if value == nil then return nil end
    at = parameters(text, at)
    if not at or not find(text, "^[ )]", at) then return nil end
  end
end

-- CDN-Cache-Control (RFC 9213, a structured dictionary) → like cache_control; nil when there is none or it is malformed (then it
-- counts as absent). A directive of the wrong type is dropped.
function M.targeted(text)
  text = text and match(text, "^ *(.-) *$")
  if not text or text == "" then return nil end
  local found, at = {}, 1
  while true do
    local _, stop, name = find(text, "^([%l*][%l%d_.*-]*)", at)
    if not name then return nil end
    at = stop + 1
    local value = true
    if sub(text, at, at) == "=" then
      if sub(text, at + 1, at + 1) == "(" then value, at = inner_list(text, at + 1) else value, at = item(text, at + 1) end
      if value == nil then return nil end
    end
    at = parameters(text, at)
    if not at then return nil end
    found[name] = nil
    if seconds[name] then
      if type(value) == "number" and value >= 0 then found[name] = math.min(value, seconds_max) end
    elseif value == true then
      found[name] = true
    end
    if at > #text then return found end
    _, stop = find(text, "^[ \t]*,[ \t]*", at)
    if not stop or stop >= #text then return nil end
    at = stop + 1
  end
end

local months = { jan = 1, feb = 2, mar = 3, apr = 4, may = 5, jun = 6, jul = 7, aug = 8, sep = 9, oct = 10, nov = 11, dec = 12 }

-- Days since 1970-01-01 in the proleptic Gregorian calendar
local function days(year, month, day)
  if month <= 2 then year = year - 1 end
  local era = floor(year / 400)
  local of_era = year - era * 400
  local of_year = floor((153 * (month + (month > 2 and -3 or 9)) + 2) / 5) + day - 1
  return era * 146097 + of_era * 365 + floor(of_era / 4) - floor(of_era / 100) + of_year - 719468
end

local function read_date(text, now)
  text = lower(text)
  local day, month, year, h, m, s = match(text, "^%l%l%l, (%d%d) (%l%l%l) (%d%d%d%d) (%d%d):(%d%d):(%d%d) gmt$")
  if not day then
    day, month, year, h, m, s = match(text, "^%l+day, (%d%d)%-(%l%l%l)%-(%d%d) (%d%d):(%d%d):(%d%d) gmt$")
    if day then
      -- More than 50 years ahead means the past century.
      local this = tonumber(os.date("!%Y", now))
      year = floor(this / 100) * 100 + tonumber(year)
      if year > this + 50 then year = year - 100 end
    else
      month, day, h, m, s, year = match(text, "^%l%l%l (%l%l%l) ([ %d]%d) (%d%d):(%d%d):(%d%d) (%d%d%d%d)$")
    end
  end
  month = months[month]
  if not month then return nil end
  day, year, h, m, s = tonumber(day), tonumber(year), tonumber(h), tonumber(m), tonumber(s)
  if day < 1 or day > 31 or h > 23 or m > 59 or s > 60 then return nil end
  return days(year, month, day) * 86400 + h * 3600 + m * 60 + s
end

-- Dates of answers are mostly that of this second. Only those of four digits do not hang on `now`.
local dates = memo.new(500)

-- HTTP-date in one of its three forms (RFC 9110 5.6.7), any letter case → epoch seconds or nil. now: for two-digit years
function M.date(text, now)
  local seconds = memo.get(dates, text)
  if seconds then return seconds end
  seconds = read_date(text, now)
  if seconds and #text == 29 then memo.put(dates, text, seconds) end
  return seconds
end

return M
