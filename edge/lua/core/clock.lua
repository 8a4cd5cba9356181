-- Seconds by a clock that only goes forward: for spans, deadlines and "not again before". ngx.now() is the wall clock, which NTP, an
-- operator or a host that slept may step by hours; it is for times that others read.
local ffi = require "ffi"
local C = ffi.C

ffi.cdef [[
  typedef struct { long seconds; long nanoseconds; } breakwater_time;
  int breakwater_clock(int clock, breakwater_time *time) __asm__("clock_gettime");
]]

local monotonic = 1 -- CLOCK_MONOTONIC of Linux
local time = ffi.new "breakwater_time"

local M = {}

function M.now()
  C.breakwater_clock(monotonic, time)
  return tonumber(time.seconds) + tonumber(time.nanoseconds) / 1e9
end

return M
