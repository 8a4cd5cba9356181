-- A worker that ends after a reload has the sockets of QUIC in common with those that come after it, and nginx (1.26) goes on reading
-- them there: it drops what begins a connection and breaks what goes on, as long as one download keeps the worker. So it lets go of
-- them. Connections over QUIC that it has end with that; the new workers tell their visitors at once (quic_host_key).
local ffi = require "ffi"
local C, ngx = ffi.C, ngx

ffi.cdef [[
  int epoll_ctl(int epfd, int op, int fd, void *event);
  int getsockopt(int fd, int level, int name, void *value, unsigned int *size);
]]

-- Linux
local SOL_SOCKET, SO_TYPE, SO_REUSEPORT, SOCK_DGRAM, EPOLL_CTL_DEL = 1, 3, 15, 2, 2
-- Those a worker listens on, and its epoll, are of the first it has.
local first_fd, last_fd = 3, 4095

local M = {}

local value, size = ffi.new "int[1]", ffi.new "unsigned int[1]"
local function option(fd, name)
  size[0] = ffi.sizeof(value)
  return C.getsockopt(fd, SOL_SOCKET, name, value, size) == 0 and value[0] or nil
end

-- → how many sockets are read no more. Nothing else of nginx is UDP and shares its port: not its resolver.
function M.leave()
  local left = 0
  for fd = first_fd, last_fd do
    if option(fd, SO_TYPE) == SOCK_DGRAM and option(fd, SO_REUSEPORT) == 1 then
      for poll = first_fd, last_fd do
        -- of the others none is an epoll that knows it
        if C.epoll_ctl(poll, EPOLL_CTL_DEL, fd, nil) == 0 then
          left = left + 1
          break
        end
      end
    end
  end
  return left
end

-- nginx ends a timer before its time in a worker that is to end.
function M.start()
  ngx.timer.every(3600, function(premature)
    if not premature then return end
    local ok, left = pcall(M.leave)
    if not ok or left > 0 then ngx.log(ngx.NOTICE, "sockets of QUIC left to the next workers: ", left) end
  end)
end

return M
