-- A request to an origin that sends interim answers (100 to 199, such as 103 Early Hints) without being asked. nginx 1.22 takes the
-- interim answer for the final one and the final one for its body, so such hosts are asked from here. Interim answers are swallowed:
-- nginx could not pass them on. A connection serves one request.
local balancer = require "core.balancer"
local ngx = ngx
local var = ngx.var
local lower, match = string.lower, string.match

local M = {}

local connect_ms, answer_ms = 5000, 60000
local piece, heads_max = 65536, 65536

-- Of one connection (RFC 9110 7.6.1), or between nginx and us
local dropped = {}
for name in ([[connection keep-alive proxy-connection te trailer transfer-encoding upgrade proxy-authenticate proxy-authentication-info
  x-edge-key x-edge-cs x-edge-connection x-edge-custom x-edge-m x-edge-cc x-accel-redirect x-accel-expires x-accel-limit-rate x-accel-charset host content-length
  expect]]):gmatch "%S+" do
  dropped[name] = true
end

local function request_text(plan, size)
  local lines = { ngx.req.get_method() .. " " .. var.request_uri .. " HTTP/1.1", "Host: " .. plan.origin_host, "Connection: close" }
  for name, value in pairs(ngx.req.get_headers(0, true)) do
    if not dropped[lower(name)] and lower(name) ~= "cdn-loop" then
      for _, one in ipairs(type(value) == "table" and value or { value }) do lines[#lines + 1] = name .. ": " .. one end
    end
  end
  lines[#lines + 1] = "CDN-Loop: " .. var.edge_loop
  if size then lines[#lines + 1] = "Content-Length: " .. size end
  return table.concat(lines, "\r\n") .. "\r\n\r\n"
end

-- Bodies that stand on the disk, of this worker's requests; nginx.conf bounds each. More would take everybody's room.
local spools, spools_max = 0, 4

-- May this request's body, of unknown length, be put on the disk?
function M.room()
  if not var.http_transfer_encoding then return true end
  if spools >= spools_max then return false end
  spools, ngx.ctx.spools = spools + 1, true
  return true
end

-- The request has ended, and its file is gone.
function M.done()
  if ngx.ctx.spools then spools = spools - 1 end
end

-- Pieces of a body that nginx has put into memory or a file, because its length was not known before
local function spooled()
  ngx.req.read_body()
  local text = ngx.req.get_body_data()
  if text then
    return #text, function()
      local all = text
      text = nil
      return all
    end
  end
  local path = ngx.req.get_body_file()
  local file = path and io.open(path, "rb")
  if not file then return nil end
  return file:seek "end", function(at)
    if at == 0 then file:seek "set" end
    local data = file:read(piece)
    if not data then file:close() end
    return data
  end
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
      socket:settimeout(answer_ms)
    end
    local data = socket:receiveany(math.min(left.bytes, piece))
    if data then left.bytes = left.bytes - #data end
    return data
  end
end

-- → size, next(bytes so far) → piece or nil; nothing without a body
local function body(left)
  if var.http_transfer_encoding then return spooled() end
  local length = tonumber(var.http_content_length)
  if length and length > 0 then return incoming(length, left) end
end

-- → whether everything was sent
local function send_body(socket, size, next_piece)
  local sent = 0
  while sent < size do
    local data = next_piece(sent)
    if not data or not socket:send(data) then return false end
    sent = sent + #data
  end
  return true
end

-- One head → status, {{name, value} …}; nil when it is malformed or too long
local function read_head(socket)
  local line = socket:receive "*l"
  local status = line and match(line, "^HTTP/1%.[01] (%d%d%d)")
  if not status then return nil end
  local fields, size = {}, #line
  while true do
    line = socket:receive "*l"
    if not line then return nil end
    if line == "" then return tonumber(status), fields end
    size = size + #line
    local name, value = match(line, "^([!#$%%&'*+.^_`|~%w-]+):[ \t]*(.-)[ \t]*$")
    if not name or size > heads_max then return nil end
    fields[#fields + 1] = { name, value }
  end
end

local function open(plan, peer, scheme)
  local socket = ngx.socket.tcp()
  socket:settimeouts(connect_ms, answer_ms, answer_ms)
  if not socket:connect(peer.host, peer.port) then return nil end
  if scheme == "https" and not socket:sslhandshake(nil, plan.origin_host, false) then return nil end
  return socket
end

-- → socket, peer; asks one origin after the other until a connection stands
local function reach(plan, visitor, key)
  local now = ngx.now()
  local first = balancer.first(plan.pool, visitor, now, key)
  for _, pass in ipairs(balancer.passes(plan.pool, visitor, first)) do
    local tried = {}
    for any = 0, 1 do
      for _, tier in ipairs(pass.tiers) do
        local peer = balancer.pick(tier, tried, now, any == 1, key)
        while peer do
          local socket = open(plan, peer, pass.scheme)
          if socket then return socket, peer end
          balancer.failed(peer, now)
          tried[peer] = true
          peer = balancer.pick(tier, tried, now, any == 1, key)
        end
      end
    end
  end
end

-- Passes `length` bytes, or everything, on. → whether all arrived
local function pass_on(socket, length)
  while not length or length > 0 do
    local data, why, part = socket:receiveany(length and math.min(length, piece) or piece)
    data = data or part
    if data and data ~= "" then
      ngx.print(data)
      if not ngx.flush(true) then return false end
      if length then length = length - #data end
    elseif why then
      return length == nil and why == "closed"
    end
  end
  return true
end

local function pass_chunks(socket)
  while true do
    local line = socket:receive "*l"
    local size = line and tonumber(match(line, "^(%x+)"), 16)
    if not size then return false end
    if size == 0 then return true end
    if not pass_on(socket, size) or socket:receive(2) ~= "\r\n" then return false end
  end
end

-- → nil when no origin gave an answer, else {status, peer, interim = whether it sent interim answers, send = function() → whether
-- the whole body was passed on, close}; and whether part of the request is still to come, so that its connection cannot go on
function M.ask(plan, visitor, key)
  local left = { bytes = 0 }
  local size, next_piece = body(left)
  local socket, peer = reach(plan, visitor, key)
  if not socket then return nil, left.bytes > 0 end
  local status, fields
  local interim = -1
  if socket:send(request_text(plan, size)) then
    -- An origin may answer, and hang up, before it has read everything.
    if size then send_body(socket, size, next_piece) end
    repeat
      status, fields = read_head(socket)
      interim = interim + 1
    until not status or status >= 200
  end
  if not status then
    balancer.failed(peer, ngx.now())
    socket:close()
    return nil, left.bytes > 0
  end
  local length, chunked
  local function send()
    local lists = {}
    for _, field in ipairs(fields) do
      local name = lower(field[1])
      if name == "content-length" then length = tonumber(match(field[2], "^%d+$")) end
      if name == "transfer-encoding" then chunked = lower(field[2]) == "chunked" end
      if not dropped[name] then
        lists[name] = lists[name] or { field[1] }
        table.insert(lists[name], field[2])
      end
    end
    ngx.status = status
    for _, list in pairs(lists) do ngx.header[list[1]] = #list == 2 and list[2] or { unpack(list, 2) } end
    if length and not chunked then ngx.header["Content-Length"] = length end
    ngx.send_headers()
    if ngx.req.get_method() == "HEAD" or status == 204 or status == 304 then return true end
    if chunked then return pass_chunks(socket) end
    return pass_on(socket, length)
  end
  local answer = { status = status, peer = peer, interim = interim > 0, send = send, close = function() socket:close() end }
  return answer, left.bytes > 0
end

return M
