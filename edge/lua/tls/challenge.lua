-- What an authority is answered that asks whether a host is ours (ACME, HTTP-01): before every rule, redirect and the cache, because it
-- asks while there is no certificate yet, and is no visitor. Records `a:<host>` stand while one is about to ask.
local cjson = require "cjson.safe"
local store = require "core.store"
local byte, sub = string.byte, string.sub

local path = "/.well-known/acme-challenge/"
local length, dot = #path, byte "."

-- → the answer, or nil: the request goes on as any other
return function(host, uri)
  if byte(uri, 2) ~= dot or sub(uri, 1, length) ~= path then return nil end
  local text = store.get("a:" .. host)
  if not text then return nil end
  local record, asked = cjson.decode(text), sub(uri, length + 1)
  if not record or record.host ~= host then return nil end
  for _, one in ipairs(record.tokens) do
    if one.token == asked then return one.answer end
  end
  return nil
end
