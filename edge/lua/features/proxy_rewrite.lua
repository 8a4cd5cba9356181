-- Rewrites: under which URI the origin is asked. It happens on the way to the origin, so visitors, the cache, cache rules and purges go by
-- the URL that was asked for. The first rule that matches counts; without one the request goes on as it came.
--
-- Rules look at the path as protections do, decoded and without dot segments, and what is left of it is encoded anew. What is left may
-- begin within a segment (`^/u-(.*)$` of `/u-../x`), so dot segments are looked for again in what was made: whoever would climb out of
-- the folder that a rule keeps them in is refused.
local problems = require "core.problems"
local regex = require "core.regex"
local ngx = ngx
local var = ngx.var
local find, format, gmatch, gsub, match = string.find, string.format, string.gmatch, string.gsub, string.match
local sub, byte = string.sub, string.byte

local M = {}

local slash = 47

-- `/a/$1?q=$2` → pieces: texts, numbers of captures, those behind the question mark as -1, -2 …
local function pieces(target)
  local list, at, asked = {}, 1, false
  while at <= #target do
    local from, to, number = find(target, "%$(%d)", at)
    local text = sub(target, at, (from or #target + 1) - 1)
    if text ~= "" then list[#list + 1] = text end
    if find(text, "?", 1, true) then asked = true end
    if not from then break end
    if number ~= "0" then list[#list + 1] = (asked and -1 or 1) * tonumber(number) end
    at = to + 1
  end
  return list
end

local function decode(text)
  return (gsub(text, "%%(%x%x)", function(code) return string.char(tonumber(code, 16)) end))
end

-- Has the path dot segments? Some origins take a backslash for a slash, and what stands behind a semicolon for no part of the segment.
local function climbs(uri)
  local path = decode(match(uri, "^[^?]*"))
  if not find(path, "[/\\]%.%.?") then return false end
  for segment in gmatch(path, "[^/\\]+") do
    if find(segment, "^%.%.?$") or find(segment, "^%.%.?;") then return true end
  end
  return false
end

-- A path as `$uri` has it: decoded, without double slashes
local function as_asked(source) return (gsub(decode(source), "/+", "/")) end

-- content: contract/src/module/proxy-rewrites.ts. report(place, why) names what had to be left out.
function M.compile(content, report)
  local rules = {}
  for place, row in ipairs(content.rules) do
    local type, source, target = row.matchType, row.source, row.target
    local why
    if sub(target, 1, 1) ~= "/" or find(target, "[^!-~]") or find(target, "#", 1, true) or climbs(target) then
      why = "no target: " .. target
    elseif type ~= "exact" and type ~= "prefix" and type ~= "advanced" then
      why = "no such match: " .. tostring(type)
    end
    if why then
      report(place, why)
    else
      -- One that does not compile stays in its place and refuses what comes to it: left as it was the URL would leave its folder.
      local broken = type == "advanced" and regex.fault(source)
      if broken then report(place, broken) end
      local rule = { type = type, source = source, target = target, asks = find(target, "?", 1, true) ~= nil }
      if type == "advanced" then rule.pieces = pieces(target) else rule.source = as_asked(source) end
      rules[#rules + 1] = rule
    end
  end
  return rules
end

local function hex(sign) return format("%%%02X", byte(sign)) end
local function in_path(text) return (gsub(text, "[^%w%-._~!$&'()*+,;=:@/]", hex)) end
local function in_query(text) return (gsub(text, "[^%w%-._~]", hex)) end

local function filled(rule, found)
  local made = {}
  for i, piece in ipairs(rule.pieces) do
    if type(piece) == "string" then
      made[i] = piece
    else
      local text = found[piece < 0 and -piece or piece] or ""
      made[i] = piece < 0 and in_query(text) or in_path(text)
    end
  end
  return table.concat(made)
end

-- What stands behind a prefix, which ends where a segment does: /a is /a and /a/b, not /about. → text or nil
local function behind(path, prefix)
  if sub(path, 1, #prefix) ~= prefix then return nil end
  local rest = sub(path, #prefix + 1)
  if rest == "" or byte(prefix, -1) == slash or byte(rest) == slash then return rest end
  return nil
end

-- One slash where a folder and what is in it meet
local function join(folder, rest)
  if byte(folder, -1) == slash and byte(rest) == slash then return folder .. sub(rest, 2) end
  return folder .. rest
end

-- → target; nil: the rule does not match; nil and why: nobody knows. Behind a question mark of the target what is left of a path is part of the query.
local function applied(rule, path)
  if rule.type == "exact" then return path == rule.source and rule.target or nil end
  if rule.type == "prefix" then
    local rest = behind(path, rule.source)
    if not rest then return nil end
    if rule.asks then return rule.target .. in_query(rest) end
    return join(rule.target, in_path(rest))
  end
  local found, why = regex.match(path, rule.source)
  return found and filled(rule, found) or nil, why
end

-- Tells the origin's side of this request its URI. The visitor's query stays, behind that of the target. → nil, or the status with which
-- it is refused: a path that climbs out of where a rule puts it, or one of which nobody knows where it belongs
function M.apply(rules)
  local path = var.uri
  regex.begin(rules.site)
  for i = 1, #rules do
    local rule = rules[i]
    local uri, why = applied(rule, path)
    if why then
      problems.note("expression", rules.name .. ": " .. why)
      return 503
    end
    if uri then
      -- Several slashes would name a host to whoever reads the line as an address.
      uri = gsub(uri, "^/+", "/")
      if climbs(uri) then return 400 end
      local query = var.args
      if query and query ~= "" then uri = uri .. (rule.asks and "&" or "?") .. query end
      var.edge_uri = uri
      return nil
    end
  end
  return nil
end

return M
