-- Records in the shared dictionary, and how workers learn of changes.
--
-- A writer sets the keys, writes their names into a ring and then raises `seq`. A worker compares `seq` once per turn of its event
-- loop (at most once a millisecond) and drops what it had compiled from the keys named since; if it is further behind than
-- the ring is long it drops everything.
local disks = require "core.disks"
local faults = require "core.faults"
local flags = require "core.flags"
local cfg, crt, sig = ngx.shared.cfg, ngx.shared.crt, ngx.shared.sig
local now = ngx.now

-- epoch: of the data, since nginx was started; node: of this configuration, in request ids and CDN-Loop
local M = { epoch = "", node = "" }

local ring = 4096
-- Part of the dictionary that stays free: the slab allocator needs whole pages.
local reserve = 0.05

local seen, checked = 0, -1
-- "s" → functions(key) that drop one, "*" → functions() that drop all
local watchers = {}

function M.watch(kind, drop)
  watchers[kind] = watchers[kind] or {}
  table.insert(watchers[kind], drop)
end

local function tell(kind, key)
  for _, drop in ipairs(watchers[kind] or {}) do drop(key) end
end

-- Certificates stand apart: however many there are, they take no room from what requests are judged by.
local apart = { c = crt, i = crt }
local function dictionary_of(key) return apart[key:sub(1, 1)] or cfg end

-- Bytes that a record takes, and its place in the dictionary
local function size_of(key, value) return #value + #key + 128 end

-- A certificate that has no room is left out alone: whoever has many holds up nobody's configuration. What is kept free is for those that
-- replace one. found: list that is told of it. → whether it stands
local function set_apart(into, key, value, found)
  local kept = into:get(key) and 0 or into:capacity() * reserve
  local ok = into:free_space() - size_of(key, value) * 1.6 >= kept and into:safe_set(key, value)
  if not ok then
    -- what it replaced, where that is whole, goes on
    found[#found + 1] = { site = 0, list = M.apart, id = key, error = "no room" }
  end
  return ok
end

-- Under this name it is told which certificates have no room (agent/src/control.ts).
M.apart = "certificates"

function M.get(key) return cfg:get(key) end
function M.certificate(key) return crt:get(key) end

local function catch_up(seq)
  if seq - seen > ring or seq < seen then
    tell "*"
  else
    for i = seen + 1, seq do
      local key = sig:get(i % ring)
      if key then tell(key:sub(1, 1), key) end
    end
    -- Overtaken while reading: some names were those of a later round.
    if (sig:get("seq") or 0) - seen > ring then tell "*" end
  end
  seen = seq
end

-- Called at the start of each request
function M.tick()
  local t = now()
  if t == checked then return end
  checked = t
  flags.tick()
  disks.look(t)
  local seq = sig:get("seq") or 0
  if seq ~= seen then catch_up(seq) end
end

-- records: as frames.parse gives them. bad: list to which goes what was left out of them. → {seq, applied}; nil, status, why, applied
function M.apply(records, cursor, bad)
  local bytes = 0
  for i = 1, #records do
    local key, value = records[i][1], records[i][2]
    if value and dictionary_of(key) == cfg then bytes = bytes + size_of(key, value) end
  end
  if bytes > 0 and cfg:free_space() - bytes * 1.6 < cfg:capacity() * reserve then
    return nil, 507, "dictionary full: " .. cfg:free_space() .. " bytes free for " .. bytes, 0
  end
  -- Two writers would mix up the ring.
  if not sig:add("writing", true, 10) then return nil, 503, "another push is under way", 0 end
  local seq, applied, failed = sig:get("seq") or 0, 0, nil
  for i = 1, #records do
    local key, value = records[i][1], records[i][2]
    local into = dictionary_of(key)
    local held = into:get(key) ~= nil
    local ok, why, holds = true, nil, value ~= nil
    if into ~= cfg then
      local found = {}
      if not value then
        into:delete(key)
      elseif not set_apart(into, key, value, found) then
        bad[#bad + 1] = found[1]
        holds = into:get(key) ~= nil
      end
      faults.set(key, M.apart, found)
    elseif value then
      ok, why = into:safe_set(key, value)
      holds = ok
    else
      into:delete(key)
    end
    -- Also when it failed: safe_set may have given up the old value.
    sig:set((seq + i) % ring, key)
    applied = i
    if held ~= (holds or false) then sig:incr("records", holds and 1 or -1, 0) end
    if not ok then
      failed = key .. ": " .. why
      break
    end
  end
  if not failed and cursor then sig:set("cursor", cursor) end
  seq = seq + applied
  sig:set("seq", seq)
  sig:delete("writing")
  checked = -1
  if failed then return nil, 507, failed, applied - 1 end
  return { seq = seq, applied = applied }
end

-- In the master, before workers exist. The dictionaries survive a reload, and so does what stands in them.
function M.load(epoch, path)
  M.epoch, M.node = sig:get("epoch") or epoch, epoch
  if sig:get("epoch") then return end
  sig:set("epoch", epoch)
  local file, why, number = io.open(path, "rb")
  if not file then
    -- 2: there is none yet
    if number ~= 2 then sig:set("snapshot_error", why) end
    return
  end
  local skipped = 0
  local count, cursor = require("core.frames").read(file, function(key, value)
    local into = dictionary_of(key)
    if into == cfg then return into:safe_set(key, value) end
    local found = {}
    if not set_apart(into, key, value, found) then
      skipped = skipped + 1
      faults.set(key, M.apart, found)
    end
    return true
  end)
  file:close()
  if not count then
    for _, dictionary in ipairs { cfg, crt } do
      dictionary:flush_all()
      dictionary:flush_expired()
    end
    sig:set("snapshot_error", path .. ": " .. cursor)
    ngx.log(ngx.ERR, "snapshot not used: ", path, ": ", cursor)
    return
  end
  sig:set("records", count - skipped)
  sig:set("snapshot_records", count - skipped)
  sig:set("cursor", cursor)
end

return M
