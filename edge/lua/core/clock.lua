-- Seconds by a clock that only goes forward: for spans, deadlines and "not again before". ngx.now() is the wall clock, which NTP, an
-- operator or a host that slept may step by hours; it is for times that others read.
--
-- LuaJIT gives up functions that end in a call of C or of its library as soon as they were run often by themselves, and with them all
-- that call them. So those of the hot path keep what they got in a local first.
local ffi = require "ffi"
require "resty.core.time"
local C = ffi.C

ffi.cdef [[
  typedef struct { long seconds; long nanoseconds; } breakwater_time;
  int breakwater_clock(int clock, breakwater_time *time) __asm__("clock_gettime");
]]

-- CLOCK_MONOTONIC, CLOCK_THREAD_CPUTIME_ID and CLOCK_BOOTTIME of Linux
local monotonic, processor, boot = 1, 3, 7
local time = ffi.new "breakwater_time"

local M = {}

local function read(clock)
  C.breakwater_clock(clock, time)
  return tonumber(time.seconds) + tonumber(time.nanoseconds) / 1e9
end

function M.now() return read(monotonic) end

-- As M.now, and while the machine sleeps it goes on: for spans that another machine is told.
function M.boot() return read(boot) end

-- ngx.time(): seconds of the wall clock
function M.time()
  local seconds = tonumber(C.ngx_http_lua_ffi_time())
  return seconds
end

-- Seconds that this worker has had the processor
function M.cpu() return read(processor) end

return M
