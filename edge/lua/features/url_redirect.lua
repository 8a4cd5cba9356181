-- URL redirects: exact ones first, then the longest prefix, then expressions in the order they were made. Compiled once per module and
-- worker; however many there are, a request costs two look-ups for exact ones, and two for each of its segments for prefixes.
-- contract/src/module/redirect-table.ts takes the same steps for the console: what is changed here is changed there.
local problems = require "core.problems"
local regex = require "core.regex"
local ngx = ngx
local var = ngx.var
local byte, find, format, gmatch, gsub, lower = string.byte, string.find, string.format, string.gmatch, string.gsub, string.lower
local match, sub = string.match, string.sub

local M = {}

-- Steps from one redirect to the next that are followed before it counts as endless
local steps_max = 10
-- Bytes of a location, the visitor's query in it: what is longer nobody is sent to
local location_max = 8192
local slash = 47

local function escape(text, outside)
  return (gsub(text, outside, function(sign) return format("%%%02X", byte(sign)) end))
end

local function decode(text)
  return (gsub(text, "%%(%x%x)", function(hex) return string.char(tonumber(hex, 16)) end))
end

-- What may not stand in a header or an address as it is
local unsafe = '[^!-~]'
local unsafe_too = '["<>\\^`{|}]'
local outside_path = "[^%w_.~!$&'()*+,;=:@/-]"
local outside_query = "[^%w_.~!'()*,;:@/-]"
local outside_path_kept = "[^%w_.~!$&'()*+,;=:@/%%-]"
local outside_query_kept = "[^%w_.~!'()*,;:@/%%-]"

local function safe(text) return escape(escape(text, unsafe), unsafe_too) end
-- A percent sign that begins no escape
local function lone(text)
  return (gsub(text, "()%%", function(at)
    if not find(text, "^%x%x", at + 1) then return "%25" end
  end))
end

local function split(target)
  target = safe(target)
  local base, query, fragment = match(target, "^([^?#]*)(%??[^#]*)(#?.*)$")
  if find(lower(base), "^https?://[^/]*$") then base = base .. "/" end
  return base, query, fragment
end

