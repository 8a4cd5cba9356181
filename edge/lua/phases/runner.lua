-- Runs the modules, and is the only place where a visitor's request is refused: it ends it, counts it and gives the log its reason.
--
-- A verdict depends only on what the modules asked (core/request.lua), and what they ask next only on the answers so far. So a
-- plan's verdicts are a tree: each node names a quantity, its branches are values, its leaves verdicts. An ordinary visitor is one
-- or two table reads away from "nothing against it", however many rules the site has.
local memo = require "core.memo"
local problems = require "core.problems"
local request = require "core.request"
local ngx = ngx
local var, rt = ngx.var, ngx.shared.rt
local read = request.read
local get, put = memo.get, memo.put

-- unjudged: refusal of a request about which the protections could not come to a verdict
local M = { unjudged = { status = 503 } }

local passed = { refusal = false }
-- Longer values are judged anew each time: they are rare, and keeping them is what an attacker would like.
local value_max = 512
local root_max, node_max = 4096, 1024
-- Branches of all trees of this worker
local budget = memo.budget(200000)

local statuses = { deny = 403, drop = 444 }

local function judge(plan)
  local checks = plan.site.checks
  for i = 1, #checks do
    local check = checks[i]
    local verdict = check.module.check(check.conf, request)
    if verdict then
      if verdict.action == "skip" then return passed end
      if not verdict.leaf then
        local cause = check.module.cause
        local status = statuses[verdict.action] or error("no such action: " .. tostring(verdict.action))
        verdict.leaf = { refusal = { status = status, cause = cause, reason = cause .. ":" .. verdict.rule } }
      end
      return verdict.leaf
    end
  end
  return passed
end

-- Judges and keeps the way to the verdict. → leaf
local function learn(plan)
  request.start()
  local leaf = judge(plan)
  local steps = request.steps
  if steps == 0 then
    plan.tree = leaf
    return leaf
  end
  for i = 1, steps do
    if #request.values[i] > value_max then return leaf end
  end
  local node = plan.tree
  if not node then
    node = { read = read[request.names[1]], memo = memo.new(root_max, budget) }
    plan.tree = node
  end
  for i = 1, steps - 1 do
    local child = get(node.memo, request.values[i])
    if not child then
      child = { read = read[request.names[i + 1]], memo = memo.new(node_max, budget) }
      put(node.memo, request.values[i], child)
    end
    node = child
  end
  put(node.memo, request.values[steps], leaf)
  return leaf
end

-- Whoever cannot be judged is refused; nothing of it is kept. → refusal or false
local function first_time(plan)
  local ok, leaf = pcall(learn, plan)
  if ok then return leaf.refusal end
  problems.note("protection", leaf)
  return M.unjudged
end

-- The steps after the third
local function deeper(plan, node)
  for _ = 4, request.steps_max do
    node = get(node.memo, node.read())
    if node == nil then return first_time(plan) end
    if not node.memo then return node.refusal end
  end
  problems.note("protection", "the way to a verdict has no end")
  return M.unjudged
end

-- → refusal {status, cause, reason}, or false: nothing else lets a request through. Straight-line on purpose: a loop in here would be
-- a trace of its own, and LuaJIT then never compiles what stands around it. Today's modules ask three quantities.
function M.judge(plan)
  local node = plan.tree
  if node == nil then return first_time(plan) end
  if node.memo then
    node = get(node.memo, node.read())
    if node == nil then return first_time(plan) end
    if node.memo then
      node = get(node.memo, node.read())
      if node == nil then return first_time(plan) end
      if node.memo then
        node = get(node.memo, node.read())
        if node == nil then return first_time(plan) end
        if node.memo then return deeper(plan, node) end
      end
    end
  end
  return node.refusal
end

local titles = {
  [400] = "Bad Request",
  [403] = "Forbidden",
  [413] = "Content Too Large",
  [500] = "Internal Error",
  [502] = "Bad Gateway",
  [503] = "Service Unavailable",
  [504] = "Gateway Timeout",
  [508] = "Loop Detected",
  [903] = "Unknown Host",
  [904] = "Site Unavailable",
}

-- What is left of a body must not be read as the next request on the connection.
local function leave_body()
  if (var.http_content_length or var.http_transfer_encoding) and not pcall(ngx.req.discard_body) then ngx.header["Connection"] = "close" end
end

-- Ends the request with a page of our own (444: without an answer).
function M.refuse(status)
  if status == 444 then return ngx.exit(444) end
  leave_body()
  local title = titles[status] or "Refused"
  var.edge_cc = "no-store"
  ngx.status = status
  ngx.header["Content-Type"] = "text/html; charset=utf-8"
  local body = "<!doctype html><title>" .. status .. " " .. title .. "</title><h1>" .. status .. " " .. title .. "</h1><p>" .. var.edge_rid .. "\n"
  ngx.header["Content-Length"] = #body
  ngx.print(body)
  return ngx.exit(ngx.HTTP_OK)
end

-- A protection's refusal, as `judge` gave it
function M.block(refusal)
  refusal = refusal or M.unjudged
  if refusal.cause then
    rt:incr("cause:" .. refusal.cause, 1, 0)
    var.edge_reason = refusal.reason
  end
  return M.refuse(refusal.status)
end

-- The same with 400 or 413, and the connection with it, because where the next request on it would begin is not sure or not worth
-- finding out: nginx closes it after these, and comes back by `refused` for the page.
function M.turn_away(status) return ngx.exit(status) end

-- 400, 413 and 500 of the front half's own. The last is an error in Lua, which nginx has logged.
function M.refused()
  if ngx.status == 500 then problems.count "request" end
  return M.refuse(ngx.status)
end

-- In a header filter: ends the connection without an answer. ngx.exit(444) would send the status there.
function M.hang_up() return ngx.exit(ngx.ERROR) end

-- The same before anything was sent
function M.close() return ngx.exit(444) end

-- → {["2"] = refused requests …}
function M.counts()
  local counts = {}
  for cause = 1, 20 do
    local n = rt:get("cause:" .. cause)
    if n then counts[tostring(cause)] = n end
  end
  return counts
end

return M
