-- Pages of our own, as the halves tell each other of them: X-Edge-Custom is `page:<status it stands for>` on those of the back half.
local ngx = ngx
local var = ngx.var
local match = string.match

local M = {}

-- Of the back half, to the front half. status: what the page stands for, where that is known
function M.mark(status) return "page:" .. (status or "") end

-- In a header filter of the front half: is this a page that `refuse` (phases/runner.lua) made, in either half? The log is told the
-- status that it stands for where the visitor is told another.
function M.is_ours()
  local ctx = ngx.ctx
  if ctx.ours then return true end
  -- Asked from this half (location @direct), so this is what the origin said.
  if ctx.peer then return false end
  local status = match(var.upstream_http_x_edge_custom or "", "^page:(%d*)$")
  if not status then return false end
  if status ~= "" and tonumber(status) ~= ngx.status then var.edge_status = status end
  return true
end

-- An error in Lua of ours, said to the agent that watches a new version of itself (agent/src/upgrade/probe.ts): a customer's origin
-- answers 500 too. Of an origin's answer nginx hides the field.
function M.tell_fault()
  if var.http_user_agent == "Breakwater-Upgrade-Probe" then ngx.header["X-Edge-Fault"] = "1" end
end

return M
