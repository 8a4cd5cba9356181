-- What a domain says of https: visitors over http are sent there, and browsers are told to come no other way (RFC 6797).
local cjson = require "cjson.safe"
local store = require "core.store"
local ngx = ngx
local var, header = ngx.var, ngx.header

local M = {}

-- The port on which visitors find https; 0: this node speaks none
local https = 0

function M.setup(port) https = port end

-- record: the domain's. → text of the header, or nil
function M.header(record)
  local hsts = record.hsts
  if not hsts then return nil end
  return ("max-age=%d%s%s"):format(hsts.maxAge, hsts.includeSubDomains and "; includeSubDomains" or "", hsts.preload and "; preload" or "")
end

-- In the place of the origin's; over http browsers would not believe it.
function M.say(text)
  if var.https == "on" then header["Strict-Transport-Security"] = text end
end

-- Of the zone; nil: not read since its record changed
local of_zone

-- → what visitors are sent away with
function M.redirect()
  if of_zone then return of_zone end
  local text = store.get "z:"
  local said = (text and cjson.decode(text) or {}).forceSSLRedirectCode
  -- what an older control plane sends says nothing of it
  of_zone = { status = said and said.code or 301, reason = "forceSSL" }
  return of_zone
end

function M.drop_zone() of_zone = nil end

-- → redirect, location; nil: the request came over https, or nobody would be found there
function M.send(plan)
  -- also before the certificate has come to this node, or where it has no room
  if https == 0 or var.https == "on" or not store.certificate("c:" .. plan.forced) then return nil end
  local port = https == 443 and "" or ":" .. https
  return M.redirect(), "https://" .. plan.host .. port .. var.request_uri
end

return M
