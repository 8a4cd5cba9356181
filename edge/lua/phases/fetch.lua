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

-- → text or nil
local function body()
  ngx.req.read_body()
  local text = ngx.req.get_body_data()
  local path = not text and ngx.req.get_body_file()
  local file = path and io.open(path, "rb")
  if not file then return text end
  text = file:read "*a"
  file:close()
  return text
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

-- → nil when no origin gave an answer, else {status, send = function() → whether the whole body was passed on}
function M.ask(plan, visitor, key)
  local sent = body()
  local socket, peer = reach(plan, visitor, key)
  if not socket then return nil end
  local status, fields
  if socket:send(request_text(plan, sent and #sent)) and (not sent or socket:send(sent)) then
    repeat status, fields = read_head(socket) until not status or status >= 200
  end
  if not status then
    balancer.failed(peer, ngx.now())
    socket:close()
    return nil
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
  return { status = status, peer = peer, send = send, close = function() socket:close() end }
end

return M