-- content: contract/src/edge/modules/urlRedirect.ts. → what `find` reads, or nil: it redirects nothing
function M.compile(content, report)
  local conf = { exact = {}, prefixes = {}, depth = 0, length = 0, expressions = {}, asked = false, any = false }
  for _, row in ipairs(content.redirects or {}) do
    local redirect = { id = row.id, status = row.status, keep = row.query, reason = "redirect:" .. row.id }
    redirect.base, redirect.query, redirect.fragment = split(row.target)
    local source = row.source
    if row.match == "exact" then
      local path, args = match(source, "^([^?]*)(.*)$")
      conf.exact[decode(path) .. args] = redirect
      if args ~= "" then conf.asked = true end
    elseif row.match == "prefix" then
      local path = decode(source)
      conf.prefixes[path] = redirect
      local _, depth = gsub(path, "/", "")
      if depth > conf.depth then conf.depth = depth end
      if #path > conf.length then conf.length = #path end
    else
      local why = regex.fault(source)
      if why then
        report(row.id, why)
        redirect = nil
      else
        redirect.expression = source
        -- What a path must begin with; alternatives and quantifiers end it, and then nothing is known.
        -- \E and \Q are no signs, and what stands behind them may still mean the one before
        local literal = not find(source, "|", 1, true) and not find(source, "\\[EQ]") and match(source, "^%^([%w/_-]*)")
        if literal and find(source, "^[*+?{]", #literal + 2) then literal = sub(literal, 1, -2) end
        redirect.literal = literal or ""
        conf.expressions[#conf.expressions + 1] = redirect
      end
    end
    conf.any = conf.any or redirect ~= nil
  end
  return conf
end

local function join(base, rest)
  if rest == "" then return base end
  local starts = byte(rest) == slash
  if byte(base, -1) == slash then return base .. (starts and sub(rest, 2) or rest) end
  return starts and base .. rest or base .. "/" .. rest
end

-- → text, or nil: it would be too long. It is counted before it is made: a target names a group as often as it likes.
local function fill(template, groups, outside, raw)
  if not find(template, "$", 1, true) then return template end
  local texts, length = {}, 0
  for n in gmatch(template, "%$(%d)") do
    if not texts[n] then
      -- a group that took no part is false
      local text = groups[tonumber(n)] or ""
      texts[n] = escape(raw and lone(text) or text, outside)
    end
    length = length + #texts[n]
    if length > location_max then return nil end
  end
  return (gsub(template, "%$(%d)", texts))
end

-- → location, or nil: it would be too long
local function build(redirect, args, rest, groups, raw)
  local base, query, fragment = redirect.base, redirect.query, redirect.fragment
  if rest then base = join(base, escape(rest, outside_path)) end
  if groups then
    base = fill(base, groups, raw and outside_path_kept or outside_path, raw)
    query = fill(query, groups, raw and outside_query_kept or outside_query, raw)
    fragment = fill(fragment, groups, outside_path)
    if not (base and query and fragment) then return nil end
  end
  if redirect.keep and args ~= "" then query = query .. (query ~= "" and "&" or "?") .. safe(args) end
  -- Two slashes would lead to another host.
  if byte(base) == slash then base = gsub(base, "^/+", "/") end
  if #base + #query + #fragment > location_max then return nil end
  return base .. query .. fragment
end

local function longest(conf, path)
  local prefixes, depth, length, ends, n = conf.prefixes, conf.depth, conf.length, 0, 0
  -- no prefix has more slashes than the deepest: what stands behind is not looked at
  local whole = true
  for _ = 1, depth + 1 do
    local at = find(path, "/", ends + 1, true)
    if not at then break end
    n, ends = n + 1, at
    if n > depth then whole = false end
  end
  if whole and #path <= length then
    local redirect = prefixes[path]
    if redirect then return redirect, "" end
  end
  local at = ends
  while at > 0 do
    if n <= depth and at <= length then
      local redirect = prefixes[sub(path, 1, at)]
      if redirect then return redirect, sub(path, at + 1) end
    end
    local redirect = at > 1 and at <= length + 1 and prefixes[sub(path, 1, at - 1)]
    if redirect then return redirect, sub(path, at) end
    n = n - 1
    repeat at = at - 1 until at == 0 or byte(path, at) == slash
  end
end

-- → redirect, location; redirect, nil: the location would be too long; nil: none is met; nil, nil, why: nobody knows
local function meet(conf, path, args)
  local redirect = conf.asked and args ~= "" and conf.exact[path .. "?" .. args] or conf.exact[path]
  if redirect then return redirect, build(redirect, args) end
  if conf.depth > 0 then
    local rest
    redirect, rest = longest(conf, path)
    if redirect then return redirect, build(redirect, args, rest) end
  end
  local expressions = conf.expressions
  for i = 1, #expressions do
    redirect = expressions[i]
    local literal = redirect.literal
    if sub(path, 1, #literal) == literal then
      local groups, why = regex.match(path, redirect.expression)
      if groups then return redirect, build(redirect, args, nil, groups) end
      if not why and args ~= "" then groups, why = regex.match(path .. "?" .. args, redirect.expression) end
      if groups then return redirect, build(redirect, args, nil, groups, true) end
      if why then return nil, nil, why end
    end
  end
end

-- As nginx has $uri
local function normal(raw)
  local kept = {}
  local path = gsub(decode(raw), "/+", "/")
  local last
  for segment in path:gmatch "/([^/]*)" do
    last = segment
    if segment == ".." then kept[#kept] = nil
    elseif segment ~= "." then kept[#kept + 1] = segment end
  end
  if last == "." or last == ".." then kept[#kept + 1] = "" end
  return "/" .. table.concat(kept, "/")
end

local function without_port(authority, scheme)
  return (gsub(lower(authority), scheme == "https" and ":443$" or ":80$", ""))
end
local function host_of(authority) return (gsub(authority, ":%d*$", "")) end

-- → scheme, authority, path, args
local function resolve(location, scheme, authority)
  location = gsub(location, "#.*$", "")
  local named, other, rest = match(location, "^(%a+)://([^/?]*)(.*)$")
  if named then
    scheme = lower(named)
    authority, location = without_port(other, scheme), rest
  end
  local path, args = match(location, "^([^?]*)%??(.*)$")
  return scheme, authority, normal(path == "" and "/" or path), args
end

-- Whether following the redirects of this module never ends, or leads back at once, or to ever longer addresses: then nobody is sent on
-- the way. From a place of which nobody ever knows, it does not go on: no visitor is sent on from there. Where the time is used up it may. → true
-- or false
local function endless(conf, location, path, args, scheme, authority)
  authority = without_port(authority, scheme)
  local host = host_of(authority)
  for step = 0, steps_max do
    local next_scheme, next_authority, next_path, next_args = resolve(location, scheme, authority)
    if host_of(next_authority) ~= host then return false end
    if next_path == path and next_args == args and next_scheme == scheme and next_authority == authority then return step == 0 end
    scheme, authority, path, args = next_scheme, next_authority, next_path, next_args
    local redirect, why
    redirect, location, why = meet(conf, path, args)
    if why == regex.spent then return true, why end
    if not redirect then return false end
    if not location then return true end
  end
  return true
end

-- path: as $uri; authority: Host as it came. → redirect {status, reason}, location; nil: this URL goes on
function M.decide(conf, path, args, scheme, authority)
  if conf.expressions[1] then regex.begin(conf.site) end
  local redirect, location, why = meet(conf, path, args)
  local is_endless = false
  if location then is_endless, why = endless(conf, location, path, args, scheme, authority) end
  if why then problems.note("expression", tostring(conf.name) .. ": " .. why) end
  if not location or is_endless then return nil end
  return redirect, location
end

function M.find(conf)
  if not conf.any then return nil end
  return M.decide(conf, var.uri, var.args or "", var.scheme, var.http_host or var.host)
end

return M
