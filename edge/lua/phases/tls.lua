-- The certificate of a TLS connection: by the name asked for, exactly or by `*.parent`; else nginx's own default one.
local ssl = require "ngx.ssl"
local crt = ngx.shared.crt
local memo = require "core.memo"

local M = {}

-- PEM text → parsed chain and key
local parsed = memo.new(1000)
-- The customers' certificates and nobody else's; the dictionary bounds them.
parsed.longest = math.huge

local function load(pem)
  local pair = memo.get(parsed, pem)
  if not pair then
    local chain = ssl.parse_pem_cert(pem)
    local key = ssl.parse_pem_priv_key(pem)
    if not chain or not key then return nil end
    pair = { chain = chain, key = key }
    memo.put(parsed, pem, pair)
  end
  return pair
end

function M.certificate()
  local name = ssl.server_name()
  if not name then return end
  name = name:lower()
  local id = crt:get("n:" .. name) or crt:get("n:*" .. (name:match "%..*" or ""))
  local pem = id and crt:get("k:" .. id)
  local pair = pem and load(pem)
  if not pair then return end
  ssl.clear_certs()
  ssl.set_cert(pair.chain)
  ssl.set_priv_key(pair.key)
end

return M
