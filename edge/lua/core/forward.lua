-- What of a visitor's request reaches the origin, and what of it may shape a stored answer.
--
-- A stored answer is handed to visitors who sent other headers than the one it was made for. So of each header one of these holds:
--   ours     set by us on every request, whatever the visitor sent
--   claims   what only a proxy could vouch for (who the visitor is, what was asked for really), or meant for one hop: never passed on
--   shaping  would make another request of a GET (method overrides, a body's fields): not passed on where the cache takes part
--   plain    what HTTP and browsers send anyway; an origin that heeds one says so in Vary, or it could not stand behind any cache
--   custom   everything else, known to the application alone: passed on, but the answer is stored only if Vary names all of them
-- A header nobody has thought of is custom: the worst it can do is to cost its sender the cache. Where a rule stores whatever comes
-- (forceCache), custom headers are passed on only once an answer of the host has named them in Vary.
local memo = require "core.memo"
local strict = require "core.strict"
local ngx = ngx
local var = ngx.var
local find, lower, match = string.find, string.lower, string.match
local get_headers, clear_header, method = ngx.req.get_headers, ngx.req.clear_header, ngx.req.get_method

local M = {}

local function set(text)
  local names = {}
  for name in text:gmatch "%S+" do names[name] = true end
  return names
end

local ours = set [[host x-forwarded-for x-forwarded-proto x-forwarded-host x-real-ip x-request-id cdn-loop connection upgrade
  content-length transfer-encoding x-edge-key x-edge-cs x-edge-connection x-edge-port x-edge-part]]

-- Where the cache takes part nginx keeps these to itself, but for parts that are not waited for (front.is_far). Those are not stored.
local parts = set [[range if-range]]

local claims = set [[forwarded x-forwarded x-host x-host-override x-http-host-override x-url-scheme x-scheme front-end-https https
  true-client-ip client-ip x-client-ip x-cluster-client-ip x-remote-addr x-remote-ip x-remote-user x-originating-ip
  x-client-cert x-client-dn x-client-verify x-wap-profile proxy
  proxy-authorization proxy-connection keep-alive te trailer expect http2-settings max-forwards]]
local claim_families = set [[x-forwarded- x-original- x-rewrite- x-edge- x-accel- x-azure- x-envoy- x-proxyuser- x-akamai- x-appengine- x-arr-
  x-ssl- ssl- cf- fastly- akamai- cloudfront-]]

local shaping = set [[x-http-method-override x-http-method x-method-override via]]
local shaping_families = set [[content-]]

local plain = set [[accept accept-charset accept-encoding accept-language authorization cookie user-agent referer origin
  cache-control pragma if-modified-since if-none-match dnt save-data upgrade-insecure-requests priority purpose x-purpose x-moz
  device-memory dpr width viewport-width downlink ect rtt from alt-used early-data last-event-id service-worker
  service-worker-navigation-preload available-dictionary x-playback-session-id icy-metadata
  traceparent tracestate baggage sentry-trace b3 x-amzn-trace-id x-cloud-trace-context]]
local plain_families = set [[sec- x-b3-]]

local function family(name) return match(name, "^x%-%w+%-") or match(name, "^%w+%-") or "" end

-- Android's WebView names its app in X-Requested-With, whatever it asks for. Nothing but "XMLHttpRequest" is meant for an application.
local function app(value) return type(value) == "string" and match(value, "^%a[%w_]*%.[%w_.]+$") ~= nil end

-- name: lower case; value: text, or lines → "ours", "claims", "shaping", "plain" or "custom"
local function kind(name, value)
  if plain[name] then return "plain" end
  if ours[name] or parts[name] then return "ours" end
  local of = family(name)
  if claims[name] or claim_families[of] then return "claims" end
  if shaping[name] or shaping_families[of] then return "shaping" end
  if plain_families[of] then return "plain" end
  if name == "x-requested-with" and app(value) then return "shaping" end
  return "custom"
end

-- Names as they came → {field, kind, odd}; not of one whose kind hangs on its value
local names = memo.new(2000)

local function name_of(name, value)
  local found = memo.get(names, name)
  if found then return found end
  local field = lower(name)
  found = { field = field, kind = kind(field, value), odd = find(field, "[^%w-]") ~= nil }
  if field ~= "x-requested-with" then memo.put(names, name, found) end
  return found
end

-- Nearly every request has fields alone of which nothing has to be taken away and nothing is custom; one expression over its header
-- finds that out. Where the cache has no part, what is wanted of an answer and what describes a body goes on as well.
local function all_of(names, more)
  local list = {}
  for name in pairs(names) do list[#list + 1] = name end
  for name in pairs(ours) do list[#list + 1] = name end
  for name in pairs(parts) do list[#list + 1] = name end
  table.sort(list)
  return [[\A(?:(?i:]] .. table.concat(list, "|") .. more .. [[)\x00[^\x00]*+\x00\n)++\z]]
end
local usual, usual_past

local function compile()
  usual = strict.compile(all_of(plain, "|sec-[a-z0-9-]*+|x-b3-[a-z0-9-]*+"))
  local past = all_of(plain, "|sec-[a-z0-9-]*+|x-b3-[a-z0-9-]*+|content-[a-z0-9-]++|if-match|if-unmodified-since")
  usual_past = strict.compile(past)
end

-- Before any field of the request was changed. cached: the cache takes part in it. → there is nothing for `prepare` to do as far as
-- the fields go (what Connection names is another matter), and where the cache takes part, nothing custom among them
function M.usual(cached)
  local first, bytes = strict.lines(method(), var.request_uri)
  if not first then return false end
  if not usual then compile() end
  return strict.matches(cached and usual or usual_past, first, bytes) > 0
end

-- Connection says no more than this in nearly every message.
M.quiet = { ["keep-alive"] = true, ["Keep-Alive"] = true, close = true, [""] = true }

-- What an answer's Connection may name in vain: the cache and the framing need the first two, nginx says the others itself.
local not_of_hop = { ["cache-control"] = true, date = true, close = true, ["keep-alive"] = true, upgrade = true }

-- RFC 9110 7.6.1: fields of an answer that are meant for this hop alone. connection: its lines, joined; drop(name, name in lower case)
function M.hop_only(connection, drop)
  for name in connection:gmatch "[^%s,]+" do
    local field = lower(name)
    if not not_of_hop[field] then drop(name, field) end
  end
end

-- Before anything is sent. cached: the cache takes part in this request; forced: nil, or where a rule stores
-- whatever comes, the custom headers (" one two ") that the host's answers are known to vary by; connection: in the front half, the
-- visitor's Connection. There odd names, which nginx drops on the way to the back half, are still among the fields.
function M.prepare(cached, forced, connection)
  for name, value in pairs(get_headers(0, true)) do
    local known = name_of(name, value)
    local field, of = known.field, known.kind
    if connection and known.odd then
      clear_header(name)
    elseif of == "claims" or (cached and of == "shaping") then
      clear_header(name)
    elseif forced and of == "custom" and not find(forced, " " .. field .. " ", 1, true) then
      clear_header(name)
    end
  end
  -- RFC 9110 7.6.1. What is ours was set after the visitor spoke.
  local named = connection or var.hop_named
  if not named or M.quiet[named] then return end
  for name in named:gmatch "[^%s,]+" do
    if not ours[lower(name)] then clear_header(name) end
  end
end

local none = {}

-- Has the visitor sent something that is not part of what the cache knows to keep apart? fixed: fields that the origin is told the
-- same whoever asks (headers/custom.lua), or nil
function M.custom(fixed)
  fixed = fixed or none
  for name, value in pairs(get_headers(0, true)) do
    local field = lower(name)
    if not fixed[field] and kind(field, value) == "custom" then return true end
  end
  return false
end

-- Set by us and the same for every visitor of a URL
local fixed = set [[host x-forwarded-proto x-forwarded-host]]

local function named_in(vary) return set((lower(vary):gsub(",", " "))) end

-- vary: the answer's, lines joined. nginx keeps variants apart by what the visitor sent, not by what we set in its place.
function M.varies_by_ours(vary)
  for name in pairs(named_in(vary)) do
    if parts[name] or (ours[name] and not fixed[name]) then return true end
  end
  return false
end

-- vary: the answer's, lines joined, or nil. → whether each custom header of the request is named in it, and what is named reached
-- the origin: the answer to a field that Connection took away would be kept as the one to that field. fixed: see `custom`
function M.keyed(vary, fixed)
  fixed = fixed or none
  local named = vary and named_in(vary)
  if named then
    for name in var.hop_named:gmatch "[^%s,]+" do
      if named[lower(name)] then return false end
    end
  end
  for name, value in pairs(get_headers(0, true)) do
    local field = lower(name)
    if not fixed[field] and kind(field, value) == "custom" then
      if not (named and named[field]) then return false end
    end
  end
  return true
end

-- → known with the custom headers that vary names besides, or nil when there are none
function M.more_forced(known, vary)
  local more
  for name in pairs(named_in(vary)) do
    if kind(name) == "custom" and #name <= 64 and not find(known, " " .. name .. " ", 1, true) then
      more = (more or known) .. name .. " "
    end
  end
  return more
end

-- An answer that lets in the very origin the request came from, without saying that it looked: it is for that origin alone.
function M.reflects_origin(allowed, vary)
  local origin = var.http_origin
  if not origin or allowed ~= origin then return false end
  return not (vary and named_in(vary).origin)
end

return M
