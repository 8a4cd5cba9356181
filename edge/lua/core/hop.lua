-- What the front half tells the back half of a request, and what else of its header the back half goes by. Each stands in a map of
-- nginx.conf, which is run once and keeps what it found, also when the request goes on to another location. So where the header is
-- about to be changed `hold` reads all of them first, and what is set later, a customer's headers, changes nothing of it. A field that
-- is not there is "".
--
-- phases/direct.lua goes the same way in the front half, where the visitor is at hand.
local ngx = ngx
local var, tonumber = ngx.var, tonumber

local M = {}

-- nginx keeps a body up to this length in memory (client_body_buffer_size) and can send it again. Longer ones are passed on as they
-- come: spooled, the unfinished uploads of one visitor would take the node's disk, and the cache would be cleared to make room.
M.held_body = 16384

function M.hold()
  local _ = var.hop_id, var.hop_cs, var.hop_key, var.hop_named, var.hop_scheme, var.hop_address, var.hop_loop, var.hop_upgrade
  _ = var.hop_part, var.hop_length, var.hop_coding, var.hop_match, var.hop_since, var.hop_authorization, var.edge_loop
end

local function in_front() return var.edge_direct ~= "" end
M.in_front = in_front

function M.scheme()
  if in_front() then return var.scheme end
  return var.hop_scheme == "https" and "https" or "http"
end

function M.address() return in_front() and var.remote_addr or var.hop_address end

-- What binds a visitor or a URL to an origin, by the kind of its hash; nil: nothing, they are asked in turn.
function M.key_of(kind)
  if kind == "ipHash" then return M.address() end
  if kind == "urlHash" then return var.request_uri end
end

-- The cache asks again because what it holds has expired.
function M.expired() return var.hop_cs == "EXPIRED" end

function M.chunked() return var.hop_coding ~= "" end

-- → bytes, or nil. (A text that is no number LuaJIT leaves to its interpreter, with all that comes behind.)
function M.length()
  local length = var.hop_length
  return length ~= "" and tonumber(length) or nil
end

function M.long_body() return M.chunked() or (M.length() or 0) > M.held_body end

function M.upgrade() return var.hop_upgrade ~= "" end

-- → the entity tag, else the date, that the origin was asked to compare; nil: neither. And whether it is a tag
function M.validator()
  local tag, since = var.hop_match, var.hop_since
  if tag ~= "" then return tag, true end
  return since ~= "" and since or nil, false
end

return M
