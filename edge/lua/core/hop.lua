-- What the front half tells the back half of a request, and what else of its header the back half goes by. Each stands in a map of
-- nginx.conf, which is run once and keeps what it found, also when the request goes on to another location. So `hold` reads all of
-- them first, and what is set later, a customer's headers, changes nothing of it. A field that is not there is "".
--
-- phases/direct.lua goes the same way in the front half, where the visitor is at hand.
local ngx = ngx
local var, tonumber = ngx.var, tonumber

local M = {}

-- nginx keeps a body up to this length in memory (client_body_buffer_size) and can send it again. Longer ones are passed on as they
-- come: spooled, the unfinished uploads of one visitor would take the node's disk, and the cache would be cleared to make room.
M.held_body = 16384

local names = {
  "hop_id", "hop_cs", "hop_key", "hop_named", "hop_scheme", "hop_address", "hop_loop", "hop_upgrade", "hop_length", "hop_coding",
  "hop_match", "hop_since", "hop_authorization", "edge_loop",
}

function M.hold()
  for i = 1, #names do
    local _ = var[names[i]]
  end
end

local function in_front() return var.edge_direct ~= "" end
M.in_front = in_front

function M.scheme()
  if in_front() then return var.scheme end
  return var.hop_scheme == "https" and "https" or "http"
end

function M.address() return in_front() and var.remote_addr or var.hop_address end

-- The cache asks again because what it holds has expired.
function M.expired() return var.hop_cs == "EXPIRED" end

function M.chunked() return var.hop_coding ~= "" end

-- → bytes, or nil
function M.length() return tonumber(var.hop_length) end

function M.long_body() return M.chunked() or (M.length() or 0) > M.held_body end

function M.upgrade() return var.hop_upgrade ~= "" end

-- → the entity tag, else the date, that the origin was asked to compare; nil: neither. And whether it is a tag
function M.validator()
  local tag, since = var.hop_match, var.hop_since
  if tag ~= "" then return tag, true end
  return since ~= "" and since or nil, false
end

return M
