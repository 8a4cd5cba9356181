-- What rules may ask of a request. A quantity is an nginx variable, seen from one side: the whole of it, one cookie in it, the country
-- of the address. Rules see nothing else, so a verdict is known once the variables are, whatever else the request holds.
--
--   ip, country, asn    address; where it lies (core/places.lua)      host, scheme, protocol, method
--   agent, header.NAME  User-Agent; any header                        cookie.NAME
--   path                decoded, without dot segments                 args, arg.NAME   raw; decoded
--   url                 path?query, the path decoded; where it may be read in several ways (core/paths.lua), each with and without query
--   literal             the path with its slashes as they came, the rest decoded; empty where it has dot segments or worse
-- What is absent is the empty text. Of a cookie or an argument that comes several times each value counts; a header that rules ask for
-- and that comes several times is refused (`once`), as nginx shows only the first.
local ips = require "core.ips"
local paths = require "core.paths"
local places = require "core.places"
local ngx = ngx
local var, unescape = ngx.var, ngx.unescape_uri
local find, gmatch, gsub, lower, match, sub = string.find, string.gmatch, string.gsub, string.lower, string.match, string.sub

local M = {}

local whole = {
  ip = "remote_addr", host = "host", scheme = "scheme", protocol = "server_protocol", method = "request_method",
  agent = "http_user_agent", path = "uri", args = "args",
}
-- nginx joins their lines, or core/strict.lua lets one pass only.
local single = { http_user_agent = true, http_cookie = true }

-- Address as core/ips.lua compares it
function M.address(text) return ips.bytes(text) or "\0\0\0\0" end

local function country(text) return places.country(M.address(text)) end
local function asn(text) return places.asn(M.address(text)) end

-- Both regexes of a URL see the path as nginx routes it, and as an origin may.
local function url(uri)
  local path, query = var.uri, var.args
  local behind = query and query ~= "" and "?" .. query or ""
  if not paths.kind(uri) then return path .. behind end
  local list = {}
  for _, reading in ipairs(paths.readings(uri, path)) do
    list[#list + 1] = reading
    if behind ~= "" then list[#list + 1] = reading .. behind end
  end
  return list
end

-- For who is exempt: a path counts where it does so however it is read.
local function literal(uri)
  local kind = paths.kind(uri)
  if not kind then return var.uri end
  return kind == "split" and paths.literal(uri) or ""
end

-- → a value, or a list of several
local function only(list) return #list > 1 and list or list[1] or "" end

local function cookie(name)
  return function(text)
    local list = {}
    for part in gmatch(text, "[^;]+") do
      local key, value = match(part, "^%s*([^=]-)%s*=%s*(.-)%s*$")
      if key == name then list[#list + 1] = value end
    end
    return only(list)
  end
end

local function argument(name)
  return function(text)
    local list = {}
    for part in gmatch(text, "[^&]+") do
      local at = find(part, "=", 1, true) or #part + 1
      if unescape(sub(part, 1, at - 1)) == name then list[#list + 1] = unescape(sub(part, at + 1)) end
    end
    return only(list)
  end
end

-- → {variable, side, see = function(value) → text, list of texts, or nil: unknown; without see: the value itself; once}
function M.of(name)
  if whole[name] then return { variable = whole[name], side = "" } end
  if name == "url" then return { variable = "request_uri", side = name, see = url } end
  if name == "literal" then return { variable = "request_uri", side = name, see = literal } end
  if name == "country" then return { variable = "remote_addr", side = name, see = country } end
  if name == "asn" then return { variable = "remote_addr", side = name, see = asn } end
  local kind, rest = match(name, "^(%l+)%.(.+)$")
  if kind == "cookie" then return { variable = "http_cookie", side = name, see = cookie(rest) } end
  if kind == "arg" then return { variable = "args", side = name, see = argument(rest) } end
  if kind == "header" and match(rest, "^[%w_-]+$") then
    local variable = "http_" .. gsub(lower(rest), "-", "_")
    -- HTTP/3 has no such line (nginx.conf).
    if variable == "http_host" then return { variable = "edge_named", side = "" } end
    return { variable = variable, side = "", once = not single[variable] and sub(variable, 6) or nil }
  end
  error("no such quantity: " .. tostring(name))
end

return M
