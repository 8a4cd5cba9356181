-- A request to an origin that sends interim answers (100 to 199, such as 103 Early Hints) without being asked. nginx 1.22 takes the
-- interim answer for the final one and the final one for its body, so such hosts are asked from here. Interim answers are swallowed:
-- nginx could not pass them on. A connection serves one request.
local balancer = require "core.balancer"
local clock = require "core.clock"
local forward = require "core.forward"
local hop = require "core.hop"
local lines = require "core.lines"
local patience = require "core.patience"
local problems = require "core.problems"
local spellings = require "core.spellings"
local ngx = ngx
local var = ngx.var
local lower, match = string.lower, string.match

local M = {}

-- until the next piece of a visitor's body
local visitor_ms = 60000
local piece, head_max, chunk_line_max = 65536, 65536, 1024

-- Of one connection (RFC 9110 7.6.1), or between nginx and us
local dropped = {}
for name in ([[connection keep-alive proxy-connection te trailer transfer-encoding upgrade proxy-authenticate proxy-authentication-info
  x-edge-key x-edge-cs x-edge-connection x-edge-port x-edge-part x-edge-relay x-edge-custom x-edge-m x-edge-cc x-accel-redirect x-accel-expires x-accel-limit-rate x-accel-charset host content-length
  expect]]):gmatch "%S+" do
  dropped[name] = true
end

