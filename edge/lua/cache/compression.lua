-- Compression of what visitors are sent: made once, where the answer comes in from the origin. The cache keeps what was made, a variant
-- for each encoding, so a hit costs nothing. nginx's filters do the work, gzip's and brotli's; they are on wherever an origin is asked,
-- for whoever accepts them, and what shall not be compressed is spared by taking Accept-Encoding from the request before they look.
local encodings = require "cache.encodings"
local fields = require "cache.fields"
local memo = require "core.memo"
local ngx = ngx
local var, header = ngx.var, ngx.header
local find, lower, match = string.find, string.lower, string.match

local M = {}

-- What a site has that says nothing of it; also that of locations of nginx.conf whose name has no level and which compress at all
M.usual_level = 5

local brotli = false
-- has: whether nginx has the brotli filter
function M.setup(has) brotli = has end

-- setting: `gzip` of the site's document, or nil. → conf, or nil where nothing is compressed
function M.compile(setting)
  if type(setting) ~= "table" or setting.enabled ~= true then return nil end
  local conf = { least = tonumber(setting.minLength) or 0, exact = {}, families = {} }
  local level = tonumber(setting.level)
  conf.level = level and level >= 1 and level <= 9 and level - level % 1 or M.usual_level
  for _, kind in ipairs(setting.types or {}) do
    local family = match(lower(kind), "^(.+)/%*$")
    if family then conf.families[family] = true else conf.exact[lower(kind)] = true end
  end
  return conf
end

local bare = memo.new(500)

-- "Text/HTML; charset=utf-8" → "text/html"
local function media_type(text)
  local found = memo.get(bare, text)
  if not found then
    found = lower(match(text, "^%s*([^;%s]*)"))
    memo.put(bare, text, found)
  end
  return found
end

-- As nginx's filters have it
local whole = { [200] = true, [403] = true, [404] = true }
-- Say what the bytes are, so they would be wrong of others.
local digests = { "Content-MD5", "Content-Digest", "Repr-Digest", "Digest" }
-- nginx keeps variants apart by so much of Vary; an answer with more is not stored (docs/handbook/edge-requests.md).
local vary_max = 128

local function listed(conf, kind)
  if type(kind) ~= "string" then return false end
  kind = media_type(kind)
  -- Each event is to arrive when it is sent.
  if kind == "text/event-stream" then return false end
  return conf.exact[kind] or conf.families[match(kind, "^[^/]*")] or false
end

-- cc: the answer's Cache-Control, all lines, or nil. Whether this visitor accepts it does not matter here.
local function may(conf, cc)
  if not whole[ngx.status] or not listed(conf, header["Content-Type"]) or header["Content-Encoding"] then return false end
  local length = tonumber(header["Content-Length"])
  if length and (length == 0 or length < conf.least) then return false end
  if cc and find(lower(cc), "no-transform", 1, true) then return false end
  local targeted = fields.join(header["CDN-Cache-Control"])
  if targeted and find(lower(targeted), "no-transform", 1, true) then return false end
  if var.upstream_http_x_accel_buffering == "no" then return false end
  for i = 1, #digests do
    if header[digests[i]] then return false end
  end
  return true
end

-- → Vary that names Accept-Encoding; nil: it is everything already, or too long
local function varied()
  local vary = fields.join(header["Vary"])
  if not vary or vary == "" then return "Accept-Encoding" end
  if find(vary, "*", 1, true) then return nil end
  for name in vary:gmatch "[^%s,]+" do
    if lower(name) == "accept-encoding" then return vary end
  end
  vary = vary .. ", Accept-Encoding"
  return #vary <= vary_max and vary or nil
end

-- The head of what GET would be answered: the filters leave answers without a body alone.
local function as_for_get(accepted)
  local coding = brotli and find(accepted, "br", 1, true) and "br" or (find(accepted, "gzip", 1, true) and "gzip")
  if not coding then return end
  header["Content-Encoding"], header["Content-Length"], header["Accept-Ranges"] = coding, nil, nil
  local etag = header["ETag"]
  if type(etag) == "string" and etag:sub(1, 2) ~= "W/" then header["ETag"] = "W/" .. etag end
end

local function spare() if var.http_accept_encoding then ngx.req.clear_header "Accept-Encoding" end end
M.spare = spare

-- In the header filter of what an origin answered: compressed or spared, and Vary says so. conf: M.compile's, or nil
function M.settle(conf, cc)
  local vary = conf and may(conf, cc) and varied()
  if not vary then return spare() end
  header["Vary"] = vary
  local accepted = var.http_accept_encoding
  if not accepted then return end
  local normal = encodings.normal(accepted)
  if normal ~= accepted then ngx.req.set_header("Accept-Encoding", normal) end
  if ngx.req.get_method() == "HEAD" then return as_for_get(normal) end
  if brotli and find(normal, "br", 1, true) then ngx.ctx.brotli = true end
end

-- In the body filter, before nginx's. When an origin hangs up in the middle, nginx flushes before it ends the answer. Brotli's filter
-- has nothing to give then, takes that for unfinished, and the visitor waits until sending times out; so the connection is closed here.
-- What nginx passes on unbuffered comes in pieces that hold something, save a first one that stands for the header.
function M.body()
  local ctx = ngx.ctx
  if not ctx.brotli or ngx.arg[2] then return end
  if ngx.arg[1] == "" and ctx.begun then return ngx.ERROR end
  ctx.begun = true
end

return M
