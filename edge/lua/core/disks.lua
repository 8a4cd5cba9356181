-- Is there room? nginx breaks an answer off when its cache or its temporary files meet a full disk, and loses log lines without a
-- word. So answers are passed through unbuffered before that happens, and requests without a line are counted.
local ffi = require "ffi"
local clock = require "core.clock"
local problems = require "core.problems"
local C = ffi.C

-- glibc on 64 bits
ffi.cdef [[
  struct breakwater_statvfs {
    unsigned long f_bsize, f_frsize, f_blocks, f_bfree, f_bavail, f_files, f_ffree, f_favail, f_fsid, f_flag, f_namemax;
    int spare[16];
  };
  int statvfs(const char *path, struct breakwater_statvfs *to);
]]

local M = { log_full = false }

-- Stays free beside what is to be stored; of small disks a part. nginx's cache manager drops old objects below it.
local reserve_bytes, reserve_part = 64 * 1048576, 0.05
-- What an answer of unknown length is taken for
local unknown_bytes = 8 * 1048576
local inodes_min = 64
-- Answers under way are not in the figures yet.
local margin = 2
-- No line is shorter than what can be written into less
local line_bytes = 4096

local cache, temp, logs
local facts = ffi.new "struct breakwater_statvfs"

function M.setup(where) cache, temp, logs = where.cache, where.temp, where.logs end

-- new: in files that are still to be made; a log is there already. → bytes that may be written, size of the disk; nil when it does not say
local function room(folder, new)
  if C.statvfs(folder, facts) ~= 0 then return nil end
  local unit = tonumber(facts.f_frsize)
  -- File systems that make inodes as they go say 0.
  if new and facts.f_files > 0 and facts.f_favail < inodes_min then return 0, unit * tonumber(facts.f_blocks) end
  return unit * tonumber(facts.f_bavail), unit * tonumber(facts.f_blocks)
end

-- The kernel is asked once for what comes within this many seconds; what was let in meanwhile is taken off, as far as a disk may have
-- written it by then: what an origin only claims to send shall not stand in the way of others.
local look_seconds, look_bytes = 0.005, 16 * 1048576
-- Bytes beside the reserve, of the folder that has least; of the last look, and what an answer of unknown length is taken for
local spare, unknown, looked, taken = math.huge, 0, -1, 0

local function look_at(folder)
  local free, size = room(folder, true)
  if not free then return end
  local reserve = math.min(reserve_bytes, size * reserve_part)
  spare, unknown = math.min(spare, free - reserve), math.min(unknown, reserve)
end

local function look(now)
  spare, unknown, looked, taken = math.huge, unknown_bytes, now, 0
  look_at(cache)
  look_at(temp)
end

-- Is there too little room to store an answer, or to keep for a slow reader what has come in of it? length: bytes, or nil
function M.tight(length)
  local now = clock.now()
  if now - looked >= look_seconds then look(now) end
  local need = length and length * margin or unknown
  if spare - taken < need then return true end
  taken = math.min(taken + need, look_bytes)
  return false
end

local next_look = 0
-- nginx writes no line for the rest of a second in which it met a full disk, also when there is room again
local full_second = -1

-- Part of the tick: often when it is close, since every request between two looks goes uncounted.
function M.look(wall)
  local now = clock.now()
  if now < next_look or not logs then return end
  local free = room(logs)
  local second = math.floor(wall)
  if free ~= nil and free < line_bytes then full_second = second end
  M.log_full = second == full_second
  next_look = now + (M.log_full and 0.005 or (not free or free > 64 * 1048576) and 0.2 or free > 1048576 and 0.05 or 0.005)
end

function M.count_unlogged() problems.count "unlogged" end

return M
