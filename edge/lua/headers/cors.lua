-- CORS: what pages of other origins may ask of a domain. Preflights are answered here; on everything else the module says what
-- holds, in the place of what the origin server says. It does so behind the cache, so what is stored is the same for everybody.
local memo = require "core.memo"
local ngx = ngx
local var, header = ngx.var, ngx.header
local find, lower, match, sub = string.find, string.lower, string.match, string.sub

local M = {}

local ports = { http = "80", https = "443" }

-- content: contract/src/module/cors.ts. allowOrigin is `*`, one origin, or `https://*.parent` for all hosts below one.
function M.compile(content, report)
  local conf = {
    credentials = content.allowCredentials and "true" or nil,
    methods = #content.allowMethods > 0 and table.concat(content.allowMethods, ", ") or nil,
    headers = #content.allowHeaders > 0 and table.concat(content.allowHeaders, ", ") or nil,
    expose = #content.exposeHeaders > 0 and table.concat(content.exposeHeaders, ", ") or nil,
    max_age = tostring(content.maxAge),
  }
  for _, name in ipairs(content.allowHeaders) do
    -- Browsers take a star for a star where there are cookies, and for Authorization never, so what was asked for is said again.
    if name == "*" then conf.anything = true end
  end
  if content.allowOrigin == "*" then
    conf.everybody = "*"
    if conf.credentials then
      report(0, "cookies for everybody")
      conf.credentials = nil
    end
    return conf
  end
  local scheme, host, port = match(lower(content.allowOrigin), "^(https?)://([^/?#:]+):?(%d*)$")
  if not scheme then
    report(0, "no origin: " .. content.allowOrigin)
    return conf
  end
  port = (port == "" or port == ports[scheme]) and "" or ":" .. port
  if sub(host, 1, 2) == "*." then
    conf.before, conf.behind = scheme .. "://", sub(host, 2) .. port
  else
    conf.origin = scheme .. "://" .. host .. port
  end
  return conf
end

-- Whom to let in → text of Access-Control-Allow-Origin, or nil
local function allowed(conf, origin)
  if conf.everybody then return conf.everybody end
  if not origin then return nil end
  if conf.origin then return origin == conf.origin and origin or nil end
  local before, behind = conf.before, conf.behind
  if not before or sub(origin, 1, #before) ~= before or sub(origin, -#behind) ~= behind then return nil end
  -- what stands for the star: labels of a host, nothing else
  return match(sub(origin, #before + 1, -#behind - 1), "^[%w_.-]+$") and origin or nil
end

-- Vary lines as they stand → with Origin among them
local varies = memo.new(500)

local function with_origin(vary)
  if vary == nil then return "Origin" end
  if type(vary) == "table" then vary = table.concat(vary, ", ") end
  local known = memo.get(varies, vary)
  if known then return known end
  local has = find("," .. lower(vary):gsub("%s", "") .. ",", ",origin,", 1, true) or find(vary, "*", 1, true)
  known = has and vary or vary .. ", Origin"
  memo.put(varies, vary, known)
  return known
end

-- A preflight asks whether another request would be let in. (OPTIONS without these headers is the application's.)
function M.asked() return var.http_origin ~= nil and var.http_access_control_request_method ~= nil end

local function wanted()
  local names = var.http_access_control_request_headers
  return names and #names <= 4096 and not find(names, "[^%w!#$%%&'*+.^_`|~, -]") and names or nil
end

-- What a preflight is told beside `answer`. Whom we do not know is told nothing; the browser compares the rest.
function M.preflight(conf)
  header["Vary"] = "Origin, Access-Control-Request-Method, Access-Control-Request-Headers"
  if not allowed(conf, var.http_origin) then return end
  header["Access-Control-Allow-Methods"] = conf.methods
  header["Access-Control-Allow-Headers"] = conf.anything and (wanted() or "*") or conf.headers
  header["Access-Control-Max-Age"] = conf.max_age
end

-- On every answer to a visitor. origin: the visitor's
function M.answer(conf, origin)
  local who = allowed(conf, origin)
  header["Access-Control-Allow-Origin"] = who
  header["Access-Control-Allow-Credentials"] = who and conf.credentials
  header["Access-Control-Expose-Headers"] = who and conf.expose
  if not conf.everybody then header["Vary"] = with_origin(header["Vary"]) end
end

return M