local function request_text(plan, size)
  local lines = { ngx.req.get_method() .. " " .. (var.edge_uri or var.request_uri) .. " HTTP/1.1", "Host: " .. plan.asked_host, "Connection: close" }
  for name, value in pairs(ngx.req.get_headers(0, true)) do
    if not dropped[lower(name)] and lower(name) ~= "cdn-loop" then
      for _, one in ipairs(type(value) == "table" and value or { value }) do lines[#lines + 1] = name .. ": " .. one end
    end
  end
  lines[#lines + 1] = "CDN-Loop: " .. var.edge_loop
  if size then lines[#lines + 1] = "Content-Length: " .. size end
  return table.concat(lines, "\r\n") .. "\r\n\r\n"
end

-- Bodies that stand on the disk, of this worker's requests and of each customer's; nginx.conf bounds their length. More would take
-- everybody's room, and one customer's may not take all the places. Nobody waits for a place: who finds none is answered at once.
local spools, spools_max, party_max = 0, 6, 2
local of_party = {}

-- May this request's body, of unknown length, be put on the disk?
function M.room(party)
  if not hop.chunked() then return true end
  local own = of_party[party] or 0
  if spools >= spools_max or own >= party_max then return false end
  spools, of_party[party], ngx.ctx.spools = spools + 1, own + 1, party
  return true
end

-- The request has ended, or its body is on its way.
function M.done()
  local party = ngx.ctx.spools
  if not party then return end
  local left = of_party[party] - 1
  spools, of_party[party], ngx.ctx.spools = spools - 1, left > 0 and left or nil, nil
end

-- Who takes longer than this, to send us such a body or to take it from us, is not waited for.
local grace, least_rate, seconds_max = 10, 16384, 600

local function too_slow(since, bytes)
  local seconds = clock.now() - since
  return seconds > seconds_max or bytes < least_rate * (seconds - grace)
end

local function read_whole()
  ngx.req.read_body()
  return true
end

-- nginx bounds the time between two pieces alone.
local function watch()
  local since = clock.now()
  repeat ngx.sleep(1) until too_slow(since, tonumber(var.request_length) or 0)
  return false
end

-- → whether the body has come in
local function read_in_time()
  local reader, watcher = ngx.thread.spawn(read_whole), ngx.thread.spawn(watch)
  local ok, whole = ngx.thread.wait(reader, watcher)
  ngx.thread.kill(reader)
  ngx.thread.kill(watcher)
  return ok and whole
end

-- Pieces of a body that nginx has put into memory or a file, because its length was not known before. `drop` frees what it takes.
-- → nil, status when it does not come in
local function spooled()
  if not read_in_time() then return nil, 408 end
  local text = ngx.req.get_body_data()
  if text then
    return #text, function()
      local all = text
      text = nil
      return all
    end, M.done
  end
  local path = ngx.req.get_body_file()
  if not path then return nil end
  local file, why = io.open(path, "rb")
  -- Ours, and it passes: no file handle is left, or somebody cleared the folder.
  if not file then
    problems.note("request", why)
    return nil, 503
  end
  local function drop()
    file:close()
    -- nginx removes it when the request has ended, which is the origin's to say.
    local empty = io.open(path, "wb")
    if empty then empty:close() end
    M.done()
  end
  return file:seek "end", function(at)
    if at == 0 then file:seek "set" end
    return file:read(piece)
  end, drop
end

-- Pieces of a body as they come in; it never stands in memory as a whole. left.bytes tells how many have not been taken.
local function incoming(length, left)
  left.bytes = length
  local socket
  return length, function()
    if left.bytes == 0 then return nil end
    if not socket then
      socket = ngx.req.socket()
      if not socket then return nil end
      socket:settimeout(visitor_ms)
    end
    local data = socket:receiveany(math.min(left.bytes, piece))
    if data then left.bytes = left.bytes - #data end
    return data
  end
end

-- → size, next(bytes so far) → piece or nil, drop when it was spooled; nothing without a body
local function body(left)
  if hop.chunked() then return spooled() end
  local length = hop.length()
  if length and length > 0 then return incoming(length, left) end
end

-- → whether the origin took too long to take it. One that hangs up before it has everything may have answered.
local function send_body(socket, size, next_piece, spool)
  local sent, since = 0, clock.now()
  while sent < size do
    local data = next_piece(sent)
    if not data then return false end
    local ok, why = socket:send(data)
    if not ok then return spool and why == "timeout" end
    sent = sent + #data
    if spool and too_slow(since, sent) then return true end
  end
  return false
end

-- An origin may send as many interim heads as it likes; all of them may take so long, or as long as one may.
local heads_seconds = 600

local function patience_of(plan) return plan.timeouts or patience.usual end

-- One head → status, {{name, value} …}; nil when it is malformed, too long or too slow
local function read_head(reader, until_time)
  local line = reader:line(head_max, until_time)
  local status = line and match(line, "^HTTP/1%.[01] (%d%d%d)")
  if not status then return nil end
  local fields, size = {}, #line
  while true do
    line = reader:line(head_max - size, until_time)
    if not line then return nil end
    if line == "" then return tonumber(status), fields end
    size = size + #line + 2
    local name, value = match(line, "^([!#$%%&'*+.^_`|~%w-]+):[ \t]*([^\r]-)[ \t]*$")
    if not name or size > head_max then return nil end
    fields[#fields + 1] = { name, value }
  end
end

local function open(plan, peer, scheme)
  local socket, timeouts = ngx.socket.tcp(), patience_of(plan)
  socket:settimeouts(timeouts.connect * 1000, timeouts.send * 1000, timeouts.read * 1000)
  if not socket:connect(peer.host, peer.port) then return nil end
  if scheme == "http" then return socket end
  -- Verified by what its location trusts (nginx.conf). Where a handshake fails before it would have to wait, lua-resty-core raises instead
  -- of saying why.
  local ok, stands = pcall(socket.sslhandshake, socket, nil, plan.sni, plan.trust ~= nil)
  if ok and stands then return socket end
  socket:close()
end

-- → socket, peer; asks one origin after the other until a connection stands
local function reach(plan, visitor, key_of)
  local now = clock.now()
  local first = balancer.first(plan.pool, visitor, now, key_of)
  for _, pass in ipairs(balancer.passes(plan.pool, visitor, first)) do
    local tried = {}
    for any = 0, 1 do
      for _, tier in ipairs(pass.tiers) do
        local peer = balancer.pick(tier, tried, now, any == 1, key_of)
        while peer do
          local socket = open(plan, peer, pass.scheme)
          if socket then return socket, peer end
          balancer.failed(peer, now)
          if clock.now() - now > patience.turn then return nil end
          tried[peer] = true
          peer = balancer.pick(tier, tried, now, any == 1, key_of)
        end
      end
    end
  end
end

-- Passes `length` bytes, or everything, on. → whether all arrived
local function pass_on(reader, length)
  while not length or length > 0 do
    local data, why = reader:some(length and math.min(length, piece) or piece)
    if data then
      ngx.print(data)
      if not ngx.flush(true) then return false end
      if length then length = length - #data end
    elseif why then
      return length == nil and why == "closed"
    end
  end
  return true
end

local function pass_chunks(reader, seconds)
  while true do
    local line = reader:line(chunk_line_max, clock.now() + seconds)
    local size = line and tonumber(match(line, "^(%x+)"), 16)
    if not size then return false end
    if size == 0 then return true end
    if not pass_on(reader, size) or reader:line(1, clock.now() + seconds) ~= "" then return false end
  end
end

-- → nil when no origin gave an answer, else {status, peer, interim = whether it sent interim answers, send = function() → whether
-- the whole body was passed on, close}; whether part of the request is still to come, so that its connection cannot go on; and where
-- there is no answer the status that says why, if it is not 502
function M.ask(plan, visitor, key_of)
  local left = { bytes = 0 }
  local size, next_piece, drop = body(left)
  if not size and next_piece then return nil, true, next_piece end
  local socket, peer = reach(plan, visitor, key_of)
  if not socket then
    if drop then drop() end
    return nil, left.bytes > 0
  end
  local timeouts = patience_of(plan)
  if drop then socket:settimeouts(timeouts.connect * 1000, math.min(grace, timeouts.send) * 1000, timeouts.read * 1000) end
  local slow
  local reader, status, fields = lines.of(socket)
  local interim = -1
  if socket:send(request_text(plan, size)) then
    -- An origin may answer, and hang up, before it has read everything.
    if size then slow = send_body(socket, size, next_piece, drop ~= nil) end
    if drop then drop() end
    local since = clock.now()
    while not slow and (not status or status < 200) do
      status, fields = read_head(reader, math.min(clock.now() + timeouts.read, since + math.max(heads_seconds, timeouts.read)))
      interim = interim + 1
      if not status then break end
    end
  end
  if not status then
    balancer.failed(peer, clock.now())
    socket:close()
    return nil, left.bytes > 0, slow and 504 or nil
  end
  local length, chunked
  local function send()
    local lists, left_out = {}, {}
    local function leave_out(_, name) left_out[name] = true end
    for _, field in ipairs(fields) do
      local name = lower(field[1])
      if name == "content-length" then length = tonumber(match(field[2], "^%d+$")) end
      if name == "transfer-encoding" then chunked = lower(field[2]) == "chunked" end
      if not dropped[name] and not spellings.mimics(name) then
        lists[name] = lists[name] or { field[1] }
        table.insert(lists[name], field[2])
      end
      if name == "connection" then forward.hop_only(field[2], leave_out) end
    end
    for name in pairs(left_out) do lists[name] = nil end
    ngx.status = status
    for _, list in pairs(lists) do ngx.header[list[1]] = #list == 2 and list[2] or { unpack(list, 2) } end
    if length and not chunked then ngx.header["Content-Length"] = length end
    ngx.send_headers()
    if ngx.req.get_method() == "HEAD" or status == 204 or status == 304 then return true end
    if chunked then return pass_chunks(reader, timeouts.read) end
    return pass_on(reader, length)
  end
  local answer = { status = status, peer = peer, interim = interim > 0, send = send, close = function() socket:close() end }
  return answer, left.bytes > 0
end

return M
