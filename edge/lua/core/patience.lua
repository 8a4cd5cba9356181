-- How long the origins of a domain are waited for, and which requests are sent a second time.
local M = {}

-- seconds: what nginx.conf says of every way to an origin (contract/src/edge/origin-timeouts.ts)
local connect, read, send = 5, 60, 60

M.usual = { connect = connect, read = read, send = send }

-- record: of a domain. → {connect, read, send} in seconds; nil: as nginx.conf says, and nothing need be said
function M.of(record)
  local set = record.originTimeouts
  if not set then return nil end
  local own = { connect = set.connect or connect, read = set.read or read, send = set.send or send }
  if own.connect == connect and own.read == read and own.send == send then return nil end
  return own
end

-- Seconds of waiting for origins after which no other one is asked: each may take its time, all of them together not.
local turn = 90
M.turn = turn

-- RFC 9110, 9.2.2; RFC 4918, 9. nginx itself knows of POST, LOCK and PATCH alone that they are none of these, and repeats what it has
-- never heard of.
local idempotent = {}
for method in ("GET HEAD PUT DELETE OPTIONS TRACE PROPFIND PROPPATCH MKCOL COPY MOVE UNLOCK"):gmatch "%u+" do
  idempotent[method] = true
end

-- One origin has failed. May another one, or the same one anew, be asked? method: of the request; sent, waited: $upstream_bytes_sent and
-- $upstream_response_time, of each that was asked. What is not idempotent is never sent twice after a byte of it may have reached one.
function M.goes_on(method, sent, waited)
  if sent and sent:find "[1-9]" and not idempotent[method] then return false end
  local seconds = 0
  for one in (waited or ""):gmatch "[%d.]+" do seconds = seconds + (tonumber(one) or 0) end
  return seconds <= turn
end

-- Is it of those that nginx takes care of itself, or may it be repeated?
function M.is_known(method) return idempotent[method] or method == "POST" or method == "PATCH" or method == "LOCK" end

return M
