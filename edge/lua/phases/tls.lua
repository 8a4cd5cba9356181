-- The handshake. Nothing here may wait (no sleep, no socket): nginx of Debian has no way to come back, and the handshake would die.
local clienthello = require "ngx.ssl.clienthello"
local names = require "tls.names"
local ocsp = require "ngx.ocsp"
local pairs_of = require("tls.pairs").of
local ssl = require "ngx.ssl"
local store = require "core.store"
local name_of, tick, time = names.of, store.tick, require("core.clock").time

local M = {}

local only13 = { "TLSv1.3" }

-- Before anything else of a connection, also of one whose session goes on
function M.hello()
  tick()
  local name = clienthello.get_client_hello_server_name()
  local found = name and name_of(name:lower())
  if found and found.only13 then assert(clienthello.set_protocols(only13)) end
end

-- By the name asked for, exactly or by `*.parent`. Who names nobody gets nginx's own, which nobody trusts; a name that nobody has, or
-- that has no certificate, gets none: the handshake fails.
function M.certificate()
  local name = ssl.server_name()
  if not name then return end
  local found = name_of(name:lower())
  local pair = found and found.certificate and pairs_of(found.certificate)
  assert(ssl.clear_certs())
  if not pair then return end
  assert(ssl.set_cert(pair.chain))
  assert(ssl.set_priv_key(pair.key))
  -- What is over would be worse than nothing; one that cannot be shown does not cost the handshake.
  if pair.ocsp and time() < pair.ocsp_until then ocsp.set_ocsp_status_resp(pair.ocsp) end
end

return M
