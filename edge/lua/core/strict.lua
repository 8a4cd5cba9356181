-- Is a request well-formed? nginx forgives much: it drops header lines with odd names, takes a line without colon for a field, lone
-- line feeds for line ends, ports that are no numbers. What two readers of one request understand differently is how requests are
-- smuggled and caches poisoned, so such a request is refused.
--
-- nginx has parsed the header in place: it put a zero byte after each name and each value and left the rest as it came. So one
-- expression over that memory finds nearly every request good, and the lengths must add up to what was received, which shows what
-- nginx dropped. Everything else is looked at line by line.
local ffi = require "ffi"
local base = require "resty.core.base"
require "resty.core.request"
local core_regex = require "resty.core.regex"
local C, text_of = ffi.C, ffi.string
local clear_header = ngx.req.clear_header
local get_request, var = base.get_request, ngx.var
local find, match, lower, tonumber = string.find, string.match, string.lower, tonumber

local M = {}

local listed = 64
-- Fields with an underscore in their name that a request may have
local odd_max = 32
local list, list_type = ffi.new("ngx_http_lua_ffi_table_elt_t[?]", listed), ffi.typeof "ngx_http_lua_ffi_table_elt_t[?]"
local truncated = ffi.new "int[1]"

-- Lines `name NUL value NUL LF` (the second NUL was a CR); Host of the usual kind. Fields that the front half must look at are left
-- to the closer look, as are names with an underscore and Accept-Encoding in several lines. One User-Agent: rules judge the first,
-- another reader may take the last. One Content-Length of digits, whose group is the last, so that the number of groups tells of it.
local usual = [[\A(?:(?!(?i:host|user-agent|accept-encoding|content-length|transfer-encoding|upgrade|if-modified-since|if-range|range)\x00)[!#$%&'*+.^`|~0-9A-Za-z-]++\x00[\t\x20-\x7e\x80-\xff]*+\x00\n]]
  .. [[|(?i:host)\x00 ?[a-zA-Z0-9._-]++(?::[1-9][0-9]{0,3})?+\x00\n]]
  .. [[|(?(1)(?!))((?i:user-agent))\x00[\t\x20-\x7e\x80-\xff]*+\x00\n]]
  .. [[|(?(2)(?!))((?i:accept-encoding))\x00[\t\x20-\x7e\x80-\xff]*+\x00\n]]
  .. [[|(?(3)(?!))((?i:content-length))\x00 ?[0-9]{1,15}+\x00\n)++\z]]
local with_body = 4

-- → what `matches` takes
function M.compile(expression)
  local compiled, why, flags = core_regex.re_match_compile(expression, "jo")
  if not compiled then error(why) end
  return { compiled = compiled, flags = flags }
end

-- expression: of `compile`; what M.lines gave. → groups that took part, at least 1; below 0: it does not match
local function matches(expression, first, bytes)
  local groups = C.ngx_http_lua_ffi_exec_regex(expression.compiled, expression.flags, first, bytes, 0)
  return groups
end
M.matches = matches

local form

-- Empty: HTTP/1.0 without Host, and names nobody knows anyway.
local function good_host(text)
  if text == "" then return true end
  local port = match(text, "^[%w._-]+:?(%d*)$") or match(text, "^%[[%x:.]+%]:?(%d*)$")
  return port ~= nil and #port <= 5 and (port == "" or (tonumber(port) > 0 and tonumber(port) < 65536))
end

local function good_target(method, target)
  if find(target, "#", 1, true) then return false end
  if target:sub(1, 1) == "/" then return true end
  if target == "*" then return method == "OPTIONS" end
  local scheme, authority = match(target, "^(%a+)://([^/?]*)[/?]?")
  scheme = scheme and lower(scheme)
  return (scheme == "http" or scheme == "https") and authority ~= "" and lower(authority) == lower(var.http_host or authority)
end

-- Bytes of one line as they came, or nil when it is malformed. nginx has written over the first byte behind the value, so of a line
-- with one two forms look alike and pass: CR CR LF as blank CR LF, and blank LF as CR LF. nginx sends neither on.
local function line_bytes(field)
  local key, value = field.key, field.value
  if not find(text_of(key.data, key.len), "^[!#$%%&'*+.^_`|~%w-]+$") then return nil end
  -- Without a colon nginx puts the value where the name ends.
  if value.data == key.data + key.len then return nil end
  if find(text_of(value.data, value.len), "[%z\1-\8\10-\31\127]") then return nil end
  -- Blanks before no value stand before its place.
  if value.len == 0 and value.data[1] ~= 10 then return nil end
  local at, blanks = value.len + 1, 0
  while value.data[at] == 32 do
    at, blanks = at + 1, blanks + 1
  end
  if value.data[at] == 13 then
    at = at + 1
  elseif blanks > 0 then
    return nil
  end
  if value.data[at] ~= 10 then return nil end
  return value.data + at + 1 - key.data
end

local function is(field, name) return field.key.len == #name and lower(text_of(field.key.data, #name)) == name end

local function has_underscore(key)
  for at = 0, tonumber(key.len) - 1 do
    if key.data[at] == 95 then return true end
  end
  return false
end

-- nginx's variables, and many a reader behind, take `_` for `-`, so such a field would stand in another's place. nginx drops them
-- by default; here they must be seen first, as they are part of what was received.
local function without(names)
  for _, name in ipairs(names or {}) do clear_header(name) end
end

-- → true (with the fields that `usual` leaves out, perhaps), or nil; whether Accept-Encoding has several lines
local function closely()
  if not good_host(var.http_host or "") then return nil end
  local r = get_request()
  local n = C.ngx_http_lua_ffi_req_get_headers_count(r, 0, truncated)
  local fields = n > listed and ffi.new(list_type, n) or list
  if n > 0 then C.ngx_http_lua_ffi_req_get_headers(r, fields, n, 1) end
  local agents, encodings, odd = 0, 0, nil
  for i = 0, n - 1 do
    local field = fields[i]
    if is(field, "user-agent") then agents = agents + 1 end
    if is(field, "accept-encoding") then encodings = encodings + 1 end
    if has_underscore(field.key) then
      odd = odd or {}
      odd[#odd + 1] = text_of(field.key.data, field.key.len)
    end
  end
  -- Taking one away is a walk over all.
  if agents > 1 or (odd and #odd > odd_max) then return nil end
  local protocol = var.server_protocol
  -- Framed by nginx, which checks names itself
  if protocol == "HTTP/2.0" or protocol == "HTTP/3.0" then
    if find(var.request_uri, "#", 1, true) then return nil end
    without(odd)
    return true, encodings > 1
  end
  local line = var.request or ""
  local verb, target = match(line, "^(%u[%u_-]*) (%S+) HTTP/1%.[01]$")
  if not verb or not good_target(verb, target) then return nil end
  local bytes = #line + 4
  for i = 0, n - 1 do
    local more = line_bytes(fields[i])
    if not more then return nil end
    bytes = bytes + more
  end
  if bytes ~= tonumber(var.request_length) then return nil end
  without(odd)
  return true, encodings > 1
end

-- All lines of the request's header as nginx left them. verb, uri: ngx.req.get_method() and $request_uri.
-- → where they begin, how many bytes they have; nil where they do not stand in one piece, or not as they came
local function lines(verb, uri)
  local r = get_request()
  local n = C.ngx_http_lua_ffi_req_get_headers_count(r, 0, truncated)
  if n < 1 or n > listed then return nil end
  C.ngx_http_lua_ffi_req_get_headers(r, list, n, 1)
  local first, last = list[0].key.data, list[n - 1].value
  local bytes = last.data + last.len + 2 - first
  -- "GET /uri HTTP/1.1" and two line ends
  if #verb + #uri + bytes + 14 ~= tonumber(var.request_length) then return nil end
  return first, bytes
end
M.lines = lines

-- verb, uri: ngx.req.get_method() and $request_uri. → false: well-formed, without the fields that
-- `usual` leaves out; true: well-formed, and whether Accept-Encoding has several lines; nil: malformed. Fields whose name has an
-- underscore are gone then.
function M.look(verb, uri)
  local first, bytes = lines(verb, uri)
  if not first or find(uri, "#", 1, true) then return closely() end
  form = form or M.compile(usual)
  local groups = matches(form, first, bytes)
  if groups < 0 then return closely() end
  return groups == with_body, false
end

return M
