-- The agent's socket: takes records, tells how things stand. The protocol is described in agent/src/render/records.ts.
local balancer = require "core.balancer"
local cjson = require "cjson.safe"
local faults = require "core.faults"
local frames = require "core.frames"
local problems = require "core.problems"
local runner = require "phases.runner"
local sites = require "core.sites"
local store = require "core.store"

local M = {}

-- bad: list of faults; apart because cjson writes an empty table as an object
local function answer(status, body, bad)
  ngx.status = status
  if not bad then return ngx.print(cjson.encode(body)) end
  local items = {}
  for i, fault in ipairs(bad) do items[i] = cjson.encode(fault) end
  ngx.print(cjson.encode(body):sub(1, -2), ',"bad":[', table.concat(items, ","), "]}")
end

local function body()
  ngx.req.read_body()
  local text = ngx.req.get_body_data()
  if text then return text end
  local path = ngx.req.get_body_file()
  local file = path and io.open(path, "rb")
  if not file then return "" end
  text = file:read "*a"
  file:close()
  return text
end

local function domain(key, record)
  assert(key == "d:" .. tostring(record.host), "another host's key")
  assert(type(record.id) == "number" and type(record.site) == "number" and type(record.enabled) == "boolean", "no domain")
  -- It becomes a header line.
  assert(type(record.originHost) == "string" and not record.originHost:find "[^!-~]", "originHost is no host")
  balancer.pool(record)
end

-- A record that a request could stumble over is refused with the whole push, here, where nobody is hurt. → faults; nil, why
local function inspect(records)
  local bad = {}
  for _, item in ipairs(records) do
    local key, text = item[1], item[2]
    if text then
      local record = cjson.decode(text)
      if type(record) ~= "table" then return nil, key .. " is no JSON object" end
      local kind = key:sub(1, 2)
      if kind == "d:" then
        local ok, why = pcall(domain, key, record)
        if not ok then return nil, key .. ": " .. tostring(why) end
      elseif kind == "s:" then
        local found = {}
        local ok, why = pcall(sites.compile, record, function(list, id, fault)
          found[#found + 1] = { site = record.id, list = list, id = id, error = fault }
        end)
        if not ok or key ~= "s:" .. tostring(record.id) then return nil, key .. ": " .. tostring(why) end
        faults.set(record.id, found)
        for _, fault in ipairs(found) do bad[#bad + 1] = fault end
      end
    elseif key:sub(1, 2) == "s:" then
      faults.set(key:sub(3), {})
    end
  end
  return bad
end

function M.apply()
  if ngx.req.get_method() ~= "POST" then return answer(405, { error = "POST frames here" }) end
  local records, why = frames.parse(body())
  if not records then return answer(400, { error = why }) end
  local bad, wrong = inspect(records)
  if not bad then return answer(400, { error = wrong }) end
  local done, status, failed, applied = store.apply(records, ngx.var.arg_cursor)
  if not done then return answer(status, { error = failed, applied = applied }) end
  answer(200, { seq = done.seq, epoch = store.epoch, applied = done.applied }, bad)
end

function M.stat()
  local sig = ngx.shared.sig
  local dictionaries = {}
  for _, name in ipairs { "cfg", "crt", "rt", "inv", "ovl", "hfm", "sig" } do
    local dictionary = ngx.shared[name]
    dictionaries[name] = { capacity = dictionary:capacity(), free = dictionary:free_space() }
  end
  answer(200, {
    seq = sig:get "seq" or 0,
    epoch = store.epoch,
    cursor = sig:get "cursor",
    records = sig:get "records" or 0,
    dictionaries = dictionaries,
    causes = runner.counts(),
    problems = problems.counts(),
    snapshot = { records = sig:get "snapshot_records" or 0, error = sig:get "snapshot_error" },
  }, not ngx.var.arg_brief and faults.all() or nil)
end

return M
