-- What modules may ask of a request. Each answer is remembered as a step of the way to the verdict, so that the runner can keep
-- the verdict for every later request that takes the same steps (phases/runner.lua). Modules must not look anywhere else.
local ips = require "core.ips"
local memo = require "core.memo"
local var = ngx.var

local M = { steps = 0, names = {}, values = {} }

-- More quantities than this one verdict may not depend on: the request is refused (phases/runner.lua).
M.steps_max = 16

-- How each quantity is read; the text is the key under which verdicts are kept.
M.read = {
  ip = function() return var.remote_addr end,
  agent = function() return var.http_user_agent or "" end,
  url = function() return var.request_uri end,
}

local addresses = memo.new(2000)

function M.start() M.steps = 0 end

-- The value of a quantity of M.read
local function step(name)
  for i = 1, M.steps do
    if M.names[i] == name then return M.values[i] end
  end
  if M.steps == M.steps_max then error("a verdict on more than " .. M.steps_max .. " quantities") end
  local n, value = M.steps + 1, M.read[name]()
  M.steps, M.names[n], M.values[n] = n, name, value
  return value
end

M.ask = step

-- 4 or 16 bytes, as core/ips.lua compares them
function M.address()
  local text = step "ip"
  local bytes = memo.get(addresses, text)
  if not bytes then
    bytes = ips.bytes(text) or "\0\0\0\0"
    memo.put(addresses, text, bytes)
  end
  return bytes
end

function M.agent() return step "agent" end

-- Decoded and without dot segments, so that /public/../admin is /admin
function M.path()
  step "url"
  return var.uri
end

-- Raw; nil without one
function M.query()
  step "url"
  return var.args
end

-- Plans and their verdicts belong to one host, so this is no step.
function M.host() return var.host end
return M
